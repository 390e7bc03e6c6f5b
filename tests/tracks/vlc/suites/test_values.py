"""Metrics of scores against plain loops, and the means that suites ask for."""

import math
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import sugarcrepe_pp
from recompose.tracks.vlc.data.index import write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import PUBLISHED, RETRIEVAL, SUBTASKS, TREES
from recompose.tracks.vlc.suites.scores import FILE, LEFT_OUT, write_scores
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool, Task, Triplets
from recompose.tracks.vlc.suites.values import check, counts, metrics, read_metrics, trees
from tests.errors import raises
from tests.tracks.vlc.tiny_suites import tiny_suites

SEEDS = st.integers(0, 2**32 - 1)
TEXTS = tuple(f"text {number}" for number in range(40))
IMAGES = tuple(Picture(f"{number}.png") for number in range(40))


def suite(name: str, **tasks: Task) -> Suite:
    return Suite(name, IMAGES, TEXTS, {task.replace("__", "/"): each for task, each in tasks.items()})


def choices(rng: np.random.Generator, items: int, width: int, groups: tuple[str, ...] | None = None) -> Choices:
    offered = rng.integers(0, 40, (items, width))
    true = rng.integers(0, width, items)
    return Choices("i2t", rng.integers(0, 40, items), offered, true, groups)


def coarse(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Scores of which many are equal."""
    return rng.integers(0, 4, shape).astype(np.float32)


def is_right(row: np.ndarray, true: int, ties: str) -> bool:
    others = [(score, place) for place, score in enumerate(row) if place != true and not math.isnan(score)]
    if ties == "strict":
        return all(row[true] > score for score, _ in others)
    if ties == "lenient":
        return all(row[true] >= score for score, _ in others)
    return all(row[true] > score or (row[true] == score and true < place) for score, place in others)


@given(SEEDS, st.sampled_from(["sugarcrepe/swap_obj", "aro/coco_order", "spec/i2t/count", "whatsup/a"]))
def test_choices_are_told_by_the_rule_of_their_suite(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    task, scores = choices(rng, 12, 4), coarse(rng, 12, 4)
    left_out = rng.random(12) < 0.2
    left_out[0] = False
    scores[left_out] = np.nan
    right = [
        is_right(row, true, SUBTASKS[name].ties)
        for row, true, out in zip(scores, task.true, left_out, strict=True)
        if not out
    ]
    asked = [Suite(name.split("/")[0], IMAGES, TEXTS, {name: task})]
    assert metrics(asked, {name: scores})[f"test/{name}"] == pytest.approx(sum(right) / len(right))
    assert counts(asked, {name: scores})[name] == (len(right), left_out.sum())


def test_candidates_that_are_absent_are_not_looked_at() -> None:
    task = Choices("i2t", np.array([0, 1]), np.array([[0, 1, ABSENT], [0, 1, 2]]), np.array([0, 1]))
    scores = np.array([[0.2, 0.1, np.nan], [0.3, 0.2, 0.1]], dtype=np.float32)
    assert metrics([suite("crepe", crepe__atom=task)], {"crepe/atom": scores})["test/crepe/atom"] == 0.5


@given(SEEDS, st.sampled_from(["aro/vg_relation", "aro/vg_attribution"]))
def test_aro_is_a_mean_over_groups_that_are_large_enough(seed: int, name: str) -> None:
    rng = np.random.default_rng(seed)
    sizes = {"on": 27, "under": 25, "behind": 24, "near": 3}
    groups = tuple(group for group, size in sizes.items() for _ in range(size))
    task, scores = choices(rng, len(groups), 2, groups), coarse(rng, len(groups), 2)
    scores[[0, 30]] = np.nan  # each of a group that is large with them
    shares = defaultdict(list)
    for row, true, group in zip(scores, task.true, groups, strict=True):
        if not np.isnan(row).any():
            shares[group].append(is_right(row, true, "strict"))
    least = SUBTASKS[name].group_minimum
    assert least in (1, 25)
    counted = [shares[group] for group, size in sizes.items() if size >= least]
    expected = sum(sum(share) / len(share) for share in counted) / len(counted)
    asked = [Suite("aro", IMAGES, TEXTS, {name: task})]
    assert metrics(asked, {name: scores})[f"test/{name}"] == pytest.approx(expected)


@given(SEEDS)
def test_crepe_is_told_for_each_number_of_atoms(seed: int) -> None:
    rng = np.random.default_rng(seed)
    groups = ("4",) * 3 + ("12",) * 5
    task, scores = choices(rng, 8, 3, groups), coarse(rng, 8, 3)
    scores[1] = np.nan
    right = [is_right(row, true, SUBTASKS["crepe/swap"].ties) for row, true in zip(scores, task.true, strict=True)]
    values = metrics([suite("crepe", crepe__swap=task)], {"crepe/swap": scores})
    assert values == {
        "test/crepe/swap": pytest.approx((sum(right) - right[1]) / 7),
        "test/crepe/swap/4": (right[0] + right[2]) / 2,
        "test/crepe/swap/12": sum(right[3:]) / 5,
    }


@given(SEEDS)
def test_bivlc_counts_the_items_of_its_types_in_each_sense(seed: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = {"replace": 5, "swap": 2, "add": 1}
    scores = {f"bivlc/{kind}": coarse(rng, size, 2, 2) for kind, size in sizes.items()}
    scores["bivlc/replace"][0] = np.nan
    empty = {size: Groups(np.zeros((size, 2), dtype=int), np.zeros((size, 2), dtype=int)) for size in sizes.values()}
    values = metrics([suite("bivlc", **{f"bivlc__{kind}": empty[size] for kind, size in sizes.items()})], scores)
    squares = [square for array in scores.values() for square in array if not np.isnan(square).any()]
    text = [square[0, 0] > square[0, 1] and square[1, 1] > square[1, 0] for square in squares]
    image = [square[0, 0] > square[1, 0] and square[1, 1] > square[0, 1] for square in squares]
    assert values["test/bivlc/text"] == pytest.approx(sum(text) / 7)
    assert values["test/bivlc/image"] == pytest.approx(sum(image) / 7)
    assert values["test/bivlc"] == pytest.approx(sum(map(min, text, image)) / 7)


def test_sugarcrepe_pp_asks_for_both_captions_and_means_are_over_its_sub_tasks() -> None:
    rows = [[2, 2, 1, 3, 0, 0], [2, 1, 1, 3, 3, 0], [0, 2, 1, 3, 0, 0], [np.nan] * 6]
    scores = {leaf: np.array(rows, dtype=np.float32) for leaf in sugarcrepe_pp.MEAN.leaves}
    scores["sugarcrepe_pp/swap_obj"] = scores["sugarcrepe_pp/swap_obj"][[1]]
    tasks = {
        leaf.replace("/", "__"): Triplets(np.zeros(len(array), dtype=int), np.zeros((len(array), 3), dtype=int))
        for leaf, array in scores.items()
    }
    asked = suite("sugarcrepe_pp", **tasks)
    values = metrics([asked], scores)
    senses = [values[f"test/sugarcrepe_pp/swap_att{end}"] for end in ("", "/first", "/second", "/text_only")]
    assert senses == pytest.approx([1 / 3, 2 / 3, 2 / 3, 2 / 3])
    assert values["test/sugarcrepe_pp"] == pytest.approx(4 / 15)
    assert values["test/sugarcrepe_pp/text_only"] == pytest.approx(8 / 15)
    assert counts([asked], scores)["sugarcrepe_pp/swap_att"] == (3, 1)


@given(SEEDS)
def test_groups_are_told_in_three_senses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = coarse(rng, 9, 2, 2)  # [items, images, captions]
    text = [square[0, 0] > square[0, 1] and square[1, 1] > square[1, 0] for square in scores]
    image = [square[0, 0] > square[1, 0] and square[1, 1] > square[0, 1] for square in scores]
    task = Groups(np.zeros((9, 2), dtype=int), np.zeros((9, 2), dtype=int))
    result = metrics([suite("winoground", winoground=task)], {"winoground": scores})
    assert {name: number for name, number in result.items() if not name.startswith("test/cae/")} == {
        "test/winoground/text": pytest.approx(np.mean(text)),
        "test/winoground/image": pytest.approx(np.mean(image)),
        "test/winoground": pytest.approx(np.mean(np.logical_and(text, image))),
    }


@given(SEEDS)
def test_retrieval_is_told_both_ways_at_three_depths(seed: int) -> None:
    rng = np.random.default_rng(seed)
    ranks = {"coco/i2t": rng.integers(0, 15, 8), "coco/t2i": rng.integers(0, 15, 20)}
    ranks["coco/t2i"][3] = LEFT_OUT
    task = Pool(np.arange(8), np.arange(20), np.arange(20) % 8)
    result = metrics([suite("coco", coco=task)], ranks)
    for name, hits in ranks.items():
        stored = [hit for hit in hits if hit != LEFT_OUT]
        for k in (1, 5, 10):
            assert result[f"test/{name}/r{k}"] == pytest.approx(sum(hit < k for hit in stored) / len(stored))
        assert result[f"test/{name}"] == result[f"test/{name}/r1"]
    assert counts([suite("coco", coco=task)], ranks) == {"coco/i2t": (8, 0), "coco/t2i": (19, 1)}
    assert "test/i2t_ret" not in result


def labelled(labels: np.ndarray, classes: int) -> Classes:
    return Classes(np.arange(len(labels)), labels, tuple((each,) for each in range(classes)), tuple("abc"[:classes]))


def test_classification_is_measured_as_elevater_does() -> None:
    scores = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.4, 0.6], [np.nan, np.nan]], dtype=np.float32)
    labels = np.array([0, 0, 0, 1, 1])
    labels[1] = 1
    names = ("mnist", "caltech101", "hateful-memes", "drawn-colours")
    asked = [Suite("elevater", IMAGES, TEXTS, {f"elevater/{name}": labelled(labels, 2) for name in names})]
    result = metrics(asked, {f"elevater/{name}": scores for name in names})
    assert result["test/elevater/mnist"] == result["test/elevater/drawn-colours"] == 0.75
    assert result["test/elevater/caltech101"] == pytest.approx((2 / 2 + 1 / 2) / 2)
    assert result["test/elevater/hateful-memes"] == 0.75  # of four couples one stands in the wrong order
    many = np.array([[True, False], [False, True], [True, True], [False, True], [True, False]])
    asked = [Suite("elevater", IMAGES, TEXTS, {"elevater/voc2007classification": labelled(many, 2)})]
    result = metrics(asked, {"elevater/voc2007classification": scores})
    assert 0 < result["test/elevater/voc2007classification"] <= 1


def test_zs_is_over_the_published_sets_or_over_those_that_were_drawn() -> None:
    labels, scores = np.array([0, 1]), np.array([[0.9, 0.1], [0.8, 0.2]], dtype=np.float32)

    def of(*names: str) -> dict[str, float]:
        tasks: dict[str, Task] = {f"elevater/{name}": labelled(labels, 2) for name in names}
        return metrics([Suite("elevater", IMAGES, TEXTS, tasks)], dict.fromkeys(tasks, scores))

    assert "test/zs" not in of("caltech101", "cifar10", "cifar100")
    binary = [
        task.name.removeprefix("elevater/") for task in PUBLISHED["elevater"].SUBTASKS if task.metric == "accuracy"
    ]
    assert of(*binary, "drawn")["test/zs"] == 0.5
    assert of("drawn-colours", "drawn-shapes")["test/zs"] == 0.5
    assert trees(tiny_suites()) == TREES


def test_means_of_retrieval_are_over_the_published_sets_or_over_those_that_were_drawn() -> None:
    task = Pool(np.arange(2), np.arange(2), np.arange(2))

    def of(*names: str) -> dict[str, float]:
        tasks: dict[str, Task] = dict.fromkeys(names, task)
        ranks = {f"{name}/{way}": np.array([0, place]) for place, name in enumerate(names) for way in ("i2t", "t2i")}
        return metrics([Suite("retrieval", IMAGES, TEXTS, tasks)], ranks)

    assert of(*RETRIEVAL)["test/i2t_ret"] == pytest.approx((1 + 0.5 + 0.5) / 3)
    assert "test/i2t_ret" not in of("coco")
    assert of("drawn", "other")["test/t2i_ret"] == 0.75


def test_what_cannot_be_measured_is_told_before() -> None:
    rng = np.random.default_rng(0)
    good = choices(rng, 3, 2)
    check(tiny_suites())
    small = choices(rng, 3, 2, ("a", "a", "b"))
    for asked, code, place in (
        ([suite("sugarcrepe", sugarcrepe__swapobj=good)], "no-rule", "sugarcrepe/swapobj"),
        ([suite("crepe", crepe__atom=good), suite("other", crepe__atom=good)], "duplicate-name", "crepe/atom"),
        ([suite("crepe", crepe__atom=choices(rng, 0, 2))], "no-items", "crepe/atom"),
        ([suite("aro", aro__vg_relation=good)], "no-groups", "aro/vg_relation"),
        ([suite("aro", aro__vg_attribution=small)], "small-groups", "aro/vg_attribution"),
    ):
        with raises(DataError, code, place):
            check(asked)
    with raises(DataError, "wrong-scores", "sugarcrepe/swap_obj"):
        metrics(
            [suite("sugarcrepe", sugarcrepe__swap_obj=good)],
            {"sugarcrepe/swap_obj": np.array([[np.inf, 1]] + [[0, 1]] * 2)},
        )
    with raises(DataError, "wrong-scores", "sugarcrepe/swap_obj"):
        metrics([suite("sugarcrepe", sugarcrepe__swap_obj=good)], {"sugarcrepe/swap_obj": np.zeros((2, 2))})


def test_an_evaluation_of_the_workflow_is_measured_from_its_folders(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    asked = [suite("crepe", crepe__atom=choices(rng, 4, 3)), suite("comvg", comvg=choices(rng, 5, 2))]
    scores = {"crepe/atom": coarse(rng, 4, 3), "comvg": coarse(rng, 5, 2)}
    needs = {"backbone": tmp_path / "backbone"}
    for each in asked:
        needs[f"suites-{each.name}"] = tmp_path / each.name
        write_suites([each], tmp_path / each.name)
    write_scores(scores, tmp_path / "evaluation" / FILE)
    assert read_metrics(needs, tmp_path / "evaluation") == metrics(asked, scores)
