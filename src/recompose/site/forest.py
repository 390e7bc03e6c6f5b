"""A forest plot as lines of text, for screens that are too narrow for the drawing."""

import csv
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from recompose.claims.differences import number_text


def forest_lines(digits: Mapping[str, int], path: Path) -> list[dict[str, str]]:
    """Return the comparisons of a forest plot.

    Args:
        digits: of the metric of each claim.
        path: the file of numbers beside the plot; without it, there are no lines.
    """
    if not path.is_file():
        return []
    with path.open(newline="", encoding="utf-8") as file:
        return list(_lines(digits, csv.DictReader(file)))


def _lines(digits: Mapping[str, int], rows: Iterable[dict[str, str]]) -> Iterator[dict[str, str]]:
    for row in rows:
        places = digits.get(row["claims"].partition(" ")[0], 1)
        difference, low, high = (_number(row[name], places) for name in ("difference", "low", "high"))
        yield {
            **{name: row[name] for name in ("dataset", "metric", "comparison", "unit")},
            "kind": row["verdict"],
            "reading": row["verdict"].removesuffix(" here"),
            "difference": difference,
            "interval": f"{low} to {high}" if low and high else "",
        }


def _number(text: str, digits: int) -> str:
    return number_text(float(text), digits, "+") if text else ""
