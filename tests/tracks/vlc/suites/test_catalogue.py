"""The table of suites and its trees against means written out, and what names and layouts say."""

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import ArgumentError, DataError
from recompose.papers.declaration import load_paper
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites import catalogue
from recompose.tracks.vlc.suites.judges import metric_names
from recompose.tracks.vlc.suites.subtasks import Mean, Tree, aggregate, macro, micro, names_in
from recompose.tracks.vlc.tables import benchmarks, categories
from tests.errors import raises
from tests.tables.fakes import Fake


def leaves(tree: Mean | str) -> tuple[str, ...]:
    return tree.leaves if isinstance(tree, Mean) else (tree,)


@pytest.mark.parametrize("form", catalogue.FORMS)
def test_a_suite_declares_its_sub_tasks_and_means_under_its_name(form: str) -> None:
    catalogue.check_form(form)
    module = catalogue.PUBLISHED[form]
    names = [name for tree in module.MEANS for name in names_in(tree)]
    assert len({task.name for task in module.SUBTASKS}) == len(module.SUBTASKS)
    assert all(task.suite == form for task in module.SUBTASKS)
    assert form == "elevater" or all(name.split("/")[0] == form for name in names)
    metrics = {metric for task in module.SUBTASKS for metric in metric_names(task)}
    assert {leaf for tree in module.MEANS for leaf in leaves(tree)} <= metrics


def test_every_sub_task_is_in_a_tree() -> None:
    inside = {leaf for tree in catalogue.TREES for leaf in leaves(tree)}
    assert all({*task.leaves} <= inside for task in catalogue.SUBTASKS.values())
    assert {*catalogue.DRAWN} < {*catalogue.FORMS} and {*catalogue.LIMITED} < {*catalogue.FORMS}


@pytest.mark.parametrize("name", catalogue.FORMS)
def test_a_format_knows_its_name_and_says_what_it_needs_in_one_line(name: str, tmp_path: Path) -> None:
    assert f"{name}/" in catalogue.layout_of(name)
    assert "mine/" in catalogue.layout_of(name, "mine") and "<suite>" not in catalogue.layout_of(name, "mine")
    with raises(DataError, "missing-file", tmp_path / name) as error:
        catalogue.read_suite(name, tmp_path)
    assert "\n" not in str(error.value)


def test_tables_of_benchmarks_and_of_methods_have_the_rows_of_their_papers_and_nothing_measured() -> None:
    fsc_clip, cae, results = load_paper("fsc-clip"), load_paper("clip-cae"), Fake({})
    cells = {(cell.row, cell.column): cell for cell in benchmarks(results, fsc_clip, "table-6")}  # type: ignore[arg-type]
    assert {row for row, _ in cells} == {row["row"] for row in fsc_clip.reported("table-6")}
    assert all(cell.text and not (cell.made_from or cell.n) for cell in cells.values())
    assert (cells["ARO", "sub-tasks"].text, cells["ARO", "items"].value) == ("4", 23_937 + 28_748 + 5_000 + 25_010)
    methods = {cell.row for cell in categories(results, cae, "table-13")}  # type: ignore[arg-type]
    assert {row["row"] for row in cae.reported("table-13")} == methods


def test_what_a_suite_lacks_is_said() -> None:
    suite = Suite("whatsup", (), (), dict.fromkeys(["whatsup/a", "whatsup/b", "whatsup/vg_qa_one"]))  # type: ignore[arg-type]
    assert catalogue.missing_subtasks(suite) == ["whatsup/coco_qa_one", "whatsup/coco_qa_two", "whatsup/vg_qa_two"]
    assert len(catalogue.missing_subtasks(Suite("elevater", (), (), {"elevater/mnist": None}))) == 20  # type: ignore[dict-item]
    assert catalogue.missing_subtasks(Suite("elevater", (), (), {"elevater/of-a-user": None})) == []  # type: ignore[dict-item]


ITEMS = {name: task.items for name, task in catalogue.SUBTASKS.items() if task.items}


def published(form: str, place: int = 0) -> Mean:
    """A mean that a suite declares."""
    mean = catalogue.PUBLISHED[form].MEANS[place]
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
    for tree in catalogue.TREES:
        for one in means(tree):
            assert by_name.setdefault(one.name, one) == one
            assert len(set(one.leaves)) == len(one.leaves)
    leaves = {leaf for one in by_name.values() for leaf in one.leaves}
    assert not leaves & {*by_name}


def test_the_mean_of_spec_counts_all_leaves_alike() -> None:
    """As other plain means do, of which there are released numbers."""
    assert {*weights(published("spec")).values()} == {Fraction(1, len(published("spec").leaves))}


def test_sugarcrepe_has_both_aggregations() -> None:
    items = {leaf: ITEMS[leaf] for leaf in published("sugarcrepe").leaves}
    by_type, by_item = weights(published("sugarcrepe")), weights(published("sugarcrepe", 1))
    for kind in ("replace", "swap", "add"):
        own = {leaf: count for leaf, count in items.items() if leaf.startswith(f"sugarcrepe/{kind}_")}
        for leaf, count in own.items():
            assert by_type[leaf] == Fraction(count, 3 * sum(own.values()))
            assert by_item[leaf] == Fraction(count, sum(items.values()))


def test_bivlc_is_over_all_items_as_its_released_code_prints_it() -> None:
    """CLIP ViT-B/32's I2T, T2I and group scores, from results/BiVLC_ViT-B-32.csv of IMirandaM/BiVLC at 84f0d17."""
    types = {"replace": (82.09, 60.36, 57.27), "swap": (46.52, 16.16, 13.65), "add": (70.32, 44.63, 39.58)}
    ends = ("/text", "/image", "")
    scores = {f"bivlc/{kind}{end}": score for kind, row in types.items() for end, score in zip(ends, row, strict=True)}
    items = {name: ITEMS[name.removesuffix("/text").removesuffix("/image")] for name in scores}
    numbers = aggregate(scores, items, catalogue.TREES)
    printed = {"bivlc/text": 75.83, "bivlc/image": 52.40, "bivlc": 49.06}
    assert {name: round(numbers[name], 2) for name in printed} == pytest.approx(printed, abs=0.011)


def test_micro_counts_the_items_that_were_scored() -> None:
    tree = micro("all", macro("pair", "a", "b"), "c")
    scores = {"a": 1.0, "b": 0.0, "c": 0.0}
    assert aggregate(scores, {"a": 1, "b": 2, "c": 3}, (tree,))["all"] == 0.25
    assert aggregate({"pair": 1.0, "c": 0.0}, {"pair": 3, "c": 1}, (tree,))["all"] == 0.75


@pytest.mark.slow
@given(st.data())
def test_a_mean_has_a_number_where_none_of_its_leaves_is_missing(data: st.DataObject) -> None:
    scores = {leaf: 1.0 for leaf in catalogue.COMP.leaves if data.draw(st.booleans() | st.just(True))}
    numbers = aggregate(scores, ITEMS, catalogue.TREES)
    for one in means(catalogue.COMP):
        assert (one.name in numbers) == ({*one.leaves} <= {*scores})


def test_a_suite_s_score_stands_for_its_sub_tasks() -> None:
    printed = {
        part.name if isinstance(part, Mean) else part: float(place) for place, part in enumerate(catalogue.COMP.parts)
    }
    assert aggregate(printed, None, catalogue.TREES)["comp"] == 5.0
    without = {name: score for name, score in printed.items() if name not in {"spec", "winoground"}}
    assert "comp" not in aggregate(without, None, catalogue.TREES)
    assert aggregate(without, None, catalogue.TREES) == without


@pytest.mark.parametrize(
    ("scores", "items", "code", "place"),
    [
        ({"aro/vg_relations": 1.0}, {}, "unknown-name", "aro/vg_relations"),
        ({"aro/vg_relation": math.nan}, {}, "wrong-number", "aro/vg_relation"),
        ({"aro": 1.0, "aro/vg_relation": 1.0}, {}, "two-scores", "aro"),
        ({"imagecode/video": 1.0, "imagecode/static": 1.0}, {"imagecode/video": 3}, "no-items", "imagecode/static"),
    ],
)
def test_bad_scores_are_named(scores: Any, items: Any, code: str, place: str) -> None:
    with raises(ArgumentError, code, place):
        aggregate(scores, items, catalogue.TREES)
