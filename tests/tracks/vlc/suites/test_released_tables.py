"""The trees against released tables, in the folder `released`: three of the 202 models of vl_compo, whose columns have
our names there, and the 12 of FSC-CLIP.

What agrees: all 21 columns of vl_compo's aggregates (in all 202 rows, when these were compared), to the eight decimals
that are printed; Comp of FSC-CLIP's models, from their suites, to 1e-12. What cannot be computed: the 11 suites, ZS and
I2T and T2I Ret of FSC-CLIP's table, which prints none of their sub-tasks. vl_compo's Comp is over twelve suites, with
ColorSwap and MMVP-VLM and without SPEC, and its retrieval over COCO and Flickr30k.
"""

import csv
from pathlib import Path

import pytest

from recompose.tracks.vlc.suites.catalogue import COMP, PUBLISHED, SUBTASKS, ZS
from recompose.tracks.vlc.suites.catalogue import TREES as ALL_TREES
from recompose.tracks.vlc.suites.subtasks import aggregate, macro

PRINTED = 0.5e-8 + 1e-11  # eight decimals, and rounding
FORMS = (
    *("aro", "colorswap", "crepe", "eqben", "imagecode", "sugarcrepe"),
    *("svo_probes", "valse", "vl_checklist", "whatsup", "winoground"),
)
SUITES = tuple(PUBLISHED[form].MEANS[0] for form in FORMS)
ITEMS = {name: task.items for name, task in SUBTASKS.items() if task.items}
TREES = (ZS, macro("i2t_avg", "coco/i2t", "flickr30k/i2t"), macro("t2i_avg", "coco/t2i", "flickr30k/t2i"))


def rows(name: str) -> list[dict[str, str]]:
    with Path(__file__).with_name("released").joinpath(name).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("model", ["DAC-SAM", "ViT-B-32", "ALIP"])
def test_all_aggregates_follow_from_the_sub_tasks(model: str) -> None:
    scores = {row["name"]: float(row[model]) for row in rows("vl_compo_sub_tasks.csv")}
    mmvp_vlm = macro("mmvp_vlm", *(name for name in scores if name.startswith("mmvp_vlm/")))
    numbers = aggregate(scores, ITEMS, (macro("comp_avg", mmvp_vlm, *SUITES), *TREES))
    aggregates = rows("vl_compo_aggregates.csv")
    assert len(aggregates) == 21
    for row in aggregates:
        assert abs(numbers[row["name"]] - float(row[model])) <= PRINTED, row["name"]


def test_comp_follows_from_the_suites() -> None:
    released = rows("fsc_clip.csv")
    for row in released:
        names = [part if isinstance(part, str) else part.name for part in COMP.parts]
        suites = {name: float(row[name]) for name in names}
        assert aggregate(suites, None, ALL_TREES)["comp"] == pytest.approx(float(row["Comp"]), abs=1e-12)
    assert len(released) == 12
