"""Both sweeps, the evaluator and groups of pairs against plain loops over every bias, in exact arithmetic."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.czsl.metrics import czsl
from recompose.tracks.czsl.metrics.best import Best, Evaluator
from recompose.tracks.czsl.metrics.czsl import czsl_report, report_of
from recompose.tracks.czsl.metrics.groups import GROUPS, frequency_groups
from tests.arrays import FLOATS, Make
from tests.errors import raises
from tests.tracks.czsl.metrics import derivations as derived
from tests.tracks.czsl.metrics.derivations import Problem
from tests.tracks.loops import assert_same

seeds = st.integers(0, 2**32 - 1)


@st.composite
def problems(draw: st.DrawFn, both_kinds: bool = False) -> Problem:
    """Small integers as scores, so that ties are frequent.

    Kinds of pairs and of images may be missing where nothing else is asked for.
    """
    seen = draw(st.lists(st.booleans(), min_size=0 if both_kinds else 1, max_size=6))
    candidates = draw(st.lists(st.booleans(), min_size=len(seen), max_size=len(seen)))
    if both_kinds:
        seen, candidates = [True, False, *seen], [True, True, *candidates]
    elif not any(candidates):
        candidates[draw(st.integers(0, len(seen) - 1))] = True
    allowed = [pair for pair, candidate in enumerate(candidates) if candidate]
    targets = draw(st.lists(st.sampled_from(allowed), min_size=0 if both_kinds else 1, max_size=8))
    if both_kinds:
        targets = [0, 1, *targets]
    order = draw(st.permutations(range(len(seen))))
    row = st.lists(st.integers(-2, 2), min_size=len(seen), max_size=len(seen))
    return Problem(
        scores=[draw(row) for _ in targets],
        targets=[order.index(target) for target in targets],
        seen=[seen[pair] for pair in order],
        candidates=[candidates[pair] for pair in order],
    )


def evaluator_of(problem: Problem) -> Evaluator:
    return Evaluator(np.array(problem.targets), np.array(problem.seen), np.array(problem.candidates))


def best_of(problem: Problem, make: Make = FLOATS["numpy-float32"]) -> Best:
    evaluator = evaluator_of(problem)
    evaluator.update(make(problem.scores))
    return evaluator.best()


def random_problem(rng: np.random.Generator, images: int, pairs: int, right: float = 0.4) -> Problem:
    """Scores with a decimal place each, the first half of the pairs seen; true pairs are preferred."""
    targets = rng.integers(0, pairs, images)
    scores = rng.normal(0, 1, (images, pairs))
    scores[np.arange(images), targets] += np.where(rng.random(images) < right, 4, 0)
    seen = [pair < pairs // 2 for pair in range(pairs)]
    return Problem(scores.round(1).tolist(), targets.tolist(), seen, [True] * pairs)


def random_blocks(rng: np.random.Generator, images: int, pairs: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """All images with all pairs in blocks of any sizes; the blocks, and the images and pairs in them, in any order."""
    blocks = []
    for rows in derived.pieces(rng, rng.permutation(images)):
        blocks += [(rows, columns) for columns in derived.pieces(rng, rng.permutation(pairs))]
    return [blocks[index] for index in rng.permutation(len(blocks))]


def feed(evaluator: Evaluator, scores: Any, blocks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for images, pairs in blocks:
        evaluator.update(scores[images][:, pairs], images, pairs)


# the dense sweep


@settings(deadline=None)
@given(problems())
def test_dense_numbers_are_those_of_plain_loops_over_every_bias(problem: Problem) -> None:
    assert derived.numbers_of(report_of(best_of(problem))) == derived.close(derived.dense_numbers(problem))


@settings(deadline=None)
@given(problems())
def test_every_point_of_the_dense_curve_holds_from_just_above_its_bias_to_the_next(problem: Problem) -> None:
    curve = report_of(best_of(problem)).curve
    assert curve.bias[0] == -math.inf
    assert (np.diff(curve.bias) > 0).all()
    for bias in derived.probes(problem):
        point = max(index for index, start in enumerate(curve.bias) if start < bias)
        for kind, actual in ((True, curve.seen[point]), (False, curve.unseen[point])):
            expected = derived.accuracy(problem, derived.answers(problem, bias), kind)
            assert math.isnan(actual) if expected is None else actual == float(expected)


@settings(deadline=None)
@given(problems())
def test_best_pairs_are_the_first_best_of_their_kind(problem: Problem) -> None:
    derived.assert_best(best_of(problem), problem)


@settings(deadline=None)
@given(problems())
def test_answers_at_a_bias_are_the_first_best_with_the_bias_added_to_unseen_pairs(problem: Problem) -> None:
    best = best_of(problem)
    for bias in derived.probes(problem):
        assert best.predictions(float(bias)).tolist() == derived.answers(problem, bias)


@settings(deadline=None)
@given(problems(), st.data())
def test_accuracies_of_states_and_objects_are_those_of_the_answers_at_bias_zero(
    problem: Problem, data: st.DataObject
) -> None:
    primitives = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in problem.seen]
    for sweep in czsl.SWEEPS:
        report = report_of(best_of(problem), sweep, np.array(primitives))
        assert (report.state, report.object) == derived.part_accuracies(problem, primitives)


# the field's sweep


@settings(deadline=None)
@given(problems(both_kinds=True), st.sampled_from([0.125, 1.0, 50.0]))
def test_field_numbers_are_those_of_the_shared_evaluator(problem: Problem, scale: float) -> None:
    candidates = [one or seen for one, seen in zip(problem.candidates, problem.seen, strict=True)]
    scores = [[score * scale for score in row] for row in problem.scores]
    problem = problem._replace(scores=scores, candidates=candidates)
    assert_field(problem)


def assert_field(problem: Problem) -> None:
    expected = derived.field_sweep(problem)
    report = report_of(best_of(problem, FLOATS["numpy-float64"]), "field")
    assert report.curve.bias.tolist() == expected.biases
    assert report.curve.seen.tolist() == expected.seen
    assert report.curve.unseen.tolist() == expected.unseen
    assert derived.numbers_of(report) == derived.close(expected.numbers)


@pytest.mark.parametrize(("right", "visited"), [(0, 0), (1, 1), (39, 39), (40, 20), (41, 21), (85, 22)])
def test_the_field_visits_every_so_manieth_turn_of_unseen_images_that_can_be_right(right: int, visited: int) -> None:
    # one image of a seen pair, and unseen ones that turn at 0, 1, 2 and so on, the wrong ones in between
    turns = [*range(right), *(turn + 0.5 for turn in range(7))]
    scores = [[5.0, 0, 0], *([turn, 0, -1] for turn in turns)]
    problem = Problem(scores, [0, *[1] * right, *[2] * 7], [True, False, False], [True] * 3)
    report = report_of(best_of(problem), "field")
    step = 2 if 40 <= right < 60 else 4 if right == 85 else 1
    assert len(report.curve.bias) == visited + 1
    assert report.curve.bias[:-1].tolist() == [turn - 1e-4 for turn in range(right)[::step]]
    assert_field(problem)


def test_a_turn_at_the_largest_bias_or_above_is_none_that_the_field_visits() -> None:
    problem = Problem([[1000, 0], [1000.5, 0], [999.5, 0], [0, 0]], [1, 1, 1, 0], [True, False], [True, True])
    report = report_of(best_of(problem), "field")
    assert report.curve.bias.tolist() == [999.5 - 1e-4, 1000]
    assert report.unseen == 1 / 3
    assert report_of(best_of(problem)).unseen == 1


# kinds of images and pairs that are missing


@pytest.mark.parametrize("sweep", czsl.SWEEPS)
@pytest.mark.parametrize(
    ("kind", "seen"), [(True, [True, False]), (False, [True, False]), (True, [True]), (False, [False])]
)
def test_what_depends_on_images_that_are_missing_is_nan(sweep: czsl.Sweep, kind: bool, seen: list[bool]) -> None:
    target = seen.index(kind)
    scores = [[float(pair == target) for pair in range(len(seen))], [0.0] * len(seen)]
    report = report_of(best_of(Problem(scores, [target, target], seen, [True] * len(seen))), sweep)
    present, missing = ("seen", "unseen") if kind else ("unseen", "seen")
    assert getattr(report, present) == getattr(report.curve, present).max()
    assert np.isnan(getattr(report.curve, missing)).all()
    assert math.isnan(getattr(report, missing))
    assert math.isnan(report.harmonic_mean)
    assert math.isnan(report.auc)


def test_images_without_any_score_are_named() -> None:
    evaluator = Evaluator(np.zeros(5, dtype=int), np.array([True, False]))
    evaluator.update(np.ones((2, 2)), images=np.array([0, 3]))
    best = evaluator.best()
    assert best.seen_pair.tolist() == [0, -1, -1, 0, -1]
    for ask in (lambda: report_of(best), lambda: report_of(best, "field"), lambda: best.predictions(0)):
        with raises(ArgumentError, code="no-score", place="scores[1]"):
            ask()


# what changes nothing


@settings(deadline=None, max_examples=60)
@given(problem=problems(), seed=seeds)
def test_blocks_of_any_size_in_any_order_equal_all_scores_at_once(problem: Problem, seed: int) -> None:
    rng, scores = np.random.default_rng(seed), FLOATS["torch-float32"](problem.scores)
    evaluator = evaluator_of(problem)
    feed(evaluator, scores, random_blocks(rng, *scores.shape))
    assert_same(evaluator.best(), best_of(problem))


@settings(deadline=None)
@given(problems(), seeds)
def test_merged_parts_equal_all_scores_at_once(problem: Problem, seed: int) -> None:
    rng, scores = np.random.default_rng(seed), np.array(problem.scores, dtype=np.float32)
    parts = [evaluator_of(problem) for _ in range(3)]
    for block in random_blocks(rng, *scores.shape):
        feed(parts[rng.integers(3)], scores, [block])
    first, second, third = (part.best() for part in parts)
    assert_same(first.merge(second).merge(third), best_of(problem))
    assert_same(third.merge(first.merge(second)), best_of(problem))


@pytest.mark.parametrize("kind", ["numpy-float16", "torch-bfloat16", "torch-float64"])
def test_decisions_are_those_of_exact_arithmetic_on_the_values_of_a_type(kind: str) -> None:
    rng = np.random.default_rng(7)
    problem = random_problem(rng, 14, 6)
    scores = FLOATS[kind]((rng.normal(0, 1e-3, (14, 6)) + np.array(problem.scores) * 1e-3).tolist())
    exact = problem.with_exact(scores)
    best = best_of(problem, lambda _: scores.requires_grad_() if kind == "torch-bfloat16" else scores)
    derived.assert_best(best, exact)
    assert derived.numbers_of(report_of(best)) == derived.close(derived.dense_numbers(exact))


@settings(deadline=None, max_examples=60)
@given(problem=problems(), value=st.sampled_from([99.0, math.nan, math.inf, -math.inf]))
def test_scores_of_pairs_that_are_no_candidates_do_not_matter(value: float, problem: Problem) -> None:
    scores = [[s if c else value for s, c in zip(row, problem.candidates, strict=True)] for row in problem.scores]
    with np.errstate(invalid="ignore"):
        assert_same(best_of(problem._replace(scores=scores)), best_of(problem))


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_finite_scores_whose_sum_is_not_are_taken_without_a_warning(library: str) -> None:
    scores = [[60000.0, 60000.0, -60000.0], [-60000.0, -60000.0, 0.0]]
    problem = Problem(scores, [0, 2], [True, False, False], [True] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        derived.assert_best(best_of(problem, FLOATS[f"{library}-float16"]), problem)


@pytest.mark.parametrize("make", [np.array, torch.tensor])
def test_a_report_is_that_of_an_evaluator_fed_at_once(make: Callable[[Any], Any]) -> None:
    problem = random_problem(np.random.default_rng(6), 30, 6)._replace(candidates=[True] * 5 + [False])
    problem = problem._replace(targets=[min(target, 4) for target in problem.targets])
    primitives = [(pair // 2, pair % 2) for pair in range(6)]
    for sweep in czsl.SWEEPS:
        report = czsl_report(*map(make, problem), sweep=sweep, primitives=np.array(primitives))
        exact = problem.with_exact(make(problem.scores))
        assert derived.numbers_of(report) == derived.close(derived.sweep_numbers(exact, sweep))
        assert (report.state, report.object) == derived.part_accuracies(problem, primitives)


# errors


def update(scores: Any, candidates: list[bool] | None = None, **positions: list[int]) -> None:
    evaluator = Evaluator(np.zeros(12, dtype=int), np.array([True, False, True]), candidates and np.array(candidates))
    block = {name: np.array(places) for name, places in positions.items()}
    evaluator.update(torch.tensor(scores, dtype=torch.float32), **block)


BROKEN: list[list[float]] = [[0, 0], [math.nan, 0], [0, math.inf]]
WRONG: list[tuple[str, str, Callable[[], None]]] = [
    # in a block, by the position among all
    ("not-finite", "scores[6]", lambda: update(BROKEN, images=[11, 8, 6], pairs=[2, 0])),
    ("wrong-shape", "scores", lambda: update(np.zeros((12, 3)).tolist(), images=[0, 1, 2])),
    ("wrong-shape", "scores", lambda: update(np.zeros((12, 3)).tolist(), pairs=[0, 1])),
]


@pytest.mark.parametrize(("code", "place", "call"), WRONG)
def test_bad_input_is_named_by_its_place(code: str, place: str, call: Callable[[], None]) -> None:
    with raises(ArgumentError, code=code, place=place):
        call()


pairs = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=40)


def names_of(shown: list[int], seen: list[bool]) -> list[str]:
    return [GROUPS[group] for group in frequency_groups(np.array(shown), np.array(seen))]


@settings(deadline=None)
@given(pairs)
def test_groups_are_those_of_plain_loops(rows: list[tuple[int, bool]]) -> None:
    shown, seen = map(list, zip(*rows, strict=True))
    assert names_of(shown, seen) == derived.group_names(shown, seen)


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1, (0, 0, 1)),
        (10, (2, 3, 5)),
        (83, (17, 25, 41)),  # 16.6 and 41.5: half a pair goes to the even side, 42
    ],
)
def test_cuts_are_rounded_to_whole_pairs(count: int, sizes: tuple[int, int, int]) -> None:
    names = names_of(list(range(count)), [True] * count)
    assert tuple(names.count(name) for name in ("head", "medium", "tail")) == sizes
    assert names == sorted(names, key=["tail", "medium", "head"].index)
