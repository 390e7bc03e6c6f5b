"""Where the numbers of a sweep stand on its axis."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from recompose.papers.declaration import Artifact, Paper
from recompose.tables.style import NumbersOnly, Sheet
from recompose.tables.table import draw
from tests.tables.fakes import Fake, by_seed

H = "test/closed/dense/harmonic_mean"


def sweep(stem: Path, *numbers: str, sheet: type[Sheet] = Sheet, columns: dict[str, str] | None = None) -> Any:
    """Drawn from methods that are called by their number; the sheet."""
    measured = {number: {"d": by_seed({H: 0.2}, {H: 0.3})} for number in numbers}
    rows = {number: number for number in numbers}
    artifact = Artifact(kind="sweep", caption="", x_label="weight", columns=columns or {"H": H}, rows=rows)
    paper = Paper(name="p", title="", authors="", venue="", track="czsl", datasets={}, artifacts={"figure-1": artifact})
    drawn = sheet(stem, "", [])
    draw(Fake(measured), paper, "figure-1", drawn)  # type: ignore[arg-type]
    return drawn


def places(svg: Path, *numbers: str) -> list[float]:
    """How far right the labels of ticks stand."""
    lines = svg.read_text().splitlines()
    found = {line.split(">")[1].split("<")[0]: line for line in lines if "<text" in line and "x=" in line}
    return [float(found[number].split('x="')[1].split('"')[0]) for number in numbers]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("numbers", "steps"),
    [(("0", "0.1", "0.2", "0.4"), (1, 1, 2)), (("0.0001", "0.001", "0.01", "0.1"), (1, 1, 1))],
)
def test_numbers_of_several_magnitudes_stand_by_their_logarithm(
    tmp_path: Path, numbers: tuple[str, ...], steps: tuple[int, ...]
) -> None:
    sweep(tmp_path / "figure", *numbers)
    found = places(tmp_path / "figure.svg", *numbers)
    widths = [right - left for left, right in pairwise(found)]
    assert [width / widths[0] for width in widths] == pytest.approx([float(step) for step in steps], rel=1e-3)


def test_the_numbers_beside_a_sweep_are_those_of_each_run(tmp_path: Path) -> None:
    lines = sweep(tmp_path / "figure", "0", "0.0001", sheet=NumbersOnly).numbers[0].splitlines()
    assert lines[0] == "dataset,x,seed,H"
    assert lines[1:] == ["d,0.0000,0,20.0000", "d,0.0000,1,30.0000", "d,0.0001,0,20.0000", "d,0.0001,1,30.0000"]


def test_a_measure_that_there_is_not_is_no_point(tmp_path: Path) -> None:
    columns = {"AUC": "test/closed/dense/auc", "H": H}
    lines = sweep(tmp_path / "figure", "0", "1", sheet=NumbersOnly, columns=columns).numbers[0].splitlines()
    assert lines == [
        "dataset,x,seed,AUC,H",
        *(f"d,{x}.0000,{s},,{h}.0000" for x in (0, 1) for s, h in ((0, 20), (1, 30))),
    ]
