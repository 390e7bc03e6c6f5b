"""The artifacts of a paper: tables, with the values that it printed beside those measured here, and figures."""

from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.claims.cells import note, summary, verdicts
from recompose.files import write_json, write_text
from recompose.papers.declaration import CLAIMS, FOREST, Artifact, Paper
from recompose.papers.printed import number_in
from recompose.parts.cells import Cell, Table
from recompose.parts.results import Results, rows_of
from recompose.phases import make, make_content
from recompose.progress import say
from recompose.recipes.plan import Recipe
from recompose.tables.formats import FORMATS
from recompose.tables.kinds import find_kind, is_figure
from recompose.tables.published import CELLS, roles_of
from recompose.tables.reports import PUBLISHED, Reports
from recompose.tables.stored_results import StoredResults
from recompose.tracks.measuring import function
from recompose.tracks.track import Track

if TYPE_CHECKING:
    from recompose.parts.style import Drawing

ABOUT = ("category", "citation", "venue", "artifact")  # columns of a printed table that describe its rows


def make_artifacts(reports: Reports, names: Iterable[str]) -> None:
    """Make artifacts, each named ``<paper>/<artifact>``, with the metrics that they show, and publish them.

    Raises:
        DamagedError: something that an artifact needs is missing, or a stored file differs from its record.
    """
    papers, results = {paper.name: paper for paper in reports.work.papers}, StoredResults(reports.work)
    for name in names:
        folder, _, artifact = name.partition("/")
        recipe = reports.artifact(name)
        say(name, detail=True)
        reports.discard_outdated(recipe)
        make(reports.work, [need for need in recipe.needs.values() if need.kind == "metrics"])
        if not reports.work.store.adopt_equal(recipe):
            make_content(reports.work, recipe, partial(write_artifact, results, papers[folder], artifact, recipe))
        reports.publish(recipe)


def write_artifact(results: StoredResults, paper: Paper, name: str, recipe: Recipe, folder: Path) -> None:
    """Write the files of an artifact, and its measured cells, into the folder of its content.

    Cells name what they rest on by its role in the recipe, so that they hold where an equal artifact is copied.
    """
    stem = folder / PUBLISHED / paper.name / name
    if is_figure(paper, name):
        cells = list(figure_cells(results, paper, name))
        draw(results, paper, name).write(stem, f"{paper.name}/{name}: {paper.artifacts[name].caption}")
    else:
        table = build_table(results, paper, name)
        cells = table.measured
        for ending, write in FORMATS.items():
            write_text(stem.with_suffix(f".{ending}"), write(table))
    write_json(folder / CELLS, [cell.but(made_from=roles_of(recipe, cell)).plain() for cell in cells])


def build_table(results: StoredResults, paper: Paper, name: str) -> Table:
    """Return a table with its reported and measured cells."""
    artifact = paper.artifacts[name]
    cells = [
        *reported_cells(paper, name, results.tracks[paper.track]),
        *measured_cells(results, paper, name),
        *quoted_cells(artifact),
    ]
    rows, is_claims = paper.reported(name), artifact.kind == CLAIMS
    notes = seeds_note(results, paper, name), note(paper, artifact) if is_claims else artifact.note
    return Table(
        paper=paper.name,
        name=name,
        title=f"{paper.name.upper()}, {name.replace('-', ' ').capitalize()}",
        caption=artifact.caption,
        cells=cells,
        about={row["row"]: {key: row[key] for key in ABOUT if key in row} for row in rows},
        notes=[text for text in notes if text],
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


def reported_cells(paper: Paper, name: str, track: Track | None = None) -> Iterator[Cell]:
    """Yield the values that a paper printed in a table, with its errors flagged.

    Args:
        paper, name: of the table.
        track: the paper's, which tells the better end of columns; None: it is not asked for.
    """
    artifact = paper.artifacts[name]
    flags, better = {(flag.row, flag.column): flag for flag in artifact.flags}, dict[str, int]()
    if track and artifact.kind == "metrics":
        columns = [item for view in artifact.all_views.values() for item in view.columns.items()]
        better = {
            f"{dataset} {label}": track.description_of(metric).better
            for dataset in paper.datasets
            for label, metric in columns
        }
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
                correct=flag.correct if flag else "",
                flag=flag.text if flag else "",
                better=better.get(column, 0),
            )


def quoted_cells(artifact: Artifact) -> Iterator[Cell]:
    """Yield the quotations of sources on the rows of an artifact, for the views that have them."""
    for view, section in artifact.views.items():
        for row, sources in section.says.items():
            for source, text in sources.items():
                yield Cell(row=row, column=source, source="reported", text=text, view=view)


def measured_cells(results: StoredResults, paper: Paper, name: str) -> list[Cell]:
    """Return the measured cells of a table or figure, from complete evaluations; nothing is written.

    Raises:
        DamagedError: a file is missing or was changed.
    """
    cells = find_kind(paper, name).cells or figure_cells
    return list(cells(results, paper, name))


def figure_cells(results: Results, paper: Paper, name: str) -> Iterator[Cell]:
    """Yield the cells of a figure's lineage: one for each row and benchmark.

    A forest plot has one for each benchmark, since its verdicts rest on all comparisons, and so has a figure without
    rows, which shows data alone.
    """
    kind = paper.artifacts[name].kind
    if kind == FOREST:
        by_benchmark = {cell.benchmark: cell for cell in verdicts(results, paper, name) if cell.part == "verdict"}
        for benchmark, cell in by_benchmark.items():
            about = {"row": "all claims", "column": f"{benchmark} {kind}", "n": len(cell.made_from)}
            yield cell.but(**about, text=kind, part="", metric="")
    elif paper.artifacts[name].rows:
        for row in rows_of(results, paper, name):
            yield row.cell.but(column=f"{row.benchmark} {kind}", text=kind)
    else:
        for benchmark in results.benchmarks(paper.track):
            made_from, column = [results.data(paper.track, benchmark).key], f"{benchmark} {kind}"
            yield Cell(row="data", column=column, text=kind, n=1, made_from=made_from, benchmark=benchmark)


def draw(results: Results, paper: Paper, name: str) -> "Drawing":
    """Draw a figure from its complete evaluations."""
    drawing: Drawing = function(find_kind(paper, name).drawing)(results, paper, name)
    return drawing
