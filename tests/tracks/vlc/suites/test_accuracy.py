"""Choices, groups, retrieval and ELEVATER's metrics against plain loops."""

import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import pearsonr, spearmanr

from recompose.errors import ArgumentError
from recompose.tracks.vlc.suites import accuracy as metrics
from recompose.tracks.vlc.suites import ranks
from recompose.tracks.vlc.suites.ranks import Ties, first_hits
from tests.arrays import MAKERS
from tests.errors import raises

RULES: list[Ties] = ["strict", "lenient", "first"]
VALUES = st.integers(-3, 3)  # few of them, so that ties are frequent

Rows = list[list[int]]


@st.composite
def choices(draw: st.DrawFn) -> tuple[Rows, list[int], list[list[bool]]]:
    """Scores [items][candidates], true candidates, and which are present: the true one and another at least."""
    width = draw(st.integers(2, 5))
    count = draw(st.integers(1, 6))
    scores = [draw(st.lists(VALUES, min_size=width, max_size=width)) for _ in range(count)]
    true = [draw(st.integers(0, width - 1)) for _ in range(count)]
    present = []
    for own in true:
        row = draw(st.lists(st.booleans(), min_size=width, max_size=width))
        row[own] = row[(own + 1) % width] = True
        present.append(row)
    return scores, true, present


@st.composite
def retrievals(draw: st.DrawFn) -> tuple[Rows, list[int]]:
    """Scores [images][captions] and the image of each caption, in any order; each has one at least."""
    images = draw(st.integers(1, 5))
    image_of = draw(st.permutations([*range(images), *draw(st.lists(st.integers(0, images - 1), max_size=6))]))
    return [draw(st.lists(VALUES, min_size=len(image_of), max_size=len(image_of))) for _ in range(images)], image_of


def beats(score: int, place: int, own: int, own_place: int, ties: str) -> bool:
    """Whether a wrong candidate stands before a right one."""
    if score != own:
        return score > own
    return {"strict": True, "lenient": False, "first": place < own_place}[ties]


def right_by_loops(scores: Rows, true: list[int], present: list[list[bool]], ties: str) -> list[bool]:
    return [
        not any(
            beats(score, place, row[own], own, ties) for place, score in enumerate(row) if place != own and mask[place]
        )
        for row, own, mask in zip(scores, true, present, strict=True)
    ]


def hits_by_loops(scores: Rows, queries: list[int], candidates: list[int], ties: str) -> list[int]:
    """Of a sorted list of candidates, how many stand before the first right one."""
    hits = []
    for row, query in zip(scores, queries, strict=True):

        def order(place: int, row: list[int] = row, query: int = query) -> tuple[int, int, int]:
            right = candidates[place] == query
            among_equals = {"strict": int(right), "lenient": int(not right), "first": 0}[ties]
            return -row[place], among_equals, place

        ranking = sorted(range(len(row)), key=order)
        hits.append(next(rank for rank, place in enumerate(ranking) if candidates[place] == query))
    return hits


@given(choices(), st.sampled_from(RULES), st.sampled_from(list(MAKERS)))
def test_choices_are_those_of_loops(problem: tuple[Rows, list[int], list[list[bool]]], ties: Ties, maker: str) -> None:
    scores, true, present = problem
    assert metrics.right_choices(
        MAKERS[maker](scores), np.array(true), ties, np.array(present)
    ).tolist() == right_by_loops(scores, true, present, ties)


@given(st.lists(st.lists(st.lists(VALUES, min_size=3, max_size=3), min_size=3, max_size=3), min_size=1, max_size=4))
def test_groups_are_those_of_loops(scores: list[Rows]) -> None:
    for k in (2, 3):
        for ties in RULES:
            right = metrics.right_groups(np.array(scores)[:, :k, :k], ties)
            for item, table in enumerate(scores):  # table[caption][image]
                pairs = [(own, other) for own in range(k) for other in range(k) if own != other]
                text = not any(beats(table[c][i], c, table[i][i], i, ties) for i, c in pairs)
                image = not any(beats(table[c][i], i, table[c][c], c, ties) for c, i in pairs)
                assert (right.text[item], right.image[item], right.group[item]) == (text, image, text and image)


@given(st.lists(st.lists(VALUES, min_size=6, max_size=6), min_size=1), st.sampled_from(list(MAKERS)))
def test_a_triplet_is_the_four_comparisons_of_sugarcrepe_pp(scores: Rows, maker: str) -> None:
    right = metrics.right_triplets(MAKERS[maker](scores))
    for item, (p1, p2, negative, p1_p2, p1_negative, p2_negative) in enumerate(scores):
        assert right.first[item] == (p1 > negative)
        assert right.second[item] == (p2 > negative)
        assert right.both[item] == (p1 > negative and p2 > negative)
        assert right.text_only[item] == (p1_p2 > p1_negative and p1_p2 > p2_negative)


@given(retrievals(), st.sampled_from(RULES), st.sampled_from(list(MAKERS)))
def test_retrieval_is_that_of_sorted_lists(problem: tuple[Rows, list[int]], ties: Ties, maker: str) -> None:
    scores, image_of = problem
    images, columns = [*range(len(scores))], [[*column] for column in zip(*scores, strict=True)]
    to_text = first_hits(MAKERS[maker](scores), torch.tensor(images), torch.tensor(image_of), ties)
    to_image = first_hits(MAKERS[maker](columns), torch.tensor(image_of), torch.tensor(images), ties)
    assert to_text.tolist() == hits_by_loops(scores, images, image_of, ties)
    assert to_image.tolist() == hits_by_loops(columns, image_of, images, ties)
    for hits in (to_text, to_image):
        recalls = [metrics.recall_at(hits, k) for k in range(1, len(image_of) + 1)]
        assert recalls == sorted(recalls) and recalls[-1] == 1
        assert recalls[0] == float(Fraction(sum(hit == 0 for hit in hits.tolist()), len(hits)))


def test_large_sets_are_told_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    scores, images, image_of = rng.integers(0, 9, size=(37, 180)), np.arange(37), rng.permutation(np.arange(180) % 37)
    whole = first_hits(scores, images, image_of, "strict")
    monkeypatch.setattr(ranks, "BLOCK", 500)
    assert np.array_equal(first_hits(scores, images, image_of, "strict"), whole)


@given(st.lists(st.tuples(st.booleans(), st.sampled_from(["on", "under", "by"])), min_size=1, max_size=12))
def test_averages_are_those_of_loops(answers: list[tuple[bool, str]]) -> None:
    right, groups = np.array([one for one, _ in answers]), [group for _, group in answers]
    assert metrics.accuracy(right) == float(Fraction(sum(map(int, right)), len(right)))
    shares = []
    for group in sorted({*groups}):
        own = [one for one, name in answers if name == group]
        shares.append(Fraction(sum(own), len(own)))
    assert metrics.macro_accuracy(right, groups) == pytest.approx(float(sum(shares) / len(shares)))


def precision_by_loops(scores: list[int], labels: list[bool]) -> Fraction:
    """The mean of the best precision at each recall or beyond, over all thresholds, with 1 at recall 0."""
    points = [(Fraction(0), Fraction(1))]
    for threshold in {*scores}:
        labelled = [label for score, label in zip(scores, labels, strict=True) if score >= threshold]
        points.append((Fraction(sum(labelled), sum(labels)), Fraction(sum(labelled), len(labelled))))
    best = [max(p for recall, p in points if recall >= Fraction(level, 10)) for level in range(11)]
    return sum(best, Fraction(0)) / 11


@given(
    st.lists(st.lists(st.tuples(VALUES, st.booleans()), min_size=3, max_size=3), min_size=1, max_size=9),
    st.sampled_from(list(MAKERS)),
)
def test_average_precision_is_that_of_loops(images: list[list[tuple[int, bool]]], maker: str) -> None:
    scores = MAKERS[maker]([[score for score, _ in row] for row in images])
    labels = np.array([[label for _, label in row] for row in images])
    shown = [column for column in zip(*images, strict=True) if any(label for _, label in column)]
    if not shown:
        with raises(ArgumentError, place="labels"):
            metrics.mean_average_precision(scores, labels)
        return
    precisions = [precision_by_loops(*map(list, zip(*column, strict=True))) for column in shown]
    assert metrics.mean_average_precision(scores, labels) == pytest.approx(float(sum(precisions) / len(shown)))


@settings(max_examples=20)
@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40))
def test_average_precision_meets_every_tenth_of_recall_exactly(seed: int, shown: int, others: int) -> None:
    rng = np.random.default_rng(seed)
    scores, labels = rng.permutation(shown + others), np.arange(shown + others) < shown
    expected = float(precision_by_loops(scores.tolist(), labels.tolist()))
    assert metrics.mean_average_precision(scores[:, None], labels[:, None]) == pytest.approx(expected, abs=1e-12)


@given(st.lists(st.tuples(VALUES, st.integers(0, 1)), min_size=1, max_size=12), st.sampled_from(list(MAKERS)))
def test_the_area_is_a_share_of_couples(images: list[tuple[int, int]], maker: str) -> None:
    targets = [target for _, target in images]
    scores = MAKERS[maker]([[-score, score] for score, _ in images])
    couples = [
        Fraction(1) if score > other else Fraction(1, 2) if score == other else Fraction(0)
        for score, target in images
        for other, kind in images
        if target == 1 and kind == 0
    ]
    if not couples:
        with raises(ArgumentError, place="targets"):
            metrics.roc_auc(scores, np.array(targets))
        return
    assert metrics.roc_auc(scores, np.array(targets)) == pytest.approx(float(sum(couples) / len(couples)))


SCORES, TRUE, ALL = np.zeros((2, 3)), np.array([0, 2]), np.ones((2, 3), dtype=bool)
BROKEN = np.array([[0, 0, 0], [0, np.nan, 0]])


def test_scores_of_what_is_not_present_are_not_looked_at() -> None:
    assert metrics.right_choices(BROKEN, 0, "lenient", np.isfinite(BROKEN)).all()


@pytest.mark.parametrize(
    ("call", "place"),
    [
        *(
            (partial(metrics.right_choices, SCORES, true, "strict"), "indices")
            for true in (np.array([0, 3]), np.array([0, -1]), TRUE[:1], TRUE.astype(float))
        ),
        *(
            (partial(metrics.right_choices, SCORES, TRUE, "strict", present), "present")
            for present in (ALL.astype(int), ALL[:1], np.array([[True, False, False], [True] * 3]))
        ),
        (lambda: metrics.right_choices(SCORES[0], 0, "strict"), "scores"),
        (lambda: metrics.right_choices(SCORES, TRUE, "strict", ALL & (np.arange(3) < 2)), "present"),
        (lambda: metrics.right_choices(BROKEN, TRUE, "strict"), "scores"),
        (lambda: metrics.right_choices(SCORES, TRUE, "last"), "ties"),  # type: ignore[arg-type]
        (lambda: metrics.right_groups(np.zeros((2, 2, 3))), "scores"),
        (lambda: metrics.right_triplets(np.zeros((2, 5))), "scores"),
        (lambda: first_hits(SCORES, [0, 1], [0, 0, 0]), "candidates"),
        (lambda: first_hits(SCORES, [0, 1], [0, 1]), "scores"),
        (lambda: metrics.mean_average_precision(SCORES, ~ALL), "labels"),
        (lambda: metrics.mean_average_precision(SCORES, ALL.astype(int)), "labels"),
        (lambda: metrics.mean_average_precision(SCORES[:1], ALL), "scores"),
        (lambda: metrics.mean_average_precision(BROKEN, ALL), "scores"),
        (lambda: metrics.roc_auc(SCORES, TRUE), "scores"),
        (lambda: metrics.roc_auc(BROKEN[:, :2], np.array([0, 1])), "scores"),
        (lambda: metrics.spearman([0.5], [1.0]), "scores"),
        (lambda: metrics.pearson([0.5, np.nan], [1.0, 2.0]), "scores"),
        *(
            (partial(correlation, [0.5, 0.5], [1.0, 2.0]), "scores")
            for correlation in (metrics.spearman, metrics.pearson)
        ),
        (lambda: metrics.pearson([0.5, 0.1], [3.0, 3.0]), "grades"),
    ],
)
def test_bad_input_is_named(call: Callable[[], Any], place: str) -> None:
    with raises(ArgumentError, place=place):
        call()


@given(st.lists(st.tuples(VALUES, VALUES), min_size=2, max_size=30))
def test_correlations_are_those_of_scipy(pairs: list[tuple[int, int]]) -> None:
    scores, grades = (np.array(each, dtype=np.float32) for each in zip(*pairs, strict=True))
    assume(len({*scores.tolist()}) > 1 and len({*grades.tolist()}) > 1)
    wide = pearsonr(scores.astype(np.float64), grades.astype(np.float64)).statistic
    assert metrics.pearson(scores, grades) == pytest.approx(wide, abs=1e-9)
    assert metrics.spearman(scores, grades) == pytest.approx(spearmanr(scores, grades).statistic, abs=1e-9)


@pytest.mark.slow
def test_metrics_start_without_torch() -> None:
    modules = ", ".join(
        f"recompose.tracks.vlc.suites.{name}" for name in ("accuracy", "subtasks", "catalogue", "judges", "values")
    )
    code = f"import sys, {modules}; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
