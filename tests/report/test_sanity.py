"""The reports that are kept in git make sense: they are the demo's, and its methods stand where they should."""

import csv

import pytest

from tests.conftest import ROOT


def measured(table: str) -> dict[tuple[str, str], float]:
    with (ROOT / "reports/msci" / table).open(newline="") as file:
        return {
            (row["row"], row["column"]): float(row["value"])
            for row in csv.DictReader(file)
            if row["source"] == "measured"
        }


@pytest.mark.parametrize("table", ["table-2.csv", "table-3.csv"])
def test_clip_is_well_above_chance_and_well_below_csp(table: str) -> None:
    values = measured(table)
    chance, clip, csp = (values[row, "shapes-pairs AUC"] for row in ("chance", "CLIP", "CSP"))
    assert clip > 10 * chance
    assert csp > 2 * clip


@pytest.mark.parametrize("table", ["table-2.csv", "table-3.csv"])
def test_no_accuracy_is_at_its_floor_or_ceiling(table: str) -> None:
    values = measured(table)
    assert len(values) == 4 * 4
    assert all(0 < value < 95 for value in values.values())


def test_no_watermark_stands_on_what_is_kept() -> None:
    for path in (ROOT / "reports/msci").glob("*.md"):
        assert "\n> " not in path.read_text(), path
