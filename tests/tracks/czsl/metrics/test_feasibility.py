"""Feasibility by plain loops, and ladders against a dense evaluation at every threshold."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.czsl.metrics.best import RunningBest
from recompose.tracks.czsl.metrics.czsl import report_of
from recompose.tracks.czsl.metrics.feasibility import LadderBuilder, ThresholdProfile, feasibility
from recompose.tracks.czsl.metrics.thresholds import aucs, best_threshold, released_calibration, released_threshold
from tests.arrays import FLOATS, Make
from tests.errors import raises
from tests.tracks.czsl.metrics.derivations import (
    Problem,
    assert_best,
    close,
    couples_auc,
    dense_numbers,
    numbers_of,
    sweep_numbers,
)

KINDS = ["numpy-float32", "torch-bfloat16"]
NUMPY = FLOATS["numpy-float32"]
VALUES = [-0.5, -0.25, 0.0, 0.25, 0.5]
seeds = st.integers(0, 2**32 - 1)


class Calibrated(NamedTuple):
    """A problem of the open world with the feasibility of each pair."""

    problem: Problem
    feasibility: list[float]

    @property
    def thresholds(self) -> list[float]:
        """The distinct feasibilities of unseen pairs, rising."""
        return sorted({f for f, seen in zip(self.feasibility, self.problem.seen, strict=True) if not seen})

    def at(self, threshold: float) -> Problem:
        """The problem in which unseen pairs below the threshold are no candidates."""
        pairs = zip(self.feasibility, self.problem.seen, strict=True)
        return self.problem._replace(candidates=[seen or f >= threshold for f, seen in pairs])

    def multiplied(self, threshold: float) -> Problem:
        """The problem with scores multiplied by (feasibility >= threshold) + seen, the feasibility of seen pairs
        being 0.
        """
        pairs = list(zip(self.feasibility, self.problem.seen, strict=True))
        factors = [int((0.0 if seen else f) >= threshold) + int(seen) for f, seen in pairs]
        rows = [[score * by for score, by in zip(row, factors, strict=True)] for row in self.problem.scores]
        return self.problem._replace(scores=rows)


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


def random_calibrated(seed: int, images: int, pairs: int, bits: int, values: int) -> Calibrated:
    """Normal scores, rounded to so many bits after the point, with half the pairs seen, and feasibilities of so many
    different values.
    """
    rng = np.random.default_rng(seed)
    targets = rng.integers(0, pairs, images)
    scores = rng.normal(0, 1, (images, pairs))
    scores[np.arange(images), targets] += 2
    scores = np.floor(scores * 2**bits) / 2**bits  # exact in every type
    problem = Problem(scores.tolist(), targets.tolist(), (rng.random(pairs) < 0.5).tolist(), [True] * pairs)
    return Calibrated(problem, (rng.integers(-values // 2, values // 2, pairs) / values).tolist())


def builder_of(given: Calibrated) -> LadderBuilder:
    problem = given.problem
    return LadderBuilder(np.array(problem.targets), np.array(problem.seen), np.array(given.feasibility))


def pieces(rng: np.random.Generator, positions: list[int]) -> list[np.ndarray]:
    """Positions cut at random, some pieces possibly empty."""
    cuts = np.sort(rng.integers(0, len(positions) + 1, rng.integers(0, 4)))
    return np.split(np.array(positions, dtype=np.int64), cuts)


def falling_order(given: Calibrated, rng: np.random.Generator) -> list[int]:
    """Unseen pairs by falling feasibility, equal ones in any order, and seen pairs anywhere between them."""
    mixed = rng.permutation(len(given.feasibility)).tolist()
    order = sorted((p for p in mixed if not given.problem.seen[p]), key=lambda pair: -given.feasibility[pair])
    for pair in mixed:
        if given.problem.seen[pair]:
            order.insert(int(rng.integers(0, len(order) + 1)), pair)
    return order


def fed(given: Calibrated, seed: int, make: Make = NUMPY) -> LadderBuilder:
    """Images in any groups; each group is fed blocks of falling feasibility, and the groups take turns at random."""
    rng, scores, builder = np.random.default_rng(seed), make(given.problem.scores), builder_of(given)
    groups = pieces(rng, rng.permutation(len(given.problem.targets)).tolist())
    queues = [(images, pieces(rng, falling_order(given, rng))) for images in groups]
    while queues := [(images, blocks) for images, blocks in queues if blocks]:
        images, blocks = queues[rng.integers(len(queues))]
        pairs = blocks.pop(0)
        builder.update(scores[images][:, pairs], images, pairs)
    return builder


def ladder_of(given: Calibrated, seed: int = 0, make: Make = NUMPY) -> ThresholdProfile:
    return fed(given, seed, make).ladder()


def every_threshold(given: Calibrated) -> list[float]:
    """All that can make a difference, one between any two, and some beyond them."""
    own = given.thresholds
    return sorted({-math.inf, -1.0, *own, *((a + b) / 2 for a, b in pairwise(own)), 1.0, math.inf})


# feasibility


def cosine(one: list[float], other: list[float]) -> float:
    dot = math.fsum(a * b for a, b in zip(one, other, strict=True))
    return dot / math.sqrt(math.fsum(a * a for a in one)) / math.sqrt(math.fsum(b * b for b in other))


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
    assert np.allclose(actual[seen], 1, rtol=0, atol=1e-12)
    assert (np.abs(actual) <= 1 + 1e-12).all()


def test_feasibility_worked_out_by_hand() -> None:
    # the first state was seen with the first object, the second one with the second; the third state and object with
    # nothing
    states = np.array([[2.0, 0.0], [3.0, 4.0], [0.0, 1.0]])
    objects = np.array([[1.0, 0.0], [0.0, 5.0], [-1.0, 0.0]])
    seen = np.array([[True, False, False], [False, True, False], [False, False, False]])
    expected = [[1, (0 + 0.6) / 2, (-1 - 1) / 2], [(0 + 0.6) / 2, 1, (0 - 1) / 2], [(-1 + 0) / 2, (-1 + 0.8) / 2, -1]]
    np.testing.assert_allclose(feasibility(states, objects, seen), expected, rtol=0, atol=1e-15)


# ladders


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None, max_examples=60)
@given(given_=calibrated(), seed=seeds)
def test_a_ladder_holds_the_best_pairs_at_every_threshold(kind: str, given_: Calibrated, seed: int) -> None:
    ladder = ladder_of(given_, seed, FLOATS[kind])
    assert ladder.thresholds.tolist() == given_.thresholds
    for threshold in every_threshold(given_):
        assert_best(ladder.at(threshold), given_.at(threshold))


def test_few_entries_are_looked_at_again_however_many_pairs_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    given, counts, climb = random_calibrated(16, 10, 2000, 10, 500), [], RunningBest.climb

    def counting(self: Any, *chunk: Any) -> Any:
        actual = climb(self, *chunk)
        counts.append(len(actual[0]))
        return actual

    monkeypatch.setattr(RunningBest, "climb", counting)
    builder, scores = builder_of(given), NUMPY(given.problem.scores)
    order = np.array(falling_order(given, np.random.default_rng(0)))
    for pairs in np.split(order, 10):
        builder.update(scores[:, pairs], np.arange(10), pairs)
    assert len(counts) < 25  # chunks grow with what came before
    assert sum(counts) < 10 * 25  # about one entry an image in each
    assert_best(builder.ladder().at(0.25), given.at(0.25))


@settings(deadline=None)
@given(calibrated(), seeds)
def test_aucs_are_the_dense_auc_at_every_threshold(given: Calibrated, seed: int) -> None:
    actual = aucs(ladder_of(given, seed)).tolist()
    if len(set(given.problem.kinds)) == 2:
        expected = [float(couples_auc(given.at(threshold))) for threshold in given.thresholds]
        assert expected == close([dense_numbers(given.at(threshold))["auc"] for threshold in given.thresholds])
        assert actual == pytest.approx(expected, rel=0, abs=1e-12)
    else:
        assert len(actual) == len(given.thresholds)
        assert np.isnan(actual).all()


@settings(deadline=None)
@given(calibrated(both_kinds=True), seeds)
def test_of_the_thresholds_with_the_best_auc_the_lowest_is_taken(given: Calibrated, seed: int) -> None:
    best: tuple[Fraction, float] | None = None
    for threshold in given.thresholds:
        auc = couples_auc(given.at(threshold))
        if best is None or auc > best[0]:
            best = auc, threshold
    assert best is not None
    assert best_threshold(ladder_of(given, seed)) == best[1]


def test_without_unseen_pairs_no_threshold_is_needed() -> None:
    ladder = ladder_of(Calibrated(Problem([[1, 2], [2, 1]], [0, 1], [True, True], [True, True]), [0.5, 0.5]))
    assert ladder.thresholds.tolist() == aucs(ladder).tolist() == []
    assert best_threshold(ladder) == released_threshold(ladder) == -math.inf
    assert ladder.at(-math.inf).seen_pair.tolist() == [1, 0]


def test_one_block_without_unseen_pairs_or_without_images_adds_nothing() -> None:
    given = random_calibrated(12, 6, 8, 2, 10)
    builder, scores = fed(given, 0), NUMPY(given.problem.scores)
    before = builder.ladder()
    seen, nothing = np.flatnonzero(given.problem.seen), np.empty(0, dtype=np.int64)
    builder.update(scores[:, seen], np.arange(6), seen)
    builder.update(scores[nothing], nothing, np.arange(8))
    after = builder.ladder()
    for name in ("image", "pair", "score", "feasibility"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name))


# order and errors


def four_pairs() -> LadderBuilder:
    """Of feasibility 0.9, 0.5, 0.5 and 0.1, and a seen one."""
    seen = np.array([False, False, False, False, True])
    return LadderBuilder(np.zeros(3, dtype=int), seen, np.array([0.9, 0.5, 0.5, 0.1, 0.7]))


def update(builder: LadderBuilder, images: list[int], pairs: list[int]) -> None:
    builder.update(np.ones((len(images), len(pairs))), np.array(images), np.array(pairs))


@pytest.mark.parametrize(
    "blocks",
    [
        [([0], [3, 0])],
        [([0], [0, 3, 1])],
        [([0], [1, 4, 0])],
        [([0, 1, 2], [1]), ([2], [0])],
        [([0], [0, 3]), ([1, 0], [1, 2])],
        [([1], [3]), ([0], [0, 1]), ([0, 1], [2])],
    ],
)
def test_unseen_pairs_that_do_not_come_by_falling_feasibility_are_refused(
    blocks: list[tuple[list[int], list[int]]],
) -> None:
    builder = four_pairs()
    for images, pairs in blocks[:-1]:
        update(builder, images, pairs)
    with raises(ArgumentError, code="wrong-order", place="pairs"):
        update(builder, *blocks[-1])


def test_equal_feasibilities_seen_pairs_and_images_come_in_any_order() -> None:
    builder = four_pairs()
    for images, pairs in [([2], [0, 2]), ([2], [1, 4]), ([1], [4, 0]), ([2], [3]), ([1, 0], [2]), ([0, 1], [1, 3])]:
        update(builder, images, pairs)
    assert builder.ladder().at(0.5).unseen_pair.tolist() == [1, 0, 0]


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
        assert_best(released_calibration(ladder, threshold), multiplied)
        actual = report_of(released_calibration(ladder, threshold))
        if len(set(given.problem.kinds)) == 2:
            assert numbers_of(actual) == close(dense_numbers(multiplied))


@pytest.mark.parametrize(
    ("threshold", "turn", "answer"),
    [
        (-0.5, -8 - -3, 1),  # nothing is excluded, the seen pair's -4 is doubled
        (0.0, -8 - 0, 2),  # the last pair is excluded, and its 0 beats all others
        (0.1, -4 - 0, 2),  # the same with nothing doubled
        (0.3, -4 - 0, 1),  # both unseen pairs are excluded: 0, the first one wins
    ],
)
def test_defects_of_released_calibration_worked_out_by_hand(threshold: float, turn: float, answer: int) -> None:
    problem = Problem([[-4, -3, -5]], [1], [True, False, False], [True] * 3)
    best = released_calibration(ladder_of(Calibrated(problem, [0.9, 0.2, -0.3])), threshold)
    assert best.switch_bias.tolist() == [turn]
    assert best.unseen_pair.tolist() == [answer]


def literal_search(given: Calibrated) -> float:
    """The first of 50 thresholds in equal steps with the best AUC of the field's evaluator on multiplied scores."""
    best, actual = -math.inf, math.nan
    for threshold in np.linspace(given.thresholds[0], given.thresholds[-1], 50).tolist():
        auc = sweep_numbers(given.multiplied(threshold), "field")["auc"]
        if auc > best:
            best, actual = auc, threshold
    return actual


@pytest.mark.slow
@settings(deadline=None, max_examples=25)
@given(calibrated(both_kinds=True), seeds)
def test_the_released_search_takes_the_first_best_of_fifty_thresholds(given: Calibrated, seed: int) -> None:
    assert released_threshold(ladder_of(given, seed)) == literal_search(given)


@pytest.mark.parametrize("seed", range(2))
def test_the_released_search_in_a_larger_problem_takes_the_first_best_of_fifty_thresholds(seed: int) -> None:
    given = random_calibrated(seed, 40, 25, 2, 100)
    actual = released_threshold(ladder_of(given))
    assert actual == literal_search(given)
