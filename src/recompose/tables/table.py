"""Tables: the values that a paper printed beside the values that were measured here."""

from collections.abc import Callable, Iterable, Iterator

from recompose.claims.cells import note, summary
from recompose.papers.declaration import CLAIMS, Artifact, Paper
from recompose.papers.printed import number_in
from recompose.tables.caveats import watermarks
from recompose.tables.cells import Cell, Table
from recompose.tables.kinds import find_kind
from recompose.tables.results import Results
from recompose.tables.rows import rows_of
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.tracks.track import function

ABOUT = ("category", "citation", "venue", "artifact")
CellBuilder = Callable[[Results, Paper, str], Iterable[Cell]]


def cell_builder(paper: Paper, name: str) -> CellBuilder:
    """Return the function that builds the measured cells of a table."""
    builder: CellBuilder = function(find_kind(paper, name).place)
    return builder


def build_table(results: StoredResults, paper: Paper, name: str) -> Table:
    """Return a table with its reported and measured cells."""
    artifact = paper.artifacts[name]
    measured = cell_builder(paper, name)(results, paper, name)
    cells = [*reported_cells(paper, name), *measured, *quoted_cells(artifact)]
    rows, is_claims = paper.reported(name), artifact.kind == CLAIMS
    notes = (
        seeds_note(results, paper, name),
        note(paper, artifact) if is_claims else artifact.note,
    )
    return Table(
        paper=paper.name,
        name=name,
        title=f"{paper.name.upper()}, {name.replace('-', ' ').capitalize()}",
        caption=artifact.caption,
        cells=cells,
        about={row["row"]: {key: row[key] for key in ABOUT if key in row} for row in rows},
        notes=[text for text in notes if text],
        watermarks=watermarks(results, cells),
        views={view: section.heading for view, section in artifact.views.items()},
        summary=summary(results, paper, cells) if is_claims else [],
        row_heading=find_kind(paper, name).row_heading,
        reported_heading=paper.reported_heading,
    )


def seeds_note(results: Results, paper: Paper, name: str) -> str:
    """Return a note on the seeds that the rows of a table share, if some rows have more; else an empty string."""
    if not find_kind(paper, name).compares_rows:
        return ""
    fewer = {
        row.benchmark: sorted({int(evaluation.labels["seed"]) for evaluation in row.planned})
        for row in rows_of(results, paper, name)
        if len(row.planned) < len(results.planned(paper.track, row.name, row.benchmark))
    }
    shared = "; ".join(f"{benchmark} {', '.join(map(str, seeds))}" for benchmark, seeds in fewer.items())
    return f"Rows are compared at the seeds that all of them share ({shared}); some rows have more." if shared else ""


def reported_cells(paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the values that a paper printed in a table, with its errors flagged.

    A column whose metric is measured here, too, has the better end of that metric.
    """
    flags = {(flag.row, flag.column): flag for flag in paper.artifacts[name].flags}
    better = directions(paper, name)
    for row in paper.reported(name):
        for column, text in row.items():
            if column in ("row", *ABOUT):
                continue
            flag = flags.get((row["row"], column))
            yield Cell(
                row=row["row"],
                column=column,
                source="reported",
                text=text,
                value=number_in(text),
                correct=(flag.correct or flag.elsewhere) if flag else "",
                flag=flag.why if flag else "",
                better=better.get(column, 0),
            )


def quoted_cells(artifact: Artifact) -> Iterator[Cell]:
    """Yield the quotations of sources on the rows of an artifact, for the views that have them."""
    for view, section in artifact.views.items():
        for row, sources in section.says.items():
            for source, text in sources.items():
                yield Cell(row=row, column=source, source="reported", text=text, view=view)


def directions(paper: Paper, name: str) -> dict[str, int]:
    """Return the better end of each printed column, see Metric, as far as its metric is declared."""
    artifact = paper.artifacts[name]
    if artifact.kind != "metrics":
        return {}
    columns = {label: metric for view in artifact.all_views.values() for label, metric in view.columns.items()}
    track = TRACKS[paper.track]
    return {
        f"{dataset} {label}": track.description_of(metric).better
        for dataset in paper.datasets
        for label, metric in columns.items()
    }
