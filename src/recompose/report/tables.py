"""Tables: what a paper printed beside what the runs here gave."""

import re
from collections.abc import Iterator

from recompose.papers.declaration import Paper
from recompose.report.cells import Cell, Table
from recompose.report.claims import verdicts
from recompose.report.lineage import watermarks
from recompose.report.measured import accuracy, costs, frequencies, groups, settings, statistics
from recompose.workspace import Workspace

MEASURED = {
    "statistics": statistics,
    "settings": settings,
    "accuracy": accuracy,
    "costs": costs,
    "frequencies": frequencies,
    "groups": groups,
    "claims": verdicts,
}
ABOUT = ("category", "citation", "venue", "artifact")
# 5, -0.4, 49.7 ± 0.3, 10^-4, 1.5×10^-5
NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)(?:×10\^(-?[0-9]+))?(?: ± [0-9]+(?:\.[0-9]+)?)?")
POWER = re.compile(r"10\^(-?[0-9]+)")


def build_table(work: Workspace, paper: Paper, name: str) -> Table:
    """A table with its reported and measured cells."""
    artifact = paper.artifacts[name]
    cells = [*reported_cells(paper, name), *MEASURED[artifact.kind](work, paper, name)]
    rows = paper.reported(name)
    return Table(
        paper=paper.name,
        name=name,
        title=f"{paper.name.upper()}, {name.replace('-', ' ').capitalize()}",
        caption=artifact.caption,
        cells=cells,
        about={row["row"]: {key: row[key] for key in ABOUT if key in row} for row in rows},
        notes=[artifact.note] if artifact.note else [],
        watermarks=watermarks(work, cells),
        views={view: section.heading for view, section in artifact.views.items()},
    )


def number_in(text: str) -> float | None:
    """The number that a printed text says, its spread left out; None where it says none."""
    if power := POWER.fullmatch(text):
        return float(f"1e{power[1]}")
    found = NUMBER.fullmatch(text)
    return float(f"{found[1]}e{found[2] or 0}") if found else None


def reported_cells(paper: Paper, name: str) -> Iterator[Cell]:
    """What a paper printed in a table, with its errors flagged."""
    flags = {(flag.row, flag.column): flag for flag in paper.artifacts[name].flags}
    for row in paper.reported(name):
        for column, text in row.items():
            if column in ("row", *ABOUT):
                continue
            flag = flags.get((row["row"], column))
            yield Cell(
                row["row"],
                column,
                "reported",
                text,
                value=number_in(text),
                correct=flag.correct if flag else "",
                flag=flag.why if flag else "",
            )
