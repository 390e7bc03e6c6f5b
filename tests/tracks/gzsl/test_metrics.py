"""Per-class accuracies, their harmonic mean and the curve over biases against plain loops in exact arithmetic."""

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.metrics import ClassReport, best_bias, gzsl_report, seen_unseen_curve
from recompose.tracks.seen_unseen import area
from tests.arrays import MAKERS
from tests.errors import raises
from tests.tracks.czsl.metrics.derivations import area as area_by_trapezoids


class Problem(NamedTuple):
    """Scores [images][classes], the class of each image, and whether each class is seen."""

    scores: list[list[Any]]
    targets: list[int]
    seen: list[bool]

    @property
    def arrays(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        scores = np.array(self.scores, dtype=np.float64).reshape(len(self.targets), len(self.seen))
        return scores, np.array(self.targets, dtype=np.int64), np.array(self.seen)


@st.composite
def problems(draw: st.DrawFn, both_kinds: bool = False) -> Problem:
    """Small integers as scores, so that ties are frequent; classes without images, and of one kind, happen."""
    seen = draw(st.lists(st.booleans(), min_size=1, max_size=5))
    if both_kinds:
        seen += [True, False]
    targets = draw(st.lists(st.integers(0, len(seen) - 1), min_size=1, max_size=8))
    if both_kinds:
        targets += [len(seen) - 2, len(seen) - 1]
    row = st.lists(st.integers(-3, 3), min_size=len(seen), max_size=len(seen))
    return Problem([draw(row) for _ in targets], targets, seen)


def answer(row: list[Any], allowed: list[int], seen: list[bool], bias: Any) -> int:
    """The first of the allowed classes whose score, with the bias where it is unseen, no other exceeds."""
    best = allowed[0]
    for one in allowed:
        if row[one] + (0 if seen[one] else bias) > row[best] + (0 if seen[best] else bias):
            best = one
    return best


def accuracy(problem: Problem, answers: list[int], kind: bool) -> Fraction | None:
    """The mean over classes of that kind with images of the share that is right."""
    shares = []
    for one in range(len(problem.seen)):
        images = [image for image, target in enumerate(problem.targets) if target == one]
        if problem.seen[one] == kind and images:
            shares.append(Fraction(sum(answers[image] == one for image in images), len(images)))
    return sum(shares, Fraction(0)) / len(shares) if shares else None


def accuracies(problem: Problem, bias: Any) -> tuple[Fraction | None, Fraction | None]:
    """Those of seen and of unseen classes at a bias."""
    everything = list(range(len(problem.seen)))
    answers = [answer(row, everything, problem.seen, bias) for row in problem.scores]
    return accuracy(problem, answers, True), accuracy(problem, answers, False)


def harmonic(seen: Fraction | None, unseen: Fraction | None) -> Fraction | None:
    if seen is None or unseen is None:
        return None
    return 2 * seen * unseen / (seen + unseen) if seen + unseen else Fraction(0)


def report_by_loops(problem: Problem, bias: Any) -> list[Fraction | None]:
    seen, unseen = accuracies(problem, bias)
    novel = [one for one, is_seen in enumerate(problem.seen) if not is_seen]
    alone = accuracy(problem, [answer(row, novel, problem.seen, 0) for row in problem.scores], False) if novel else None
    return [unseen, seen, harmonic(seen, unseen), alone]


def turns(problem: Problem) -> list[Any]:
    """Every difference of a seen and an unseen score of an image: at no other bias can a prediction change."""
    kinds = problem.seen
    pairs = [(a, b) for a in range(len(kinds)) for b in range(len(kinds)) if kinds[a] and not kinds[b]]
    return sorted({row[a] - row[b] for row in problem.scores for a, b in pairs})


def probes(problem: Problem) -> list[Any]:
    """A bias between any two turns, and one below and above all of them."""
    changes = turns(problem)
    return [changes[0] - 1, *(Fraction(a + b) / 2 for a, b in pairwise(changes)), changes[-1] + 1] if changes else [0]


def numbers(report: ClassReport) -> list[float]:
    return [report.unseen, report.seen, report.harmonic_mean, report.accuracy]


def assert_same(given: list[float], expected: list[Fraction | None]) -> None:
    assert given == pytest.approx([math.nan if one is None else float(one) for one in expected], abs=1e-12, nan_ok=True)


@given(problems(), st.sampled_from(list(MAKERS)), st.integers(-4, 4))
def test_a_report_is_what_loops_count(problem: Problem, maker: str, bias: int) -> None:
    given_report = gzsl_report(MAKERS[maker](problem.scores), np.array(problem.targets), np.array(problem.seen), bias)
    assert_same(numbers(given_report), report_by_loops(problem, bias))


@given(problems())
def test_a_curve_is_what_loops_count_between_and_beyond_all_turns(problem: Problem) -> None:
    curve = seen_unseen_curve(*problem.arrays)
    assert np.all(np.diff(curve.bias) > 0) and set(curve.bias[1:]) <= set(map(float, turns(problem)))
    for bias in probes(problem):
        point = int(np.searchsorted(curve.bias, float(bias))) - 1
        assert_same([curve.seen[point], curve.unseen[point]], list(accuracies(problem, bias)))


@given(problems(both_kinds=True))
def test_the_area_is_that_of_trapezoids(problem: Problem) -> None:
    points = [accuracies(problem, bias)[::-1] for bias in probes(problem)]
    expected = area_by_trapezoids(points)  # type: ignore[arg-type]
    assert area(seen_unseen_curve(*problem.arrays)) == pytest.approx(float(expected), abs=1e-12)


@given(problems(both_kinds=True))
def test_the_best_bias_is_the_middle_of_the_widest_of_the_best_intervals(problem: Problem) -> None:
    changes, points = turns(problem), [accuracies(problem, bias) for bias in probes(problem)]
    best = max(harmonic(*point) for point in points)  # type: ignore[type-var]
    intervals: list[list[Any]] = []  # of equal accuracies that are best: start and end
    for place in range(1, len(points) - 1):  # below and above all turns the harmonic mean is 0
        if harmonic(*points[place]) == best and points[place] == points[place - 1] and intervals:
            intervals[-1][1] = changes[place]
        elif harmonic(*points[place]) == best:
            intervals.append([changes[place - 1], changes[place]])
    widest = max((end - start for start, end in intervals), default=0)
    middles = [float(Fraction(start + end) / 2) for start, end in intervals if end - start == widest]
    bias = best_bias(*problem.arrays)
    assert bias == (middles[0] if best else 0.0)
    if best:
        assert gzsl_report(*problem.arrays, bias=bias).harmonic_mean == pytest.approx(float(best))


@pytest.mark.parametrize(("switches", "bias"), [([0, 1, 2, 5], 3.5), ([0, 3, 4, 5], 1.5), ([0, 2, 3, 5], 1.0)])
def test_of_equally_good_intervals_the_widest_is_taken_and_then_the_lowest(switches: list[int], bias: float) -> None:
    """Images of an unseen, a seen, an unseen and a seen class change in turn: after the first and the third change
    H is 2/3, and between the second and the third it is lower.
    """
    scores = np.array([[float(switch), 0.0] for switch in switches])
    assert best_bias(scores, np.array([1, 0, 1, 0]), np.array([True, False])) == bias


def test_a_kind_without_images_has_no_number() -> None:
    scores, seen = np.array([[1.0, 0.0]]), np.array([True, False])
    report = gzsl_report(scores, np.array([0]), seen)
    assert report.seen == 1 and all(map(math.isnan, [report.unseen, report.harmonic_mean, report.accuracy]))
    curve = seen_unseen_curve(scores, np.array([0]), seen)
    assert np.isnan(curve.unseen).all() and curve.seen.tolist() == [1, 0] and math.isnan(area(curve))
    with raises(ArgumentError, place="targets"):
        best_bias(scores, np.array([0]), seen)


SCORES, TARGETS, SEEN = np.zeros((2, 3)), np.array([0, 2]), np.array([True, True, False])


@pytest.mark.parametrize(
    ("scores", "targets", "seen", "code", "argument"),
    [
        (SCORES[:1], TARGETS, SEEN, "wrong-shape", "scores"),
        (np.array([[0, 0, 0], [0, np.nan, 0]]), TARGETS, SEEN, "not-finite", "scores"),
    ],
)
def test_bad_input_is_named(scores: Any, targets: Any, seen: Any, code: str, argument: str) -> None:
    for function in (gzsl_report, seen_unseen_curve):
        with raises(ArgumentError, code, place=argument):
            function(scores, targets, seen)
