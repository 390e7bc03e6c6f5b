"""The table of suites against the trees, and against real annotation files in the folder RECOMPOSE_REAL_DATA names."""

import csv
import json
import os
from pathlib import Path

import pytest
import yaml

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import vl_checklist
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import (
    DRAWN,
    FORMS,
    LIMITED,
    PUBLISHED,
    SUBTASKS,
    TREES,
    check_form,
    layout_of,
    missing_subtasks,
    present_suites,
    read_suite,
)
from recompose.tracks.vlc.suites.means import Mean, names_in
from tests.errors import raises

ITEMS = {name: task.items for name, task in SUBTASKS.items() if task.items}


def leaves(tree: Mean | str) -> tuple[str, ...]:
    return tree.leaves if isinstance(tree, Mean) else (tree,)


@pytest.mark.parametrize("form", FORMS)
def test_a_suite_declares_its_sub_tasks_and_means_under_its_name(form: str) -> None:
    check_form(form)
    module = PUBLISHED[form]
    names = [name for tree in module.MEANS for name in names_in(tree)]
    assert len({task.name for task in module.SUBTASKS}) == len(module.SUBTASKS)
    assert all(task.suite == form for task in module.SUBTASKS)
    assert form == "elevater" or all(name.split("/")[0] == form for name in names)
    metrics = {metric for task in module.SUBTASKS for metric in task.metric_names()}
    assert {leaf for tree in module.MEANS for leaf in leaves(tree)} <= metrics


def test_every_sub_task_is_in_a_tree() -> None:
    inside = {leaf for tree in TREES for leaf in leaves(tree)}
    assert all({*task.leaves} <= inside for task in SUBTASKS.values())
    assert {*DRAWN} < {*FORMS} and {*LIMITED} < {*FORMS}


def test_sets_of_vl_checklist_that_are_short_have_a_count_of_their_own() -> None:
    short = {name for name in vl_checklist.MEAN.leaves if ITEMS[name] < vl_checklist.CAP}
    assert short == {f"vl_checklist/{name}" for name in vl_checklist.SHORT}


@pytest.mark.parametrize("name", FORMS)
def test_a_format_knows_its_name_and_says_what_it_needs_in_one_line(name: str, tmp_path: Path) -> None:
    assert f"{name}/" in layout_of(name)
    assert "mine/" in layout_of(name, "mine") and "<suite>" not in layout_of(name, "mine")
    with raises(DataError, "missing-file", tmp_path / name) as error:
        read_suite(name, tmp_path)
    assert "\n" not in str(error.value)


def test_suites_are_present_where_their_folders_are(tmp_path: Path) -> None:
    for name in ("winoground", "aro", "images", "unheard-of"):
        (tmp_path / name).mkdir()
    assert present_suites(tmp_path) == ["aro", "winoground"]
    assert present_suites(tmp_path / "nowhere") == []


def test_the_nearest_name_of_a_suite_is_said(tmp_path: Path) -> None:
    with raises(DataError, "unknown-suite", "SugarCreep") as error:
        read_suite("SugarCreep", tmp_path)
    assert "sugarcrepe" in str(error.value) and "aro" not in str(error.value)
    with raises(DataError, "unknown-suite", "x") as error:
        read_suite("x", tmp_path)
    assert all(form in str(error.value) for form in FORMS)


def test_what_a_suite_lacks_is_said() -> None:
    suite = Suite("whatsup", (), (), dict.fromkeys(["whatsup/a", "whatsup/b", "whatsup/vg_qa_one"]))  # type: ignore[arg-type]
    assert missing_subtasks(suite) == ["whatsup/coco_qa_one", "whatsup/coco_qa_two", "whatsup/vg_qa_two"]
    assert len(missing_subtasks(Suite("elevater", (), (), {"elevater/mnist": None}))) == 20  # type: ignore[dict-item]
    assert missing_subtasks(Suite("elevater", (), (), {"elevater/of-a-user": None})) == []  # type: ignore[dict-item]


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
    for task in PUBLISHED["elevater"].SUBTASKS:
        name = task.name.removeprefix("elevater/")
        settings = yaml.safe_load((folder / f"{name}.yaml").read_text())
        assert task.metric == settings["TEST"]["METRIC"]
        assert task.centre_crop == settings["TEST"].get("CENTER_CROP", settings["DATASET"].get("CENTER_CROP", True))
        assert task.items == data_sets[settings["DATASET"]["DATASET"]]["test"]["num_images"]
