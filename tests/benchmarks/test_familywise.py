"""The table of wrong verdicts in the documentation is what its simulation gives."""

import re
from pathlib import Path

import pytest

from benchmarks.familywise import REPLICATES, SHAPES, smallest_of_studies
from recompose.claims.estimates import ALPHA, FAMILY_ALPHA, FEWEST

PAGE = Path(__file__).parents[2] / "docs/explanation/claims-and-statistics.md"
ROWS = ("normal", "skewed as measured", "skewness 0.5", "skewness 1", "heavy tails")  # in the order of the shapes


def shares_of(row: str) -> list[list[float]]:
    """The numbers of replicates of a row, and the shares in per cent at both levels."""
    (line,) = re.findall(rf"^\| {row}\b.*$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    return [[float(number) for number in re.findall(r"[\d.]+", cell)] for cell in line.split("|")[2:5]]


@pytest.mark.slow
@pytest.mark.parametrize(("row", "shape"), [*zip(ROWS, SHAPES, strict=True)])
def test_the_documentation_says_how_often_verdicts_are_wrong_at_each_number_of_replicates(row: str, shape: str) -> None:
    replicates, at_alpha, at_family_alpha = shares_of(row)
    assert (replicates, replicates[0]) == ([*REPLICATES], FEWEST)
    for count, *shares in zip(REPLICATES, at_alpha, at_family_alpha, strict=True):
        smallest = smallest_of_studies(shape, 1.0, count)
        simulated = [100 * float((smallest < level).mean()) for level in (ALPHA, FAMILY_ALPHA)]
        assert shares == pytest.approx(simulated, abs=0.051)  # they are printed with one digit
