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
def test_clip_is_well_above_chance_and_below_csp_and_nothing_is_at_its_floor_or_ceiling(table: str, view: str) -> None:
    values, rows = measured(table, view), load_paper("msci").artifacts[table.removesuffix(".csv")].rows
    chance, clip, csp = (values[row, "shapes-pairs AUC"] for row in ("chance", "CLIP", "CSP"))
    assert clip > 5 * chance
    assert csp > clip
    assert set(values) == {(row, f"shapes-pairs {column}") for row in rows for column in ("S", "U", "H", "AUC")}
    assert all(0 < value < 95 for value in values.values())
