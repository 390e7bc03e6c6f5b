"""The bias curve against plain loops over every bias at which anything can change, in exact arithmetic."""

import math
from collections.abc import Iterator
from dataclasses import fields, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.metrics.czsl import Best, Report, best_pairs, curve, report


class Problem(NamedTuple):
    """Scores, small integers so that ties are frequent, with everything that ``best_pairs`` asks for beside them."""

    scores: list[list[int]]
    targets: list[int]
    target_seen: list[bool]
    seen: list[bool]
    candidates: list[bool]


@st.composite
def problems(draw: st.DrawFn, low: int = -2, high: int = 2) -> Problem:
    """At least one image of a seen pair, one of an unseen pair, and one candidate. A target may be elsewhere (-1)."""
    pairs = draw(st.integers(1, 6))
    seen = draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs))
    candidates = draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs).filter(any))
    target_seen = draw(st.permutations([True, False, *draw(st.lists(st.booleans(), max_size=6))]))
    targets = [draw(st.sampled_from([-1, *(p for p in range(pairs) if seen[p] == kind)])) for kind in target_seen]
    row = st.lists(st.integers(low, high), min_size=pairs, max_size=pairs)
    return Problem([draw(row) for _ in targets], targets, target_seen, seen, candidates)


def best_of(problem: Problem) -> Best:
    scores, *others = problem
    return best_pairs(np.array(scores, dtype=np.float32), *map(np.array, others))


def first_best(row: list[int], allowed: list[int]) -> int | None:
    """The first of the allowed pairs that no other exceeds."""
    best = None
    for pair in allowed:
        if best is None or row[pair] > row[best]:
            best = pair
    return best


def answer(problem: Problem, row: list[int], bias: float) -> int | None:
    """The pair that is answered when the bias is added to unseen pairs; a seen one wins a tie."""
    candidates = [pair for pair in range(len(row)) if problem.candidates[pair]]
    seen = first_best(row, [pair for pair in candidates if problem.seen[pair]])
    unseen = first_best(row, [pair for pair in candidates if not problem.seen[pair]])
    if seen is None or unseen is None:
        return unseen if seen is None else seen
    return unseen if row[unseen] + bias > row[seen] else seen


def every_bias(problem: Problem) -> list[float]:
    """Both infinities, every difference of two scores of an image, and halves below and above it."""
    differences = {a - b for row in problem.scores for a in row for b in row}
    return sorted({-math.inf, math.inf, *(d + step for d in differences for step in (-0.5, 0, 0.5))})


def accuracy(problem: Problem, bias: float, kind: bool) -> Fraction:
    """On the images whose true pair is seen (or not)."""
    images = [image for image, seen in enumerate(problem.target_seen) if seen == kind]
    right = sum(answer(problem, problem.scores[image], bias) == problem.targets[image] for image in images)
    return Fraction(right, len(images))


def exact_points(problem: Problem) -> list[tuple[Fraction, Fraction]]:
    """(unseen, seen) accuracies by rising bias."""
    return [(accuracy(problem, bias, False), accuracy(problem, bias, True)) for bias in every_bias(problem)]


def exact_report(points: list[tuple[Fraction, Fraction]]) -> Report:
    return Report(
        seen=float(points[0][1]),
        unseen=float(points[-1][0]),
        harmonic_mean=float(max(2 * u * s / (u + s) if u + s else Fraction(0) for u, s in points)),
        auc=float(sum((u1 - u0) * (s0 + s1) / 2 for (u0, s0), (u1, s1) in pairwise(points))),
    )


def close_to(expected: Report) -> Report:
    return Report(**{f.name: pytest.approx(getattr(expected, f.name), abs=1e-12) for f in fields(Report)})


def assert_same(one: Best, other: Best) -> None:
    for field in fields(Best):
        np.testing.assert_array_equal(getattr(one, field.name), getattr(other, field.name), err_msg=field.name)


@settings(deadline=None)
@given(problems())
def test_report_is_that_of_plain_loops_over_every_bias(problem: Problem) -> None:
    assert report(curve(best_of(problem))) == close_to(exact_report(exact_points(problem)))


@settings(deadline=None)
@given(problems())
def test_curve_has_the_points_of_plain_loops_in_their_order(problem: Problem) -> None:
    def distinct(points: Iterator[tuple[float, float]]) -> list[tuple[float, float]]:
        return reduce(lambda kept, point: kept if kept[-1:] == [point] else [*kept, point], points, [])

    found = curve(best_of(problem))
    expected = distinct((float(u), float(s)) for u, s in exact_points(problem))
    assert distinct(zip(found.unseen.tolist(), found.seen.tolist(), strict=True)) == expected


@settings(deadline=None)
@given(problems())
def test_best_pairs_are_the_first_best_of_their_kind(problem: Problem) -> None:
    best = best_of(problem)
    for kind, score, right in (
        (True, best.seen_score, best.seen_right),
        (False, best.unseen_score, best.unseen_right),
    ):
        allowed = [p for p, seen in enumerate(problem.seen) if seen == kind and problem.candidates[p]]
        for image, row in enumerate(problem.scores):
            winner = first_best(row, allowed)
            assert score[image] == (-math.inf if winner is None else row[winner])
            assert right[image] == (winner is not None and winner == problem.targets[image])


@settings(deadline=None)
@given(problems(), st.data())
def test_blocks_merged_in_order_equal_all_pairs_at_once(problem: Problem, data: st.DataObject) -> None:
    pairs = len(problem.seen)
    cuts = sorted({0, pairs, *data.draw(st.lists(st.integers(0, pairs)))})
    blocks = [
        Problem(
            scores=[row[start:stop] for row in problem.scores],
            targets=[target - start if start <= target < stop else -1 for target in problem.targets],
            target_seen=problem.target_seen,
            seen=problem.seen[start:stop],
            candidates=problem.candidates[start:stop],
        )
        for start, stop in pairwise(cuts)
    ]
    assert_same(reduce(Best.merge, map(best_of, blocks)), best_of(problem))


@settings(deadline=None)
@given(problems(), st.integers(-100, 100), st.data())
def test_a_constant_added_to_all_scores_of_an_image_changes_nothing(
    problem: Problem, constant: int, data: st.DataObject
) -> None:
    image = data.draw(st.integers(0, len(problem.scores) - 1))
    moved = [[s + constant * (number == image) for s in row] for number, row in enumerate(problem.scores)]
    assert report(curve(best_of(problem._replace(scores=moved)))) == report(curve(best_of(problem)))


@settings(deadline=None)
@given(problems(), st.randoms(use_true_random=False))
def test_the_order_of_images_changes_nothing(problem: Problem, rng: object) -> None:
    rows = list(zip(problem.scores, problem.targets, problem.target_seen, strict=True))
    rng.shuffle(rows)
    scores, targets, target_seen = map(list, zip(*rows, strict=True))
    shuffled = problem._replace(scores=scores, targets=targets, target_seen=target_seen)
    assert report(curve(best_of(shuffled))) == report(curve(best_of(problem)))


@settings(deadline=None)
@given(problems())
def test_scores_of_pairs_that_are_no_candidates_change_nothing(problem: Problem) -> None:
    scores = [[s if c else 99 for s, c in zip(row, problem.candidates, strict=True)] for row in problem.scores]
    assert_same(best_of(problem._replace(scores=scores)), best_of(problem))


@settings(deadline=None)
@given(problems())
def test_perfect_scores_give_ones(problem: Problem) -> None:
    seen, targets = [*problem.seen, True, False], list(problem.targets)
    for image, kind in enumerate(problem.target_seen):  # a target that is elsewhere becomes one of the two new pairs
        if targets[image] == -1:
            targets[image] = len(problem.seen) + (not kind)
    scores = [
        [100 if pair == target else 0 if pair >= len(row) else row[pair] for pair in range(len(seen))]
        for row, target in zip(problem.scores, targets, strict=True)
    ]
    perfect = Problem(scores, targets, problem.target_seen, seen, [True] * len(seen))
    assert report(curve(best_of(perfect))) == close_to(Report(1, 1, 1, 1))


def test_a_curve_worked_out_by_hand() -> None:
    # the answers turn to the unseen pair above biases 2, 0, -1 and 1, so (unseen, seen) goes
    # (0, 1), (.5, 1), (.5, .5), (1, .5), (1, 0)
    scores = [[3, 1], [1, 1], [1, 2], [2, 1]]
    problem = Problem(scores, [0, 0, 1, 1], [True, True, False, False], [True, False], [True, True])
    found = curve(best_of(problem))
    assert found.unseen.tolist() == [0, 0.5, 0.5, 1, 1]
    assert found.seen.tolist() == [1, 1, 0.5, 0.5, 0]
    assert report(found) == close_to(Report(seen=1, unseen=1, harmonic_mean=2 / 3, auc=0.75))


def test_images_that_turn_at_the_same_bias_turn_together() -> None:
    problem = Problem([[1, 1], [5, 5]], [0, 1], [True, False], [True, False], [True, True])
    assert report(curve(best_of(problem))) == Report(seen=1, unseen=1, harmonic_mean=0, auc=0.5)


def test_without_unseen_candidates_no_bias_changes_an_answer() -> None:
    problem = Problem([[1, 9], [1, 9]], [0, 1], [True, False], [True, False], [True, False])
    found = curve(best_of(problem))
    assert set(found.seen) == {1}
    assert set(found.unseen) == {0}


def test_without_seen_candidates_no_bias_is_low_enough() -> None:
    problem = Problem([[9, 1], [9, 1]], [0, 1], [True, False], [True, False], [False, True])
    found = curve(best_of(problem))
    assert set(found.seen) == {0}
    assert set(found.unseen) == {1}


def test_scores_of_low_precision_are_told_apart_exactly() -> None:
    scores = np.array([[1, 1 - 2**-11], [1 - 2**-11, 1]], dtype=np.float16)  # neighbours below 1
    everything = np.array([True, True])
    best = best_pairs(scores, np.array([0, 1]), np.array([True, False]), np.array([True, False]), everything)
    assert best.seen_score.dtype == best.unseen_score.dtype == np.float64
    assert report(curve(best)) == Report(1, 1, 1, 1)


@pytest.mark.parametrize("kind", [True, False])
def test_all_wrong_scores_give_zeros_and_no_nan(kind: bool) -> None:
    problem = Problem([[1, 2], [1, 2]], [-1, -1], [True, False], [kind, not kind], [True, True])
    with np.errstate(all="raise"):
        assert report(curve(best_of(problem))) == Report(0, 0, 0, 0)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_the_first_row_with_a_wrong_score_is_named(wrong: float) -> None:
    scores = np.zeros((6, 3))
    scores[2, 2] = scores[3, 0] = scores[5, 0] = wrong
    flags = np.array([True, False, True])
    with pytest.raises(ValueError, match=r"row 2 is the first of 3 "):
        best_pairs(scores, np.zeros(6, dtype=int), np.ones(6, dtype=bool), flags, flags)


@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_a_wrong_score_of_a_pair_that_is_no_candidate_does_not_matter(wrong: float) -> None:
    flags = np.array([True, False])
    best = best_pairs(np.array([[2.0, wrong]]), np.array([0]), np.array([True]), flags, flags)
    assert (best.seen_score[0], best.seen_right[0], best.unseen_score[0]) == (2, True, -math.inf)


@pytest.mark.parametrize(("kind", "counted"), [(True, "2 of seen pairs, 0 of"), (False, "0 of seen pairs, 2 of")])
def test_accuracies_need_images_of_both_kinds(kind: bool, counted: str) -> None:
    problem = Problem([[1, 2], [1, 2]], [-1, -1], [kind, kind], [True, False], [True, True])
    with pytest.raises(ValueError, match=counted):
        curve(best_of(problem))


def test_images_without_any_candidate_have_no_curve() -> None:
    problem = Problem([[1, 2], [1, 2]], [0, 1], [True, False], [True, False], [True, True])
    best = best_of(problem)
    nothing = np.full(2, -np.inf)
    with pytest.raises(FloatingPointError):
        curve(replace(best, seen_score=nothing, unseen_score=nothing))
