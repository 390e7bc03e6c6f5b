"""Feasibility by plain loops, and ladders against a dense evaluation at every threshold."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.czsl.metrics.czsl import report_of
from recompose.tracks.czsl.metrics.feasibility import LadderBuilder, ThresholdProfile, feasibility
from recompose.tracks.czsl.metrics.thresholds import aucs, best_threshold, released_calibration, released_threshold
from tests.arrays import FLOATS, Make
from tests.errors import raises
from tests.tracks.czsl.metrics import derivations as derived
from tests.tracks.czsl.metrics.derivations import Calibrated, Problem
from tests.tracks.loops import cosine

NUMPY = FLOATS["numpy-float32"]
VALUES = [-0.5, -0.25, 0.0, 0.25, 0.5]
seeds = st.integers(0, 2**32 - 1)


@st.composite
def calibrated(draw: st.DrawFn, low: int = -2, high: int = 3, both_kinds: bool = False) -> Calibrated:
    """Few feasibilities and few scores, so that both are often tied."""
    seen = draw(st.lists(st.booleans(), min_size=1, max_size=7))
    targets = draw(st.lists(st.integers(0, len(seen) - 1), min_size=1, max_size=7))
    if both_kinds:
        seen = [True, False, *seen]
        targets = [0, 1, *targets]
    row = st.lists(st.integers(low, high), min_size=len(seen), max_size=len(seen))
    values = draw(st.lists(st.sampled_from(VALUES), min_size=len(seen), max_size=len(seen)))
    return Calibrated(Problem([draw(row) for _ in targets], targets, seen, [True] * len(seen)), values)


def falling_order(given: Calibrated, rng: np.random.Generator) -> list[int]:
    """Unseen pairs by falling feasibility, equal ones in any order, and seen pairs anywhere between them."""
    mixed = rng.permutation(len(given.feasibility)).tolist()
    order = sorted((p for p in mixed if not given.problem.seen[p]), key=lambda pair: -given.feasibility[pair])
    for pair in mixed:
        if given.problem.seen[pair]:
            order.insert(int(rng.integers(0, len(order) + 1)), pair)
    return order


def ladder_of(given: Calibrated, seed: int = 0, make: Make = NUMPY) -> ThresholdProfile:
    """Images in any groups; each takes blocks of falling feasibility, and groups take turns at random."""
    rng, problem = np.random.default_rng(seed), given.problem
    scores, targets = make(problem.scores), np.array(problem.targets)
    builder = LadderBuilder(targets, np.array(problem.seen), np.array(given.feasibility))
    groups = derived.pieces(rng, rng.permutation(len(targets)).tolist())
    queues = [(images, derived.pieces(rng, falling_order(given, rng))) for images in groups]
    while queues := [(images, blocks) for images, blocks in queues if blocks]:
        images, blocks = queues[rng.integers(len(queues))]
        pairs = blocks.pop(0)
        builder.update(scores[images][:, pairs], images, pairs)
    return builder.ladder()


def every_threshold(given: Calibrated) -> list[float]:
    """All that can make a difference, one between any two, and some beyond them."""
    own = given.thresholds
    return sorted({-math.inf, -1.0, *own, *((a + b) / 2 for a, b in pairwise(own)), 1.0, math.inf})


# feasibility


def feasibility_of(states: np.ndarray, objects: np.ndarray, seen: np.ndarray, state: int, name: int) -> float:
    with_state = [other for other in range(len(objects)) if seen[state, other]]
    with_object = [other for other in range(len(states)) if seen[other, name]]
    of_object = max((cosine(objects[name].tolist(), objects[other].tolist()) for other in with_state), default=-1)
    of_state = max((cosine(states[state].tolist(), states[other].tolist()) for other in with_object), default=-1)
    return (of_object + of_state) / 2


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 6), st.integers(1, 5), st.sampled_from([0.0, 0.2, 0.5, 1.0]), seeds)
def test_feasibility_is_that_of_plain_loops(states: int, objects: int, share: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    of_states, of_objects = rng.normal(size=(states, 4)), rng.normal(size=(objects, 3))
    seen = rng.random((states, objects)) < share
    actual = feasibility(of_states, of_objects, seen)
    assert actual.shape == (states, objects)
    for state in range(states):
        for name in range(objects):
            expected = feasibility_of(of_states, of_objects, seen, state, name)
            assert actual[state, name] == pytest.approx(expected, rel=0, abs=1e-12)


# ladders


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(calibrated(), seeds, st.sampled_from(["numpy-float32", "torch-bfloat16"]))
def test_a_ladder_holds_the_best_pairs_at_every_threshold(given: Calibrated, seed: int, kind: str) -> None:
    ladder = ladder_of(given, seed, FLOATS[kind])
    assert ladder.thresholds.tolist() == given.thresholds
    for threshold in every_threshold(given):
        derived.assert_best(ladder.at(threshold), given.at(threshold))


@settings(deadline=None)
@given(calibrated(), seeds)
def test_aucs_are_the_dense_auc_at_every_threshold(given: Calibrated, seed: int) -> None:
    actual = aucs(ladder_of(given, seed)).tolist()
    if len(set(given.problem.kinds)) == 2:
        expected = [float(derived.couples_auc(given.at(threshold))) for threshold in given.thresholds]
        assert actual == pytest.approx(expected, rel=0, abs=1e-12)
    else:
        assert len(actual) == len(given.thresholds)
        assert np.isnan(actual).all()


@settings(deadline=None)
@given(calibrated(both_kinds=True), seeds)
def test_of_the_thresholds_with_the_best_auc_the_lowest_is_taken(given: Calibrated, seed: int) -> None:
    best: tuple[Fraction, float] | None = None
    for threshold in given.thresholds:
        auc = derived.couples_auc(given.at(threshold))
        if best is None or auc > best[0]:
            best = auc, threshold
    assert best is not None
    assert best_threshold(ladder_of(given, seed)) == best[1]


def test_without_unseen_pairs_no_threshold_is_needed() -> None:
    ladder = ladder_of(Calibrated(Problem([[1, 2], [2, 1]], [0, 1], [True, True], [True, True]), [0.5, 0.5]))
    assert ladder.thresholds.tolist() == aucs(ladder).tolist() == []
    assert best_threshold(ladder) == released_threshold(ladder) == -math.inf
    assert ladder.at(-math.inf).seen_pair.tolist() == [1, 0]


# order and errors


def update(builder: LadderBuilder, images: list[int], pairs: list[int]) -> None:
    builder.update(np.ones((len(images), len(pairs))), np.array(images), np.array(pairs))


@pytest.mark.parametrize("before", [[], [([0, 1, 2], [1])], [([1], [3]), ([0], [0, 1])]])
def test_unseen_pairs_that_do_not_come_by_falling_feasibility_are_refused(
    before: list[tuple[list[int], list[int]]],
) -> None:
    seen, values = np.array([False] * 4 + [True]), np.array([0.9, 0.5, 0.5, 0.1, 0.7])
    builder = LadderBuilder(np.zeros(3, dtype=int), seen, values)
    for images, pairs in before:
        update(builder, images, pairs)
    with raises(ArgumentError, code="wrong-order", place="pairs"):
        update(builder, [0, 1], [2, 4, 0])


def test_an_unseen_pair_without_a_feasibility_is_refused_and_a_seen_one_is_not() -> None:
    values = np.array([np.nan, 0.5, np.nan])
    with raises(ArgumentError, code="not-finite", place="feasibility[2]"):
        LadderBuilder(np.array([0]), np.array([True, False, False]), values)
    LadderBuilder(np.array([0]), np.array([True, False, True]), values)


# as the released code calibrates


@settings(deadline=None)
@given(calibrated(), seeds)
def test_released_calibration_multiplies_scores(given: Calibrated, seed: int) -> None:
    ladder = ladder_of(given, seed)
    for threshold in every_threshold(given):
        multiplied = given.multiplied(threshold)
        derived.assert_best(released_calibration(ladder, threshold), multiplied)
        actual = report_of(released_calibration(ladder, threshold))
        if len(set(given.problem.kinds)) == 2:
            assert derived.numbers_of(actual) == derived.close(derived.dense_numbers(multiplied))


def literal_search(given: Calibrated) -> float:
    """The first of 50 thresholds in equal steps with the best AUC of the field's evaluator on multiplied scores."""
    best, actual = -math.inf, math.nan
    for threshold in np.linspace(given.thresholds[0], given.thresholds[-1], 50).tolist():
        auc = derived.sweep_numbers(given.multiplied(threshold), "field")["auc"]
        if auc > best:
            best, actual = auc, threshold
    return actual


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(calibrated(both_kinds=True), seeds)
def test_the_released_search_takes_the_first_best_of_fifty_thresholds(given: Calibrated, seed: int) -> None:
    assert released_threshold(ladder_of(given, seed)) == literal_search(given)
