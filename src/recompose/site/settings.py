"""The settings in which rows of a table differ, for the rows of each method and its variants."""

from collections.abc import Iterable, Iterator

from recompose.files import Document
from recompose.plan import Recipe, recipe_of
from recompose.tables.cells import Cell
from recompose.tables.differing import ABSENT, differing, settings_of, value_text
from recompose.tables.measured import OVER_ROWS
from recompose.tables.published import PublishedLineage


def differing_rows(published: PublishedLineage, cells: Iterable[Cell]) -> list[Document]:
    """Return a table for each method that several rows show: its rows, and the settings in which they differ.

    Rows are compared by the first run of their first data set. Rows that differ only in what is evaluated have none.

    Args:
        published: the reports.
        cells: the measured cells of an artifact.
    """
    rows: dict[str, dict[str, Document]] = {}  # method -> row -> settings
    for cell in cells:
        if cell.made_from and cell.aggregate != OVER_ROWS and (evaluation := _evaluation(published, cell.made_from[0])):
            settings = settings_of(evaluation)
            rows.setdefault(settings["method"], {}).setdefault(cell.row, settings)
    return [table for documents in rows.values() for table in _table(documents)]


def _table(documents: dict[str, Document]) -> Iterator[Document]:
    """Yield the table of a method, if its rows differ."""
    settings = [
        {"name": name, "values": [value_text(values.get(row, ABSENT)) for row in documents]}
        for name, values in differing(documents).items()
    ]
    if settings:
        yield {"rows": list(documents), "settings": settings}


def _evaluation(published: PublishedLineage, key: str) -> Recipe | None:
    """Return an evaluation with the run and the backbone that it needs, or None if it is something else."""
    record = published.records.get(key)
    if record is None or record.kind != "evaluations":
        return None
    keys = [need.key for need in record.needs.values() if need.key in published.records]
    return recipe_of(record, {key: recipe_of(published.records[key]) for key in keys})
