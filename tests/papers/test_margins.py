"""The margins of claims against what the papers printed, read here once more by plain loops."""

import csv
import re

import pytest

from recompose.papers.declaration import FOLDER, Claim, Paper, all_papers

CLAIMS = [
    pytest.param(paper, claim, id=f"{paper.name}/{name}")
    for paper in all_papers()
    for name, claim in paper.claims.items()
]
NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def printed_numbers(paper: Paper, table: str) -> list[list[float | None]]:
    """Return the printed rows, shares as percentages; None for what is no number."""
    path = FOLDER / paper.name / "reported" / f"{table}.csv"
    scale = 100 if paper.name == "crest" and table == "table-2" else 1
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    return [[scale * float(match[0]) if (match := NUMBER.match(text)) else None for text in row] for row in rows]


@pytest.mark.parametrize(("paper", "claim"), CLAIMS)
def test_a_margin_is_half_of_a_printed_improvement_a_point_or_follows_from_the_words(
    paper: Paper, claim: Claim
) -> None:
    source, value = claim.margin.source, claim.margin.value
    if source.startswith("half of "):
        half = float(NUMBER.search(source).group()) / 2  # type: ignore[union-attr]
        assert value == pytest.approx(half, rel=0.02)
    elif source.startswith("1 point"):
        assert value in (1.0, 0.01)
    else:
        assert source.startswith(("by its words", "that of ", "0.1 s: "))
    assert claim.kept == source.startswith("by its words")


@pytest.mark.parametrize(("paper", "claim"), CLAIMS)
def test_the_improvements_of_a_margin_are_differences_of_two_printed_numbers(paper: Paper, claim: Claim) -> None:
    match = re.match(r"half of (\S+) in (table-\d+)(?: with BLIP)?(?:, mean of (.*))?$", claim.margin.source)
    if not match or claim.gain or claim.beyond:
        return
    improvements = [float(text) for text in (match[3] or match[1]).split(", ")]
    rows = printed_numbers(paper, match[2])
    columns = [list(column) for column in zip(*rows, strict=True)]
    numbers = [[number for number in line if number is not None] for line in (*rows, *columns)]
    differences = {round(first - second, 2) for line in numbers for first in line for second in line}
    assert set(improvements) <= differences
    assert float(match[1]) == pytest.approx(sum(improvements) / len(improvements), abs=0.006)
