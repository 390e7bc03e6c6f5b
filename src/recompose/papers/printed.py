"""Values as papers printed them: the numbers in their texts, and the margins of claims that follow from them."""

import re
from collections.abc import Collection, Mapping, Sequence
from statistics import fmean

from recompose.errors import PlanError
from recompose.params.mistakes import nearest

# 5, -0.4, 49.7 ± 0.3, 10^-4, 1.5×10^-5
NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)(?:×10\^(-?[0-9]+))?(?: ?± ?[0-9]+(?:\.[0-9]+)?)?")
POWER = re.compile(r"10\^(-?[0-9]+)")
POINT = 1.0  # of a percentage
SIGNS = (1, -1, -1, 1)
DECIMALS = 9  # more than any paper prints: what differs below is a rounding error


def number_in(text: str) -> float | None:
    """Return the number in a printed text without its spread, or None if it is no number."""
    text = text.replace("\N{MINUS SIGN}", "-")  # as it is copied from a PDF
    if power := POWER.fullmatch(text):
        return float(f"1e{power[1]}")
    printed = NUMBER.fullmatch(text)
    return float(f"{printed[1]}e{printed[2] or 0}") if printed else None


def half_of(
    rows: Sequence[Mapping[str, str]], cells: Sequence[Sequence[str]], datasets: Collection[str], factor: float = 1.0
) -> float:
    """Return half of the improvement between printed cells, to three digits, or one point where nothing improves.

    A cell is a row and a column. A column without its data set is that of every data set, and a row alone is all of its
    columns: the improvement is the mean over those in which all cells have numbers.

    Args:
        rows: of the printed table, column -> text.
        cells: two, the first less the second; or four, the difference of the first two less that of the others.
        datasets: of the paper.
        factor: from the printed numbers to the metric's unit.

    Raises:
        PlanError: a row or a column is not printed, or no column has a number in all cells.

    Example:
        >>> table = [{"row": "new", "a AUC": "3.5 ± 0.1", "b AUC": "4"}, {"row": "old", "a AUC": "3.0", "b AUC": "-"}]
        >>> half_of(table, [["new", "AUC"], ["old", "AUC"]], ["a", "b"])
        0.25
    """
    numbers = [_numbers(rows, cell, datasets) for cell in cells]
    shared = [column for column in numbers[0] if all(column in others for others in numbers)]
    if not shared:
        named = ", ".join(f"[{', '.join(cell)}]" for cell in cells)
        raise PlanError(f"no data set has a printed number in all of {named}; name other cells", code="no-number")
    differences = [
        round(factor * sum(sign * each[column] for sign, each in zip(SIGNS, numbers, strict=False)), DECIMALS)
        for column in shared
    ]
    improvement = fmean(differences)
    return float(f"{improvement / 2:.3g}") if improvement > 0 else POINT


def _numbers(rows: Sequence[Mapping[str, str]], cell: Sequence[str], datasets: Collection[str]) -> dict[str, float]:
    """Return the printed numbers of a cell, by data set; those of a row alone by column."""
    by_name = {row["row"]: row for row in rows}
    name, *column = cell
    if name not in by_name:
        raise PlanError(f"the paper prints no row {name!r}{nearest(name, by_name)}", code="unknown-row")
    printed = {title: number for title, text in by_name[name].items() if (number := number_in(text)) is not None}
    if not column:
        return printed
    titles = {"": column[0]} | {dataset: f"{dataset} {column[0]}" for dataset in datasets}
    if not any(title in by_name[name] for title in titles.values()):
        raise PlanError(f"the paper prints no column {column[0]!r}{nearest(column[0], rows[0])}", code="unknown-column")
    return {dataset: printed[title] for dataset, title in titles.items() if title in printed}
