"""Cells of means and of their intervals, and expectations of them."""

from statistics import mean, stdev

import pytest
from scipy.stats import t as student

from recompose.parts.expectations import Above, Expectation, mean_of
from recompose.tables.measured import intervals, metrics
from recompose.tracks import TRACKS
from tests.tables.fakes import AUC, Fake, by_cell, by_seed, paper_of

COMP = "test/comp"


def shown_texts(*values: float, missing: int = 0) -> dict[tuple[str, str], str]:
    paper = paper_of(kind="intervals", rows={"A": "a"}, columns={"Comp": COMP}).model_copy(update={"track": "vlc"})
    results = Fake(
        {"a": {"d": by_seed(*({COMP: value} for value in values))}}, {("a", "d", seed) for seed in range(missing)}
    )
    cells = by_cell(intervals(results, paper, "table-1"))  # type: ignore[arg-type]
    return {(row, column): cell.text for (row, column, _), cell in cells.items()}


def test_intervals_are_student_s_over_seeds_in_percent() -> None:
    values = [0.712, 0.709, 0.711, 0.708, 0.710]
    half = student.ppf(0.975, 4) * 100 * stdev(values) / 5**0.5
    middle = 100 * mean(values)
    assert shown_texts(*values) == {
        ("A", "d Comp"): "71.0 ± 0.2",
        ("A, interval from", "d Comp"): f"{middle - half:.2f}",
        ("A, interval to", "d Comp"): f"{middle + half:.2f}",
    }


def test_one_seed_has_no_interval_and_none_no_number() -> None:
    assert shown_texts(0.5) == {("A", "d Comp"): "50.0"}
    assert shown_texts(0.5, 0.6, missing=1) == {("A", "d Comp"): "60.0"}
    assert shown_texts(0.5, missing=1) == {("A", "d Comp"): "not run"}


def test_means_are_over_what_is_there() -> None:
    results = Fake({"clip": {"d": by_seed(20, 40)}}, missing={("clip", "d", 1)})
    assert mean_of(results, "czsl", "clip", AUC, "d") == pytest.approx(0.2)
    assert mean_of(results, "czsl", "csp", AUC, "d") is None


def test_a_method_that_is_not_above_is_named_and_an_equal_one_is_not_above() -> None:
    results = Fake({"clip": {"d": by_seed(20)}, "csp": {"d": by_seed(30)}, "coop": {"d": by_seed(20)}})
    found = list(Above("all are above", AUC, ("csp", "coop"), than="clip").check(results, "czsl"))
    assert found == [Expectation("all are above on d (not coop)", holds=False)]


def test_nothing_is_said_of_what_is_not_measured_and_each_benchmark_is_said_of() -> None:
    results = Fake({"clip": dict.fromkeys("def", by_seed(20)), "csp": {"d": by_seed(10), "e": by_seed(30)}})
    found = Above("above", AUC, ("csp",), than="clip").check(results, "czsl")
    assert [each.holds for each in found] == [False, True]


@pytest.mark.parametrize(("accuracy", "holds"), [(0.25, False), (0.26, True)])
def test_chance_is_one_in_so_many_unseen_classes(accuracy: float, holds: bool) -> None:
    results = Fake({"eszsl": {"d": by_seed({"test/accuracy": accuracy})}}, counts={"unseen_classes": 4})
    (check,) = TRACKS["gzsl"].expectations
    assert [expectation.holds for expectation in check.check(results, "gzsl")] == [holds]


H = "test/closed/dense/harmonic_mean"


def test_a_row_without_any_of_the_measures_has_no_cell() -> None:
    results = Fake({"csp": {"d": by_seed({H: 0.3})}, "clip": {"d": by_seed({AUC: 0.1})}, "coop": {"d": by_seed({})}})
    results.missing = {("coop", "d", 0)}
    paper = paper_of(kind="metrics", rows={"CSP": "csp", "CLIP": "clip"}, columns={"H": H})
    cells = list(metrics(results, paper, "table-1"))  # type: ignore[arg-type]
    assert [cell.row for cell in cells] == ["CSP"]
