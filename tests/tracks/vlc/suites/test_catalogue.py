"""The table of suites against the trees, and against real annotation files in the folder RECOMPOSE_REAL_DATA names."""

import csv
import json
import os
from pathlib import Path

import pytest
import yaml

from recompose.tracks.vlc.suites.aggregation import (
    BIVLC,
    ELEVATER,
    I2T_RET,
    SUGARCREPE_PP,
    T2I_RET,
    TREES,
    VL_CHECKLIST,
    ZS,
    Mean,
)
from recompose.tracks.vlc.suites.catalogue import (
    CHECKLIST_CAP,
    CHECKLIST_SHORT,
    CLASSIFICATIONS,
    ITEMS,
    RETRIEVALS,
    SIMILARITIES,
    SUBTASKS,
)


def test_each_leaf_is_of_a_list_of_suites() -> None:
    leaves = {leaf for tree in TREES for leaf in (tree.leaves if isinstance(tree, Mean) else (tree,))}
    retrieval = {f"{name}/{way}" for name in RETRIEVALS for way in ("i2t", "t2i")}
    senses = {f"{leaf}/{sense}" for leaf in BIVLC.leaves for sense in ("text", "image")}
    senses |= {f"{leaf}/text_only" for leaf in SUGARCREPE_PP.leaves}
    assert leaves == {*SUBTASKS} | {*CLASSIFICATIONS} | retrieval | {*SIMILARITIES} | senses
    assert ZS.leaves == tuple(CLASSIFICATIONS)
    assert {*I2T_RET.leaves, *T2I_RET.leaves} == retrieval


def test_names_stand_once() -> None:
    assert all(name == subtask.name for name, subtask in SUBTASKS.items())
    assert [*ITEMS] == [name for name, subtask in SUBTASKS.items() if subtask.items]
    short = {name for name in VL_CHECKLIST.leaves if ITEMS[name] < CHECKLIST_CAP}
    assert short == {f"vl_checklist/{name}" for name in CHECKLIST_SHORT}


def test_ties_that_are_right_are_those_of_released_code() -> None:
    of_ties = {(task.suite, task.query, task.candidates, task.ties) for task in SUBTASKS.values()}
    assert {suite for suite, *_, ties in of_ties if ties == "first"} == {"spec"}
    lenient = {(suite, candidates) for suite, _, candidates, ties in of_ties if ties == "lenient"}
    assert lenient == {("aro", 5), ("crepe", None), ("whatsup", 4), ("whatsup", 2), ("clip_binding", 5)}
    assert not lenient & {(suite, candidates) for suite, _, candidates, ties in of_ties if ties == "strict"}
    grouped = {name: task.group_minimum for name, task in SUBTASKS.items() if task.group_minimum}
    assert grouped == {"aro/vg_relation": 1, "aro/vg_attribution": 25}


@pytest.fixture(scope="module")
def real() -> Path:
    if not os.environ.get("RECOMPOSE_REAL_DATA"):
        pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files")
    return Path(os.environ["RECOMPOSE_REAL_DATA"]) / "vlc"


def test_items_are_those_of_real_files(real: Path) -> None:
    def size(suite: str, name: str) -> int:
        items = json.loads((real / suite / f"{name}.json").read_text()).values()
        return len(items) if suite == "sugarcrepe" else sum(item["mturk"]["caption"] >= 2 for item in items)

    for suite in ("sugarcrepe", "valse"):
        names = [name.removeprefix(f"{suite}/") for name, subtask in SUBTASKS.items() if subtask.suite == suite]
        assert {name: size(suite, name) for name in names} == {name: ITEMS[f"{suite}/{name}"] for name in names}
    items = [
        "static" if "open-images" in folder else "video"
        for folder, captions in json.loads((real / "imagecode" / "valid_data.json").read_text()).items()
        for _ in captions
    ]
    assert {f"imagecode/{kind}": items.count(kind) for kind in ("video", "static")} == {
        name: ITEMS[name] for name in ITEMS if name.startswith("imagecode")
    }
    with (real / "ComVG.csv").open(newline="", encoding="utf-8") as file:
        assert len([*csv.DictReader(file)]) == ITEMS["comvg"]


def test_classifications_are_those_of_real_settings(real: Path) -> None:
    folder = real / "elevater" / "yaml"
    data_sets = {one["name"]: one for one in json.loads((folder / "vision_datasets.json").read_text())}
    for name in ELEVATER:
        task, settings = CLASSIFICATIONS[f"elevater/{name}"], yaml.safe_load((folder / f"{name}.yaml").read_text())
        assert task.metric == settings["TEST"]["METRIC"]
        assert task.centre_crop == settings["TEST"].get("CENTER_CROP", settings["DATASET"].get("CENTER_CROP", True))
        assert task.images == data_sets[settings["DATASET"]["DATASET"]]["test"]["num_images"]
