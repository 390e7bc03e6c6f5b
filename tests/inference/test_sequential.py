"""Looks against hand-made tests, and the errors of whole simulated studies."""

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from benchmarks.studies import MARGIN, NOISES, Studies, errors, promises, sample
from recompose.allocation.next_stage import Budget, OpenComparison, first_stage, next_stage
from recompose.errors import ArgumentError
from recompose.exhibits.metric import Metric
from recompose.inference.correction import holm
from recompose.inference.estimates import ALPHA, paired
from recompose.inference.sequential import Looks, look_at
from recompose.report.claims.differences import difference
from recompose.report.claims.price import OpenTests, question_of
from recompose.report.claims.sides import Side
from recompose.report.claims.verdicts import (
    NEGLIGIBLE,
    REVERSED,
    SUPPORTED,
    UNDECIDED,
    ClaimComparison,
    Correction,
    TestedComparison,
    p_beyond,
)
from tests.errors import raises

pytestmark = pytest.mark.slow

LOOKS = Looks((4, 8, 12, 16, 24))
METRIC = Metric("", 1.0, 1, 1)


def test_shares_add_up_to_one_and_later_looks_get_more() -> None:
    for looks in (LOOKS, Looks((20,)), Looks((6, 12, 18, 24, 30))):
        assert sum(looks.shares) == pytest.approx(1)
        assert list(looks.shares) == sorted(looks.shares)


@pytest.mark.parametrize("sizes", [(), (1, 4), (4, 4), (8, 4), (2, 3, 4, 5, 6, 7)])
def test_looks_rise_from_two_and_are_five_at_most(sizes: tuple[int, ...]) -> None:
    with raises(ArgumentError, place="looks"):
        Looks(sizes)


def test_before_the_first_look_there_is_no_test() -> None:
    assert look_at([1.0, 2.0, 3.0], LOOKS) is None
    assert LOOKS.reached(15) == (4, 8, 12)


def test_without_declared_looks_it_is_the_ordinary_test() -> None:
    differences = [1.0, 2.5, 2.0, 2.5]
    test, estimate = look_at(differences), paired(differences)
    assert test is not None
    assert (test.value, test.interval) == (estimate.value, estimate.interval())
    assert (test.p_zero(), test.p_within(3.0)) == ((estimate.p_zero(), True), estimate.p_within(3.0))


draws = st.lists(st.floats(-3, 5).map(lambda value: round(value, 3)), min_size=4, max_size=24)


@settings(deadline=None, max_examples=60)
@given(draws, st.floats(0.2, 4))
def test_a_test_at_looks_is_made_of_tests_of_the_first_replicates(differences: list[float], margin: float) -> None:
    looks = Looks((4, 8, 24))
    test = look_at(differences, looks)
    shares = [(size, share) for size, share in zip(looks.sizes, looks.shares, strict=True) if size <= len(differences)]
    parts = [(paired(differences[:size]), share) for size, share in shares]
    assert test is not None
    assert test.value == parts[-1][0].value
    assert test.p_zero()[0] == min(min(1, part.p_zero() / share) for part, share in parts)
    assert test.p_within(margin) == min(min(1, part.p_within(margin) / share) for part, share in parts)
    assert test.p_beyond(margin) == min(min(1, part.p_beyond(margin) / share) for part, share in parts)
    low, high = test.interval
    ends = [part.interval(1 - ALPHA * share) for part, share in parts]
    common = max(end for end, _ in ends), min(end for _, end in ends)
    assert (low, high) == (common if common[0] <= common[1] else ends[-1])


@settings(deadline=None, max_examples=40)
@given(draws)
def test_further_looks_only_lower_a_p(differences: list[float]) -> None:
    looks = Looks((4, 8, 24))
    tests = [look_at(differences[:count], looks) for count in range(4, len(differences) + 1)]
    p_values = [test.p_zero()[0] for test in tests if test]
    assert p_values == sorted(p_values, reverse=True)


def staged(differences: np.ndarray, looks: Looks, is_kept: np.ndarray, budget: int) -> list[str]:
    """Return the verdicts of a study [comparisons, replicates] that the package runs, stage by stage."""
    names = [f"m{number:02d}" for number in range(len(differences))]
    comparisons = [
        ClaimComparison("m", name, "base", MARGIN, bool(kept)) for name, kept in zip(names, is_kept, strict=True)
    ]
    costs = Budget({"t": {name: {f"run {name}": 1.0} for name in names}})
    hours = budget / 3600
    stages = [first_stage({"t": names}, {"t": looks}, costs, hours)]
    while True:
        tested = corrected_tests(differences, comparisons, looks, stages[-1].replicates["t"])
        open_tests = OpenTests.count(tested)
        undecided = [
            OpenComparison(
                comparison.higher,
                "t",
                (comparison.higher,),
                result.difference.value or 0.0,
                question_of(comparison, open_tests, result.difference.spread or 0.0),
                result.difference.n,
            )
            for comparison, result in tested.items()
            if result.verdict == UNDECIDED
        ]
        stage = next_stage(undecided, {"t": looks}, costs, stages, hours)
        if stage is None:
            return [tested[comparison].verdict for comparison in comparisons]
        stages.append(stage)


def corrected_tests(
    differences: np.ndarray, comparisons: list[ClaimComparison], looks: Looks, counts: Mapping[str, int]
) -> dict[ClaimComparison, TestedComparison]:
    """Test the first replicates of each comparison against a constant, and correct the tests."""
    results = [
        difference(
            Side(comparison.higher, dict(enumerate(values[: counts[comparison.higher]].tolist()))),
            Side("base", {0: 0.0}, is_constant=True),
            looks,
        )
        for comparison, values in zip(comparisons, differences, strict=True)
    ]
    beyond = holm([p_beyond(*pair) for pair in zip(comparisons, results, strict=True)])
    within = holm([result.test.p_within(MARGIN) for result in results if result.test])
    return {
        comparison: TestedComparison(comparison, result, METRIC, ("m",), Correction(*p, len(results), len(results)))
        for comparison, result, *p in zip(comparisons, results, beyond, within, strict=True)
    }


@pytest.mark.parametrize("noise", NOISES)
def test_the_arrays_of_the_benchmark_are_studies_of_the_package(noise: str) -> None:
    """Run the same studies by both: looks, correction, verdicts, and the choice of each stage under a budget."""
    truth, is_kept = np.array([0.0, 0.0, 0.4, 0.4, MARGIN, MARGIN, 1.5, -1.5]), np.arange(8) % 4 == 1
    budget, looks = 8 * 13, Looks((4, 8, 12, 18, 24))
    samples = sample(np.random.default_rng(3), NOISES[noise], truth, 7, looks.sizes[-1])
    study = Studies(samples, looks.sizes, np.full(8, MARGIN), is_kept, points=400).run(budget)
    verdicts = [[(UNDECIDED, SUPPORTED, REVERSED, NEGLIGIBLE)[code] for code in row] for row in study.verdicts()]
    assert verdicts == [staged(differences, looks, is_kept, budget) for differences in samples]
    assert len(np.unique(verdicts)) == 4 or noise != "normal"


@pytest.mark.parametrize("sizes", [(4, 8, 12, 18, 24), (8, 24, 40)])
@pytest.mark.parametrize("true_nulls", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("noise", ["normal", "heavy-tailed"])
def test_whole_studies_err_no_more_often_than_promised(noise: str, true_nulls: float, sizes: tuple[int, ...]) -> None:
    """Run 2,000 studies. Skewed replicates err more often: docs/results-and-performance.md has their numbers."""
    wrong, _ = errors(NOISES[noise], sizes, true_nulls, 2_000, np.random.default_rng(1), comparisons=8)
    assert wrong.max() < ALPHA + 3 * np.sqrt(ALPHA * (1 - ALPHA) / 2_000)


@pytest.mark.parametrize("sizes", [None, (4, 8, 12, 18, 24)])
def test_a_price_decides_as_often_as_promised(sizes: tuple[int, ...] | None) -> None:
    promised, alone, together, _ = promises(NOISES["normal"], 10, sizes, 2_000)
    assert alone == pytest.approx(promised, abs=0.02)
    assert together > promised
