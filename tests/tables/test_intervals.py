"""Tables of means with their confidence intervals."""

from statistics import mean, stdev

from scipy.stats import t as student

from recompose.papers.declaration import Artifact, Paper
from recompose.tables.measured import intervals
from tests.tables.fakes import Fake, by_cell, by_seed

COMP = "test/comp"


def found(*values: float, missing: int = 0) -> dict[tuple[str, str], str]:
    artifact = Artifact(kind="intervals", caption="", rows={"A": "a"}, columns={"Comp": COMP})
    paper = Paper(name="p", title="", authors="", venue="", track="vlc", datasets={}, artifacts={"t": artifact})
    results = Fake(
        {"a": {"d": by_seed(*({COMP: value} for value in values))}}, {("a", "d", seed) for seed in range(missing)}
    )
    cells = by_cell(intervals(results, paper, "t"))  # type: ignore[arg-type]
    return {(row, column): cell.text for (row, column, _), cell in cells.items()}


def test_intervals_are_student_s_over_seeds_in_percent() -> None:
    values = [0.712, 0.709, 0.711, 0.708, 0.710]
    half = student.ppf(0.975, 4) * 100 * stdev(values) / 5**0.5
    middle = 100 * mean(values)
    assert found(*values) == {
        ("A", "d Comp"): "71.0 ± 0.2",
        ("A, interval from", "d Comp"): f"{middle - half:.2f}",
        ("A, interval to", "d Comp"): f"{middle + half:.2f}",
    }


def test_one_seed_has_no_interval_and_none_no_number() -> None:
    assert found(0.5) == {("A", "d Comp"): "50.0"}
    assert found(0.5, 0.6, missing=1) == {("A", "d Comp"): "60.0"}
    assert found(0.5, missing=1) == {("A", "d Comp"): "not run"}
