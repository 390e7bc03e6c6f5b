"""The trees against all rows of the tables that vl_compo and FSC-CLIP released, in the folder `reported` beside the one
named by RECOMPOSE_REAL_DATA.

What agrees: all 21 columns of vl_compo's aggregates, in all 202 rows, to the eight decimals that are printed; Comp of
FSC-CLIP's 12 models, from their suites, to 1e-12. What cannot be computed: the 11 suites, ZS and I2T and T2I Ret of
FSC-CLIP's table, which prints none of their sub-tasks. vl_compo's Comp is over twelve suites, with ColorSwap and
MMVP-VLM and without SPEC, and its retrieval over COCO and Flickr30k.

Two models are named alike but for their family, and one (ALIP) is of another family in each table.
"""

import csv
import math
import os
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from recompose.tracks.vlc.suites.aggregation import (
    ARO,
    COLORSWAP,
    COMP,
    CREPE,
    EQBEN,
    IMAGECODE,
    SUGARCREPE,
    SVO_PROBES,
    VALSE,
    VL_CHECKLIST,
    WHATSUP,
    WINOGROUND,
    ZS,
    Mean,
    Tree,
    aggregate,
    macro,
)
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, ITEMS, RETRIEVALS, SUBTASKS

EQBEN_CAP = 20_000  # items of a sub-task that FSC-CLIP scored at most; vl_compo's tables are of all, but for one model
if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip(
        "RECOMPOSE_REAL_DATA names no folder, and so none of released tables beside it", allow_module_level=True
    )
REPORTED = Path(os.environ["RECOMPOSE_REAL_DATA"]).parent / "reported"
if not (REPORTED / "vl_compo_individual_results.csv").exists():
    pytest.skip(f"there are no released tables in {REPORTED}", allow_module_level=True)

Model = tuple[str, str, str]  # architecture, pretraining, family
PRINTED = 0.5e-8 + 1e-11  # eight decimals, and rounding
MMVP_VLM = macro(
    "mmvp_vlm",
    *(
        f"mmvp_vlm/{kind}"
        for kind in (
            "orientation and direction",
            "presence of specific features",
            "state and condition",
            "quantity and count",
            "positional and relational context",
            "color and appearance",
            "structural characteristics",
            "texts",
            "viewpoint and perspective",
        )
    ),
)
SUITES = (
    *(ARO, COLORSWAP, CREPE, EQBEN, IMAGECODE, MMVP_VLM),
    *(SUGARCREPE, SVO_PROBES, VALSE, VL_CHECKLIST, WHATSUP, WINOGROUND),
)
TREES = (
    macro("comp_avg", *SUITES),
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


def sub_tasks() -> Iterator[tuple[Model, dict[str, float]]]:
    for row in rows("vl_compo_individual_results.csv"):
        named = [(sub_task(column), float(row[column])) for column in row if "::" in column]
        yield model(row), {name: score for name, score in named if name}


SCORES = dict(sub_tasks())


def is_whole(score: float, items: int) -> bool:
    """Whether a percentage is a whole number of items."""
    hits = score * items / 100
    return abs(hits - round(hits)) < 1e-6


def test_the_tables_are_of_the_same_models() -> None:
    assert len(SCORES) == len(rows("vl_compo_individual_results.csv")) == 202
    assert {model(row) for row in rows("vl_compo_results.csv")} == {*SCORES}


def test_all_aggregates_follow_from_the_sub_tasks() -> None:
    compared = 0
    for row in rows("vl_compo_results.csv"):
        numbers = aggregate(SCORES[model(row)], ITEMS, TREES)
        columns = [column for column in row if column not in {"", "arch", "pretrained", "family"}]
        assert len(columns) == 21
        for column in columns:
            number = numbers[AGGREGATES.get(column, column)]
            assert abs(number - float(row[column])) <= PRINTED, (model(row), column)
            compared += 1
    assert compared == 202 * 21


def test_comp_follows_from_the_suites() -> None:
    released = rows("fsc_clip_released_results.csv")
    for row in released:
        names = [part if isinstance(part, str) else part.name for part in COMP.parts]
        suites = {name: float(row[name]) for name in names}
        assert aggregate(suites)["comp"] == pytest.approx(float(row["Comp"]), abs=1e-12)
    assert len(released) == 12


OPENAI = ("ViT-B-32", "openai", "OpenCLIP")
OF_ALL_IMAGES = [
    name for name, task in CLASSIFICATIONS.items() if task.metric == "accuracy"
]  # the other metrics are no shares of images


def counts() -> Iterator[tuple[str, int]]:
    """How many items the table of suites says that a score is over."""
    yield from ((name, items) for name, items in ITEMS.items() if name in SCORES[OPENAI])
    yield from ((name, CLASSIFICATIONS[name].images) for name in OF_ALL_IMAGES)
    for dataset in RETRIEVALS.values():
        ways = {"i2t": dataset.images, "t2i": dataset.captions}
        yield from (
            (f"{dataset.name}/{way}", n) for way, n in ways.items() if f"{dataset.name}/{way}" in SCORES[OPENAI]
        )


COUNTS = dict(counts())


def others(name: str) -> list[Model]:
    """The models whose score is not over as many items as the table says."""
    return [model for model, scores in SCORES.items() if not is_whole(scores[name], COUNTS[name])]


def test_all_counted_sub_tasks_are_compared() -> None:
    assert len(COUNTS) == 4 + 3 + 7 + 2 + 7 + 3 + 11 + 1 + 6 + 2 + 15 + 4


def test_scores_are_whole_numbers_of_items() -> None:
    exact = [name for name in COUNTS if not others(name)]
    apart = ["aro/vg_relation", "aro/vg_attribution", "eqben/youcook2", "eqben/ag"]
    assert [name for name in COUNTS if name not in exact] == [*apart, *SVO_PROBES.leaves]


def test_relations_and_attributes_of_aro_are_no_shares_of_items() -> None:
    """They are means over groups, with all of them but for a few, or without a few: which, the tables do not say."""
    grouped = [name for name, one in SUBTASKS.items() if one.group_minimum]
    assert [len(others(name)) for name in grouped] == [202, 202]


def test_eqben_is_of_all_items_but_for_one_model() -> None:
    for name in ("eqben/youcook2", "eqben/ag"):
        assert others(name) == [OPENAI]
        assert is_whole(SCORES[OPENAI][name], EQBEN_CAP)


def test_svo_probes_is_of_other_images_for_nine_models() -> None:
    by_name = [others(name) for name in SVO_PROBES.leaves]
    assert by_name[0] == by_name[1] == by_name[2]
    assert len(by_name[0]) == 9 and OPENAI not in by_name[0]


def shares(tree: Tree) -> dict[str, Fraction]:
    """How much each leaf counts in a macro mean."""
    if isinstance(tree, str):
        return {tree: Fraction(1)}
    return {leaf: share / len(tree.parts) for part in tree.parts for leaf, share in shares(part).items()}


def checklist_leaves() -> list[Tree]:
    """The parts of VL-Checklist that have a column: leaves of its three kinds."""
    return [part for kind in VL_CHECKLIST.parts if isinstance(kind, Mean) for part in kind.parts]


@pytest.mark.parametrize("leaf", checklist_leaves(), ids=lambda leaf: leaf if isinstance(leaf, str) else leaf.name)
def test_vl_checklist_is_made_of_means_of_its_sets(leaf: Tree) -> None:
    """Scores are whole numbers of the least common denominator that the means and the sizes of the sets give, and not
    of that without any prime which a single set brings in, nor of all items together where that tells them apart.
    """
    denominator = math.lcm(*((share / ITEMS[name]).denominator for name, share in shares(leaf).items()))
    scores = [scores[leaf if isinstance(leaf, str) else leaf.name] for scores in SCORES.values()]

    def whole(unit: int) -> bool:
        hits = [Fraction(score) * unit / 100 for score in scores]
        return all(abs(one - round(one)) < 1e-2 for one in hits)

    assert whole(denominator)
    assert not any(whole(denominator // prime) for prime in (7, 11, 13, 17, 47, 53, 109) if denominator % prime == 0)
    pooled = sum(ITEMS[name] for name in shares(leaf))
    assert pooled % denominator == 0 or not whole(pooled)
