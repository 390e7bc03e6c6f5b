"""Tables: what a paper printed beside what was measured here."""

import re
from collections.abc import Callable, Iterable, Iterator

from recompose.papers.declaration import CLAIMS, Paper
from recompose.report.cells import Cell, Table
from recompose.report.claims import summary, verdicts
from recompose.report.intervals import intervals
from recompose.report.measured import measures, settings, statistics
from recompose.report.results import Results
from recompose.report.trust import watermarks
from recompose.tracks import TRACKS
from recompose.tracks.track import function

MEASURED = {
    "statistics": statistics,
    "settings": settings,
    "measures": measures,
    "intervals": intervals,
    CLAIMS: verdicts,
}
ABOUT = ("category", "citation", "venue", "artifact")
# 5, -0.4, 49.7 ± 0.3, 10^-4, 1.5×10^-5
NUMBER = re.compile(r"([-+]?[0-9]+(?:\.[0-9]+)?)(?:×10\^(-?[0-9]+))?(?: ± [0-9]+(?:\.[0-9]+)?)?")
POWER = re.compile(r"10\^(-?[0-9]+)")
Measuring = Callable[[Results, Paper, str], Iterable[Cell]]


def measuring(paper: Paper, kind: str) -> Measuring:
    """What gives the measured cells of a kind of table: the core's, or the track's."""
    return MEASURED[kind] if kind in MEASURED else function(TRACKS[paper.track].tables[kind])


def build_table(results: Results, paper: Paper, name: str) -> Table:
    """A table with its reported and measured cells."""
    artifact = paper.artifacts[name]
    cells = [*reported_cells(paper, name), *measuring(paper, artifact.kind)(results, paper, name)]
    rows = paper.reported(name)
    return Table(
        paper=paper.name,
        name=name,
        title=f"{paper.name.upper()}, {name.replace('-', ' ').capitalize()}",
        caption=artifact.caption,
        cells=cells,
        about={row["row"]: {key: row[key] for key in ABOUT if key in row} for row in rows},
        notes=[artifact.note] if artifact.note else [],
        watermarks=watermarks(results, cells),
        views={view: section.heading for view, section in artifact.views.items()},
        summary=summary(results, paper, cells) if artifact.kind == CLAIMS else "",
    )


def number_in(text: str) -> float | None:
    """The number that a printed text says, its spread left out; None where it says none."""
    if power := POWER.fullmatch(text):
        return float(f"1e{power[1]}")
    printed = NUMBER.fullmatch(text)
    return float(f"{printed[1]}e{printed[2] or 0}") if printed else None


def reported_cells(paper: Paper, name: str) -> Iterator[Cell]:
    """What a paper printed in a table, with its errors flagged; the best of its columns are told where we measure
    them, too.
    """
    flags = {(flag.row, flag.column): flag for flag in paper.artifacts[name].flags}
    better = directions(paper, name)
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
                better=better.get(column, 0),
            )


def directions(paper: Paper, name: str) -> dict[str, int]:
    """Which end of each printed column is the better one, as far as its measure is declared."""
    artifact = paper.artifacts[name]
    columns = {label: measure for view in artifact.all_views.values() for label, measure in view.columns.items()}
    if artifact.kind != "measures":
        return {}
    track = TRACKS[paper.track]
    return {
        f"{dataset} {label}": track.description_of(measure).better
        for dataset in paper.datasets
        for label, measure in columns.items()
    }
