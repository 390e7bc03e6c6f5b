"""The trees against means written out, and what they do where scores are missing or wrong."""

import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.vlc.suites.catalogue import COMP, I2T_RET, PUBLISHED, SUBTASKS, T2I_RET, TREES, ZS
from recompose.tracks.vlc.suites.means import Mean, Tree, aggregate, macro, micro, missing_leaves
from tests.errors import raises

pytestmark = pytest.mark.slow


ITEMS = {name: task.items for name, task in SUBTASKS.items() if task.items}


def published(form: str, place: int = 0) -> Mean:
    """A mean that a suite declares."""
    mean = PUBLISHED[form].MEANS[place]
    assert isinstance(mean, Mean)
    return mean


def weights(tree: Mean, items: dict[str, int] = ITEMS) -> dict[str, Fraction]:
    """What each leaf adds to a mean: its number where that leaf is 1 and all others are 0."""
    return {
        leaf: Fraction(
            aggregate({one: float(one == leaf) for one in tree.leaves}, items, trees=(tree,))[tree.name]
        ).limit_denominator(10**6)
        for leaf in tree.leaves
    }


def means(tree: Tree) -> list[Mean]:
    return [] if isinstance(tree, str) else [tree, *(one for part in tree.parts for one in means(part))]


def test_a_name_is_one_leaf_or_one_mean() -> None:
    by_name: dict[str, Mean] = {}
    for tree in TREES:
        for one in means(tree):
            assert by_name.setdefault(one.name, one) == one
            assert len(set(one.leaves)) == len(one.leaves)
    leaves = {leaf for one in by_name.values() for leaf in one.leaves}
    assert not leaves & {*by_name}


@pytest.mark.parametrize(
    "tree",
    [*map(published, ("aro", "crepe", "spec", "svo_probes", "whatsup")), ZS, I2T_RET, T2I_RET],
    ids=lambda one: one.name,
)
def test_plain_means_count_all_leaves_alike(tree: Mean) -> None:
    assert {*weights(tree).values()} == {Fraction(1, len(tree.leaves))}


def test_kubric_counts_as_one_of_five() -> None:
    expected = {f"eqben/{name}": Fraction(1, 5) for name in ("youcook2", "gebc", "ag", "sd")}
    expected |= {f"eqben/kubric_{name}": Fraction(1, 15) for name in ("loc", "cnt", "attr")}
    assert weights(published("eqben")) == expected


def test_valse_counts_seven_of_eleven_files() -> None:
    expected = {f"valse/{name}": Fraction(1, 7) for name in ("existence", "plurals", "relations", "foil-it")}
    expected |= {f"valse/counting-{name}": Fraction(1, 21) for name in ("hard", "small-quant", "adversarial")}
    pairs = ("action-replacement", "actant-swap", "coreference-standard", "coreference-hard")
    assert weights(published("valse")) == expected | {f"valse/{name}": Fraction(1, 14) for name in pairs}


def test_vl_checklist_counts_three_kinds_alike_and_their_leaves_and_corpora_in_turn() -> None:
    expected = {"vl_checklist/relation_spatial": Fraction(1, 6)}
    expected |= {f"vl_checklist/relation_action/{corpus}": Fraction(1, 18) for corpus in ("hake", "swig", "vg")}
    for kind in ("action", "color", "material", "size", "state"):
        expected |= {f"vl_checklist/attribute_{kind}/{corpus}": Fraction(1, 30) for corpus in ("vaw", "vg")}
    for kind in ("location_center", "location_mid", "location_margin", "size_large", "size_medium", "size_small"):
        leaf = f"vl_checklist/object_{kind}"
        expected[f"{leaf}/hake"] = Fraction(1, 54)
        expected |= {f"{leaf}/swig_{role}": Fraction(1, 216) for role in ("agent", "destination", "item", "tool")}
        expected |= {f"{leaf}/vg_{side}": Fraction(1, 108) for side in ("obj", "subj")}
    assert weights(published("vl_checklist")) == expected


def test_sugarcrepe_has_both_aggregations() -> None:
    kinds = {
        "replace": {"obj": 1652, "att": 788, "rel": 1406},
        "swap": {"obj": 245, "att": 666},
        "add": {"obj": 2062, "att": 692},
    }
    total = sum(sum(kind.values()) for kind in kinds.values())
    by_type, by_item = weights(published("sugarcrepe")), weights(published("sugarcrepe", 1))
    for name, kind in kinds.items():
        for part, items in kind.items():
            assert by_type[f"sugarcrepe/{name}_{part}"] == Fraction(items, 3 * sum(kind.values()))
            assert by_item[f"sugarcrepe/{name}_{part}"] == Fraction(items, total)
    scores = {leaf: float(leaf.startswith("sugarcrepe/swap")) for leaf in published("sugarcrepe").leaves}
    numbers = aggregate(scores, ITEMS, TREES)
    assert numbers["sugarcrepe"] == pytest.approx(1 / 3)
    assert numbers["sugarcrepe/micro"] == pytest.approx(911 / 7511)
    assert (numbers["sugarcrepe/swap"], numbers["sugarcrepe/add"]) == (1, 0)


def test_bivlc_is_over_all_items_as_its_released_code_prints_it() -> None:
    """CLIP ViT-B/32's I2T, T2I and group scores, from results/BiVLC_ViT-B-32.csv of IMirandaM/BiVLC at 84f0d17."""
    types = {"replace": (82.09, 60.36, 57.27), "swap": (46.52, 16.16, 13.65), "add": (70.32, 44.63, 39.58)}
    ends = ("/text", "/image", "")
    scores = {f"bivlc/{kind}{end}": score for kind, row in types.items() for end, score in zip(ends, row, strict=True)}
    items = {name: ITEMS[name.removesuffix("/text").removesuffix("/image")] for name in scores}
    numbers = aggregate(scores, items, TREES)
    printed = {"bivlc/text": 75.83, "bivlc/image": 52.40, "bivlc": 49.06}
    assert {name: round(numbers[name], 2) for name in printed} == pytest.approx(printed, abs=0.011)
    assert sum(ITEMS[leaf] for leaf in published("bivlc").leaves) == 2933


def test_micro_counts_the_items_that_were_scored() -> None:
    tree = micro("all", macro("pair", "a", "b"), "c")
    scores = {"a": 1.0, "b": 0.0, "c": 0.0}
    assert aggregate(scores, {"a": 1, "b": 2, "c": 3}, (tree,))["all"] == 0.25
    assert aggregate({"pair": 1.0, "c": 0.0}, {"pair": 3, "c": 1}, (tree,))["all"] == 0.75


@given(st.data())
def test_a_mean_has_a_number_where_none_of_its_leaves_is_missing(data: st.DataObject) -> None:
    scores = {leaf: 1.0 for leaf in COMP.leaves if data.draw(st.booleans() | st.just(True))}
    numbers = aggregate(scores, ITEMS, TREES)
    for one in means(COMP):
        absent = tuple(leaf for leaf in one.leaves if leaf not in scores)
        assert missing_leaves(one, scores) == absent
        assert (one.name in numbers) == (not absent)


def test_a_suite_s_score_stands_for_its_sub_tasks() -> None:
    printed = {part.name if isinstance(part, Mean) else part: float(place) for place, part in enumerate(COMP.parts)}
    assert aggregate(printed, None, TREES)["comp"] == 5.0
    assert missing_leaves(COMP, printed) == ()
    assert missing_leaves(COMP, {"comp": 1.0}) == ()
    without = {name: score for name, score in printed.items() if name not in {"spec", "winoground"}}
    assert missing_leaves(COMP, without) == (*published("spec").leaves, "winoground")
    assert "comp" not in aggregate(without, None, TREES)
    assert aggregate(without, None, TREES) == without


@pytest.mark.parametrize(
    ("scores", "items", "code", "place"),
    [
        ({"aro/vg_relations": 1.0}, {}, "unknown-name", "aro/vg_relations"),
        ({"aro/vg_relation": math.nan}, {}, "wrong-number", "aro/vg_relation"),
        ({"aro": 1.0, "aro/vg_relation": 1.0}, {}, "two-scores", "aro"),
        (
            {"imagecode/video": 1.0, "imagecode/static": 1.0},
            {"imagecode/video": 3},
            "no-items",
            "imagecode/static",
        ),
    ],
)
def test_bad_scores_are_named(scores: Any, items: Any, code: str, place: str) -> None:
    with raises(ArgumentError, code, place):
        aggregate(scores, items, TREES)
