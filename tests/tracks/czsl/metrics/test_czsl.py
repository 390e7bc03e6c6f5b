"""Both sweeps, the evaluator and its blocks against plain loops over every bias, in exact arithmetic."""

import math
import warnings
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.czsl.metrics import czsl
from recompose.tracks.czsl.metrics.czsl import Best, Evaluator, czsl_report, report_of
from tests.arrays import FLOATS, Make
from tests.errors import raises
from tests.tracks.czsl.metrics.derivations import (
    Problem,
    accuracy,
    answers,
    assert_best,
    assert_same,
    close,
    couples_auc,
    dense_numbers,
    field_sweep,
    numbers_of,
    part_accuracies,
    probes,
)

LIBRARIES = {"numpy": FLOATS["numpy-float32"], "torch": FLOATS["torch-float32"]}
seeds = st.integers(0, 2**32 - 1)
# two images that are told apart by a bias between -1 and 1: the first one's pair is seen, the second one's is not
TOLD_APART = Problem([[2, 1], [1, 2]], [0, 1], [True, False], [True, True])


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
    for rows in pieces(rng, rng.permutation(images)):
        blocks += [(rows, columns) for columns in pieces(rng, rng.permutation(pairs))]
    return [blocks[index] for index in rng.permutation(len(blocks))]


def pieces(rng: np.random.Generator, positions: np.ndarray) -> list[np.ndarray]:
    """Positions cut at random, some pieces possibly empty."""
    return np.split(positions, np.sort(rng.integers(0, len(positions) + 1, rng.integers(0, 4))))


def feed(evaluator: Evaluator, scores: Any, blocks: list[tuple[np.ndarray, np.ndarray]]) -> None:
    for images, pairs in blocks:
        evaluator.update(scores[images][:, pairs], images, pairs)


# the dense sweep


@settings(deadline=None)
@given(problems())
def test_dense_numbers_are_those_of_plain_loops_over_every_bias(problem: Problem) -> None:
    assert numbers_of(report_of(best_of(problem))) == close(dense_numbers(problem))


@settings(deadline=None)
@given(problems())
def test_every_point_of_the_dense_curve_holds_from_just_above_its_bias_to_the_next(problem: Problem) -> None:
    curve = report_of(best_of(problem)).curve
    assert curve.bias[0] == -math.inf
    assert (np.diff(curve.bias) > 0).all()
    for bias in probes(problem):
        point = max(index for index, start in enumerate(curve.bias) if start < bias)
        for kind, actual in ((True, curve.seen[point]), (False, curve.unseen[point])):
            expected = accuracy(problem, answers(problem, bias), kind)
            assert math.isnan(actual) if expected is None else actual == float(expected)


@settings(deadline=None)
@given(problems(both_kinds=True))
def test_dense_auc_is_the_share_of_couples_that_one_bias_gets_right(problem: Problem) -> None:
    assert report_of(best_of(problem)).auc == pytest.approx(float(couples_auc(problem)), rel=0, abs=1e-12)


@settings(deadline=None)
@given(problems())
def test_best_pairs_are_the_first_best_of_their_kind(problem: Problem) -> None:
    assert_best(best_of(problem), problem)


@settings(deadline=None)
@given(problems())
def test_answers_at_a_bias_are_the_first_best_with_the_bias_added_to_unseen_pairs(problem: Problem) -> None:
    best = best_of(problem)
    for bias in probes(problem):
        assert best.predictions(float(bias)).tolist() == answers(problem, bias)


@settings(deadline=None)
@given(problems(), st.data())
def test_accuracies_of_states_and_objects_are_those_of_the_answers_at_bias_zero(
    problem: Problem, data: st.DataObject
) -> None:
    primitives = [(data.draw(st.integers(0, 2)), data.draw(st.integers(0, 2))) for _ in problem.seen]
    for sweep in czsl.SWEEPS:
        report = report_of(best_of(problem), sweep, np.array(primitives))
        assert (report.state, report.object) == part_accuracies(problem, primitives)


def test_a_curve_worked_out_by_hand() -> None:
    # the answers turn to the unseen pair above biases 2, 0, -1 and 1
    scores = [[3, 1], [1, 1], [1, 2], [2, 1]]
    report = report_of(best_of(Problem(scores, [0, 0, 1, 1], [True, False], [True, True])))
    assert report.curve.bias.tolist() == [-math.inf, -1, 0, 1, 2]
    assert report.curve.unseen.tolist() == [0, 0.5, 0.5, 1, 1]
    assert report.curve.seen.tolist() == [1, 1, 0.5, 0.5, 0]
    assert numbers_of(report) == close({"seen": 1, "unseen": 1, "harmonic_mean": 2 / 3, "auc": 0.75})


# the field's sweep


@settings(deadline=None)
@given(problems(both_kinds=True), st.sampled_from([0.125, 1.0, 50.0]))
def test_field_numbers_are_those_of_the_shared_evaluator(problem: Problem, scale: float) -> None:
    candidates = [one or seen for one, seen in zip(problem.candidates, problem.seen, strict=True)]
    scores = [[score * scale for score in row] for row in problem.scores]
    problem = problem._replace(scores=scores, candidates=candidates)
    assert_field(problem)


def assert_field(problem: Problem) -> None:
    expected = field_sweep(problem)
    report = report_of(best_of(problem, FLOATS["numpy-float64"]), "field")
    assert report.curve.bias.tolist() == expected.biases
    assert report.curve.seen.tolist() == expected.seen
    assert report.curve.unseen.tolist() == expected.unseen
    assert numbers_of(report) == close(expected.numbers)


@pytest.mark.parametrize("images", [90, 400])
def test_field_numbers_of_many_images_are_those_of_the_shared_evaluator(images: int) -> None:
    assert_field(random_problem(np.random.default_rng(images), images, 10))


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


def one_kind(kind: bool, seen: list[bool]) -> Best:
    target = seen.index(kind)
    scores = [[float(pair == target) for pair in range(len(seen))], [0.0] * len(seen)]
    return best_of(Problem(scores, [target, target], seen, [True] * len(seen)))


@pytest.mark.parametrize("sweep", czsl.SWEEPS)
@pytest.mark.parametrize(
    ("kind", "seen"), [(True, [True, False]), (False, [True, False]), (True, [True]), (False, [False])]
)
def test_what_depends_on_images_that_are_missing_is_nan(sweep: czsl.Sweep, kind: bool, seen: list[bool]) -> None:
    report = report_of(one_kind(kind, seen), sweep)
    present, missing = ("seen", "unseen") if kind else ("unseen", "seen")
    assert getattr(report, present) == getattr(report.curve, present).max()
    assert np.isnan(getattr(report.curve, missing)).all()
    assert math.isnan(getattr(report, missing))
    assert math.isnan(report.harmonic_mean)
    assert math.isnan(report.auc)


def test_without_unseen_candidates_no_bias_changes_an_answer() -> None:
    best = best_of(Problem([[1, 9], [1, 2]], [0, 0], [True, False], [True, False]))
    assert best.switch_bias.tolist() == [math.inf, math.inf]
    assert best.predictions(1e300).tolist() == [0, 0]


def test_without_seen_candidates_no_bias_is_low_enough() -> None:
    best = best_of(Problem([[9, 1], [9, 1]], [1, 1], [True, False], [False, True]))
    assert best.switch_bias.tolist() == [-math.inf, -math.inf]
    assert best.predictions(-1e300).tolist() == [1, 1]
    assert report_of(best).curve.unseen.tolist() == [1]


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
    rng, scores = np.random.default_rng(seed), LIBRARIES["torch"](problem.scores)
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


@pytest.mark.parametrize("kind", FLOATS)
def test_decisions_are_those_of_exact_arithmetic_on_the_values_of_every_type(kind: str) -> None:
    scale = 1e-3
    rng = np.random.default_rng(7)
    problem = random_problem(rng, 14, 6)
    scores = FLOATS[kind]((rng.normal(0, scale, (14, 6)) + np.array(problem.scores) * scale).tolist())
    exact = problem.with_exact(scores)
    evaluator = evaluator_of(problem)
    evaluator.update(scores)
    assert_best(evaluator.best(), exact)
    assert numbers_of(report_of(evaluator.best())) == close(dense_numbers(exact))


def test_among_equal_scores_the_lowest_index_wins_whatever_the_order_of_columns() -> None:
    seen = np.array([False, True, True, False])
    for order in ([0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]):
        for make in LIBRARIES.values():
            evaluator = Evaluator(np.array([0, 1]), seen)
            evaluator.update(make([[7.0] * 4, [7.0] * 4]), pairs=np.array(order))
            best = evaluator.best()
            assert (best.seen_pair.tolist(), best.unseen_pair.tolist()) == ([1, 1], [0, 0])
            assert best.predictions(0).tolist() == [1, 1]


def test_scores_may_require_a_gradient() -> None:
    problem = random_problem(np.random.default_rng(3), 8, 5)
    scores = FLOATS["torch-bfloat16"](problem.scores)
    assert_same(best_of(problem, lambda _: scores.requires_grad_()), best_of(problem, lambda _: scores.detach()))


@settings(deadline=None, max_examples=60)
@given(problem=problems(), value=st.sampled_from([99.0, math.nan, math.inf, -math.inf]))
def test_scores_of_pairs_that_are_no_candidates_do_not_matter(value: float, problem: Problem) -> None:
    scores = [[s if c else value for s, c in zip(row, problem.candidates, strict=True)] for row in problem.scores]
    with np.errstate(invalid="ignore"):
        assert_same(best_of(problem._replace(scores=scores)), best_of(problem))


@pytest.mark.parametrize("library", LIBRARIES)
def test_finite_scores_whose_sum_is_not_are_taken_without_a_warning(library: str) -> None:
    scores = [[60000.0, 60000.0, -60000.0], [-60000.0, -60000.0, 0.0]]
    problem = Problem(scores, [0, 2], [True, False, False], [True] * 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert_best(best_of(problem, FLOATS[f"{library}-float16"]), problem)


def test_everything_may_be_given_as_tensors() -> None:
    problem = random_problem(np.random.default_rng(4), 12, 6)
    primitives = [(pair // 2, pair % 2) for pair in range(6)]
    tensors = (torch.tensor(part) for part in (problem.targets, problem.seen, problem.candidates))
    report = czsl_report(torch.tensor(problem.scores), *tensors, primitives=torch.tensor(primitives))
    arrays = (np.array(part) for part in (problem.targets, problem.seen, problem.candidates))
    other = czsl_report(np.array(problem.scores, dtype=np.float32), *arrays, primitives=np.array(primitives))
    assert numbers_of(report) == numbers_of(other)
    assert (report.state, report.object) == (other.state, other.object)


def test_positions_may_be_lists_even_empty_ones() -> None:
    scores, evaluator = LIBRARIES["torch"](TOLD_APART.scores), evaluator_of(TOLD_APART)
    evaluator.update(scores, images=[0, 1], pairs=[0, 1])
    evaluator.update(scores[:0], images=[], pairs=[0, 1])
    evaluator.update(scores[:, :0], images=[0, 1], pairs=[])
    assert_best(evaluator.best(), TOLD_APART)


def test_what_was_found_stays_when_more_is_fed() -> None:
    evaluator = evaluator_of(TOLD_APART)
    evaluator.update(np.zeros((2, 1)), pairs=np.array([1]))
    before = evaluator.best()
    evaluator.update(np.ones((2, 2)))
    assert (before.seen_score.tolist(), before.seen_pair.tolist()) == ([-math.inf] * 2, [-1, -1])
    assert (before.unseen_score.tolist(), before.unseen_pair.tolist()) == ([0, 0], [1, 1])
    after = evaluator.best()
    assert (after.seen_score.tolist(), after.seen_pair.tolist()) == ([1, 1], [0, 0])


def test_a_report_is_that_of_an_evaluator_fed_at_once() -> None:
    problem = random_problem(np.random.default_rng(6), 30, 6)._replace(candidates=[True, True, True, True, True, False])
    problem = problem._replace(targets=[min(target, 4) for target in problem.targets])
    scores = np.array(problem.scores)
    for sweep in czsl.SWEEPS:
        report = czsl_report(scores, problem.targets, problem.seen, problem.candidates, sweep=sweep)
        expected = dense_numbers(problem.with_exact(scores)) if sweep == "dense" else field_sweep(problem).numbers
        assert numbers_of(report) == close(expected)


# errors


def update_of(scores: Any, library: str, candidates: list[bool] | None = None, **where: Any) -> None:
    evaluator = Evaluator(np.zeros(12, dtype=int), np.array([True, False, True]), candidates and np.array(candidates))
    evaluator.update(LIBRARIES[library](scores), **where)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("wrong", [math.nan, math.inf, -math.inf])
def test_the_first_image_with_a_wrong_score_is_named(library: str, wrong: float) -> None:
    scores = np.zeros((12, 3))
    scores[4, 2] = scores[5, 0] = scores[5, 1] = scores[9, 0] = wrong
    with raises(ArgumentError, code="not-finite", place="scores[4]") as error:
        update_of(scores.tolist(), library)
    assert " 3 images" in str(error.value)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_in_a_block_the_first_image_with_a_wrong_score_is_named_by_its_position_among_all() -> None:
    scores = [[0, 0], [math.nan, 0], [0, 0], [0, math.inf]]
    with raises(ArgumentError, code="not-finite", place="scores[6]"):
        update_of(scores, "torch", images=np.array([11, 8, 3, 6]), pairs=np.array([2, 0]))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_wrong_score_is_found_beside_one_that_does_not_matter() -> None:
    scores = [[0, math.nan, 0], [0, math.nan, math.nan]]
    with raises(ArgumentError, code="not-finite", place="scores[1]"):
        update_of(scores, "torch", [True, False, True], images=np.array([0, 1]))


@pytest.mark.parametrize(
    ("targets", "code", "image", "count"),
    [([0, 2, 1, 3], "no-candidate", 1, 1), ([0, 1, 4, 2], "no-pair", 2, 2), ([-1, 1, 2, 9], "no-pair", 0, 3)],
)
def test_the_first_image_whose_true_pair_cannot_be_answered_is_named(
    targets: list[int], code: str, image: int, count: int
) -> None:
    candidates = np.array([True, True, False, True])
    with raises(ArgumentError, code=code, place=f"targets[{image}]") as error:
        Evaluator(np.array(targets), np.array([True, False, True, False]), candidates)
    assert f" {count} images " in str(error.value)


WRONG_SHAPES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    ((11, 3), {}),
    ((12, 2), {}),
    ((3, 12), {}),
    ((12,), {}),
    ((12, 3, 1), {}),
    ((12, 3), {"images": np.arange(5)}),
    ((12, 3), {"pairs": np.arange(2)}),
]


@pytest.mark.parametrize(("shape", "where"), WRONG_SHAPES)
def test_scores_of_another_shape_than_images_and_pairs_say_are_refused(
    shape: tuple[int, ...], where: dict[str, Any]
) -> None:
    with raises(ArgumentError, code="wrong-shape", place="scores"):
        update_of(np.zeros(shape).tolist(), "numpy", **where)


@pytest.mark.parametrize(("seen", "candidates"), [((3,), (2,)), ((3, 1), (3, 1)), ((), ())])
def test_seen_and_candidates_have_one_flag_for_each_pair(seen: tuple[int, ...], candidates: tuple[int, ...]) -> None:
    with raises(ArgumentError, code="wrong-shape", place="seen and candidates"):
        Evaluator(np.array([0]), np.ones(seen, dtype=bool), np.ones(candidates, dtype=bool))


@pytest.mark.parametrize("wrong", [np.array([0.0, 1.0]), np.array([True, False])])
def test_positions_that_are_no_integers_are_refused(wrong: np.ndarray) -> None:
    evaluator = evaluator_of(TOLD_APART)
    for name in ("images", "pairs"):
        with raises(ArgumentError, code="no-integers", place=name):
            evaluator.update(np.ones((2, 2)), **{name: wrong})
    with raises(ArgumentError, code="no-integers", place="targets"):
        Evaluator(wrong, np.array([True, False]))


@pytest.mark.parametrize("wrong", [-1, 2])
def test_positions_outside_are_refused(wrong: int) -> None:
    evaluator = Evaluator([0, 1], [True, False])
    with raises(ArgumentError, code="out-of-range", place="images"):
        evaluator.update(np.zeros((1, 2)), images=[wrong])
    with raises(ArgumentError, code="out-of-range", place="pairs"):
        evaluator.update(np.zeros((2, 1)), pairs=[wrong])
