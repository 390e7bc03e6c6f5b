"""The margins of claims against what the papers printed, read here once more by plain loops."""

import csv
from decimal import Decimal

import pytest

from recompose.papers.declaration import FOLDER, Claim, Paper, all_papers

CLAIMS = [(paper, name, claim) for paper in all_papers() for name, claim in paper.claims.items()]
FROM_CELLS = [pytest.param(*each, id=f"{each[0].name}/{each[1]}") for each in CLAIMS if each[2].margin.half_of]
FROM_WORDS = [pytest.param(*each, id=f"{each[0].name}/{each[1]}") for each in CLAIMS if not each[2].margin.half_of]
Printed = dict[str, dict[str, str]]
# claims whose margin names a row or a column that is not measured under its printed name: whose rows the paper prints
# under other names, on other backbones, or for another attribution; whose columns are gains
ELSEWHERE = {
    "other-backbones-gain",
    "codebook-helps",
    "graph-helps",
    "graph-helps-unseen-pairs",
    "graph-helps-seen-pairs",
    "graph-helps-unseen-more-than-seen",
    "objects-lead-by-attention",
    "objects-lead-by-perturbation",
    "objects-lead-by-gradient",
    "retrieval-of-images-gains-more",
}


def printed(paper: Paper, table: str) -> Printed:
    """Return the printed texts: row -> column -> text."""
    path = FOLDER / paper.name / "reported" / f"{table}.csv"
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["row"]: row for row in csv.DictReader(file)}


def decimal(text: str) -> Decimal | None:
    """Return the number before a spread; None for what is no number."""
    first = text.partition(" ± ")[0]
    return Decimal(first) if any(character.isdigit() for character in first) else None


def columns_of(paper: Paper, table: Printed, cell: list[str]) -> list[str]:
    """Return the columns that a cell of a margin stands for: its own, that of each data set, or all of its row."""
    columns = [column for column in next(iter(table.values())) if column != "row"]
    ends = {f"{dataset} {cell[1]}" for dataset in paper.datasets} | {cell[1]} if len(cell) > 1 else set(columns)
    return [column for column in columns if column in ends]


def half(paper: Paper, claim: Claim) -> Decimal:
    """Return half of the mean difference of a margin's cells, exactly."""
    table, cells = printed(paper, claim.artifact), claim.margin.half_of
    differences = []
    for titles in zip(*(columns_of(paper, table, cell) for cell in cells), strict=True):
        numbers = [decimal(table[cell[0]][title]) for cell, title in zip(cells, titles, strict=True)]
        if None not in numbers:
            gains = [a - b for a, b in zip(numbers[::2], numbers[1::2], strict=True)]  # type: ignore[operator]
            differences.append(gains[0] - sum(gains[1:]))
    scale = 100 if (paper.name, claim.artifact) == ("crest", "table-2") else 1
    return scale * sum(differences, Decimal()) / len(differences) / 2


@pytest.mark.parametrize(("paper", "name", "claim"), FROM_CELLS)
def test_a_margin_is_half_of_the_difference_of_its_printed_cells_or_a_point(
    paper: Paper, name: str, claim: Claim
) -> None:
    value, exact = Decimal(str(claim.margin.value)), half(paper, claim)
    if exact <= 0:
        assert value == 1
        return
    third_digit = Decimal(1).scaleb(exact.adjusted() - 2)
    assert abs(value - exact) <= third_digit / 2
    assert value % third_digit == 0


def compared(claim: Claim) -> list[tuple[set[str], str]]:
    """Return the sides of a claim's difference in the order of cells: its methods or variants, and its metric."""
    if claim.lower_metrics:
        return [({claim.higher}, metric) for metric in claim.metrics]
    gain = [{claim.gain.higher}, {claim.gain.lower}] if claim.gain else []
    return [(names, claim.metric) for names in ({claim.higher}, set(claim.lower), *gain)]


@pytest.mark.parametrize(("paper", "name", "claim"), FROM_CELLS)
def test_the_cells_of_a_margin_are_those_that_its_claim_compares(paper: Paper, name: str, claim: Claim) -> None:
    artifact, cells, sides = paper.artifacts[claim.artifact], claim.margin.half_of, compared(claim)
    measured = {item for view in artifact.all_views.values() for item in view.columns.items()}
    agrees = len(cells) == len(sides) and all(
        artifact.rows.get(cell[0]) in names and (not cell[1:] or (cell[1], metric) in measured)
        for cell, (names, metric) in zip(cells, sides, strict=True)
    )
    assert agrees != (name in ELSEWHERE)


@pytest.mark.parametrize(("paper", "name", "claim"), FROM_WORDS)
def test_a_margin_without_cells_follows_from_the_words_or_is_a_point_where_nothing_is_printed(
    paper: Paper, name: str, claim: Claim
) -> None:
    source, artifact, table = claim.margin.source, paper.artifacts[claim.artifact], printed(paper, claim.artifact)
    assert claim.kept == source.startswith("by its words")
    if claim.kept or source.startswith("0.1 s: "):
        return
    assert source.startswith("1 point") and claim.margin.value in (1.0, 0.01)
    labels = {
        label
        for view in artifact.all_views.values()
        for label, metric in view.columns.items()
        if metric == claim.metric
    }
    of_side = [
        {
            title
            for row, method in artifact.rows.items()
            if method in names and row in table
            for title in table[row]
            if any(title.endswith(f" {label}") for label in labels) and decimal(table[row][title]) is not None
        }
        for names, _ in compared(claim)[:2]
    ]
    assert not set.intersection(*of_side)
