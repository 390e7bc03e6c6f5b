"""The trees against the tables that vl_compo and FSC-CLIP released: a few rows, or all in the folder `reported` beside
the one named by RECOMPOSE_REAL_DATA.

What agrees: all 21 columns of vl_compo's aggregates, in all 202 rows, to the eight decimals that are printed; Comp of
FSC-CLIP's 12 models, from their suites, to 1e-12. What cannot be computed: the 11 suites, ZS and I2T and T2I Ret of
FSC-CLIP's table, which prints none of their sub-tasks. vl_compo's Comp is over twelve suites, with ColorSwap and
MMVP-VLM and without SPEC, and its retrieval over COCO and Flickr30k.

Two models are named alike but for their family, and one (ALIP) is of another family in each table.
"""

import csv
import os
from pathlib import Path

import pytest

from recompose.tracks.vlc.suites.catalogue import COMP, PUBLISHED, SUBTASKS, ZS
from recompose.tracks.vlc.suites.catalogue import TREES as ALL_TREES
from recompose.tracks.vlc.suites.subtasks import aggregate, macro

REPORTED = Path(os.environ.get("RECOMPOSE_REAL_DATA", "")).parent / "reported"
if not (REPORTED / "vl_compo_individual_results.csv").exists():
    REPORTED = Path(__file__).with_name("released")  # a few of their rows

Model = tuple[str, str, str]  # architecture, pretraining, family
PRINTED = 0.5e-8 + 1e-11  # eight decimals, and rounding
FORMS = (
    *("aro", "colorswap", "crepe", "eqben", "imagecode", "sugarcrepe"),
    *("svo_probes", "valse", "vl_checklist", "whatsup", "winoground"),
)
SUITES = tuple(PUBLISHED[form].MEANS[0] for form in FORMS)
ITEMS = {name: task.items for name, task in SUBTASKS.items() if task.items}
TREES = (
    ZS,
    macro("i2t_avg", "coco/i2t", "flickr30k/i2t"),
    macro("t2i_avg", "coco/t2i", "flickr30k/t2i"),
)
RENAMED = {
    "aro/vg_attribute": "aro/vg_attribution",
    "imagecode/videos": "imagecode/video",
    "whatsup/whatsup_a": "whatsup/a",
    "whatsup/whatsup_b": "whatsup/b",
    "winoground/group": "winoground",
    "colorswap/group": "colorswap",
}
AGGREGATES = {  # the columns of the second table that have another name here
    "coco_i2t": "coco/i2t",
    "coco_t2i": "coco/t2i",
    "flickr_i2t": "flickr30k/i2t",
    "flickr_t2i": "flickr30k/t2i",
    "imagenet": "elevater/imagenet-1k",
    "21_tasks_avg": "zs",
}


def rows(name: str) -> list[dict[str, str]]:
    with (REPORTED / name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def model(row: dict[str, str]) -> Model:
    return row["arch"], row["pretrained"], "ALIP" if row["arch"] == "ALIP" else row["family"]


def sub_task(column: str) -> str | None:
    """The name of a column's sub-task; None of those beside a sub-task's number: text, image, R@5, R@10."""
    suite, *path = column.lower().replace("coco_karpathy", "coco").replace("elevator", "elevater").split("::")
    if path[-1] in {"text", "image"} or path[-1].endswith(("r@5", "r@10")):
        return None
    name = "/".join([suite, *path]).replace("/eqben", "/").removesuffix("/r@1")
    return RENAMED.get(name, name.removesuffix("/group"))


def test_all_aggregates_follow_from_the_sub_tasks() -> None:
    scores: dict[Model, dict[str, float]] = {}
    for row in rows("vl_compo_individual_results.csv"):
        named = [(sub_task(column), float(row[column])) for column in row if "::" in column]
        scores[model(row)] = {name: score for name, score in named if name}
    mmvp_vlm = macro("mmvp_vlm", *(name for name, _ in named if name and name.startswith("mmvp_vlm/")))
    trees = (macro("comp_avg", mmvp_vlm, *SUITES), *TREES)
    assert scores
    for row in rows("vl_compo_results.csv"):
        numbers = aggregate(scores.pop(model(row)), ITEMS, trees)
        columns = [column for column in row if column not in {"", "arch", "pretrained", "family"}]
        assert len(columns) == 21
        for column in columns:
            number = numbers[AGGREGATES.get(column, column)]
            assert abs(number - float(row[column])) <= PRINTED, (model(row), column)
    assert not scores


def test_comp_follows_from_the_suites() -> None:
    released = rows("fsc_clip_released_results.csv")
    for row in released:
        names = [part if isinstance(part, str) else part.name for part in COMP.parts]
        suites = {name: float(row[name]) for name in names}
        assert aggregate(suites, None, ALL_TREES)["comp"] == pytest.approx(float(row["Comp"]), abs=1e-12)
    assert len(released) == 12
