"""The reports that are kept in git make sense: they are the demo's, and its methods stand where they should."""

import csv

import pytest

from recompose.papers.declaration import load_paper
from tests.conftest import ROOT

REPORTS = ROOT / "reports/demo"
VIEWS = [("table-2.csv", "exact"), ("table-2.csv", "field"), ("table-3.csv", "all-pairs")]  # with chance


def measured(table: str, view: str) -> dict[tuple[str, str], float]:
    with (REPORTS / "msci" / table).open(newline="") as file:
        return {(row["row"], row["column"]): float(row["value"]) for row in csv.DictReader(file) if row["view"] == view}


@pytest.mark.parametrize(("table", "view"), VIEWS)
def test_clip_is_well_above_chance_and_well_below_csp(table: str, view: str) -> None:
    values = measured(table, view)
    chance, clip, csp = (values[row, "shapes-pairs AUC"] for row in ("chance", "CLIP", "CSP"))
    assert clip > 5 * chance
    assert csp > clip


@pytest.mark.parametrize(("table", "view"), VIEWS)
def test_no_accuracy_is_at_its_floor_or_ceiling(table: str, view: str) -> None:
    values, rows = measured(table, view), load_paper("msci").artifacts[table.removesuffix(".csv")].rows
    assert set(values) == {(row, f"shapes-pairs {column}") for row in rows for column in ("S", "U", "H", "AUC")}
    assert all(0 < value < 95 for value in values.values())


@pytest.mark.parametrize("factor", ["state", "object"])
def test_the_best_methods_tell_most_of_the_factors(factor: str) -> None:
    shares = sorted(value for (_, column), value in measured("factors.csv", "").items() if column.endswith(factor))
    assert 50 < shares[-1] < 95


def test_methods_are_compared_by_intervals_that_hold_the_difference() -> None:
    with (REPORTS / "msci/comparisons.csv").open(newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["view"] == "closed" and "(" in row["text"]]
    assert rows
    for row in rows:
        low, high = map(float, row["text"].partition("(")[2].rstrip(")").split(" to "))
        assert low <= float(row["value"]) <= high, row


def test_sampled_biases_never_see_more_than_all_of_them() -> None:
    exact, field = measured("table-2.csv", "exact"), measured("table-2.csv", "field")
    assert exact.keys() == field.keys()
    # not AUC: chords between few points of a staircase can run above it
    assert all(field[cell] <= exact[cell] + 1e-4 for cell in exact if not cell[1].endswith("AUC"))


def test_calibration_leaves_seen_accuracy_alone() -> None:
    calibrated, free = measured("table-3.csv", "exact"), measured("table-3.csv", "all-pairs")
    assert {row for row, _ in free} - {row for row, _ in calibrated} == {"chance"}
    assert all(value == free[row, column] for (row, column), value in calibrated.items() if column.endswith(" S"))


def test_no_watermark_stands_on_what_is_kept() -> None:
    for path in (REPORTS / "msci").glob("*.md"):
        assert "\n> " not in path.read_text(), path
