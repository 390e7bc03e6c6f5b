"""The artifacts of a paper: tables, with the values that it printed beside those measured here, and figures; and their
files with the lineage, from complete evaluations only.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.claims.cells import note, summary, verdicts
from recompose.digest import sha256_file
from recompose.files import write_text
from recompose.metric_cache import metric_code
from recompose.papers.declaration import CLAIMS, FOREST, Artifact, Paper
from recompose.papers.printed import number_in
from recompose.parts.cells import Cell, Table
from recompose.parts.results import Results, rows_of
from recompose.progress import say
from recompose.recipes.plan import Recipe, closure
from recompose.tables.caveats import watermarks
from recompose.tables.due import artifact_recipe, evaluations_of
from recompose.tables.formats import FORMATS
from recompose.tables.kinds import artifact_files, find_kind, is_figure
from recompose.tables.lineage import Lineage, PlannedEvaluations
from recompose.tables.published import kept_lineage
from recompose.tables.stored_results import StoredResults
from recompose.tracks.measuring import function
from recompose.tracks.track import Track

if TYPE_CHECKING:
    from recompose.parts.style import Drawing

ABOUT = ("category", "citation", "venue", "artifact")  # columns of a printed table that describe its rows


def make_artifacts(results: StoredResults, paper: Paper, names: Iterable[str]) -> None:
    """Write artifacts of a paper into its folder of reports.

    Raises:
        DamagedError: a stored file differs from its record.
    """
    missing: set[str] = set()
    for name in names:
        stem = results.work.reports / paper.name / name
        say(f"{paper.name}/{name}", detail=True)
        cells = _make(results, paper, name, stem)
        written = [stem.parent / file for file in artifact_files(paper, name)]
        lineage = lineage_of(results, paper.track, cells, evaluations_of(results.plan, paper, name), written)
        recipe = artifact_recipe(results.work, paper, name)
        made_by = {"recipe": recipe.digest, "declared": recipe.document["declared"]}
        contents = {key: results.record(results.recipe(key)).content for key in lineage.records}
        whole = lineage.model_copy(update={**made_by, "contents": contents})
        whole.write(kept_lineage(results.work, f"{paper.name}/{name}"))
        missing |= {key for cell in cells for key in cell.missing}
    if missing:
        say(f"{paper.name}: {len(missing)} evaluations are missing; its artifacts are marked incomplete")


def _make(results: StoredResults, paper: Paper, name: str, stem: Path) -> list[Cell]:
    """Write the files of an artifact, and return its cells."""
    if is_figure(paper, name):
        cells = list(figure_cells(results, paper, name))
        title = f"{paper.name}/{name}: {paper.artifacts[name].caption}"
        draw(results, paper, name).write(stem, title, watermarks(results, cells))
        return cells
    table = build_table(results, paper, name)
    for ending, write in FORMATS.items():
        write_text(stem.with_suffix(f".{ending}"), write(table))
    return table.cells


def lineage_of(
    results: StoredResults,
    track: str,
    cells: Iterable[Cell],
    evaluations: Mapping[tuple[str, str], list[Recipe]],
    files: Iterable[Path] = (),
) -> Lineage:
    """Return the lineage of measured cells, complete enough to explain them without the results.

    Args:
        results: of the workspace.
        track: the paper's.
        cells: of an artifact.
        evaluations: of the artifact, by method or variant and benchmark; also those of methods that have none of its
            metrics, and so no cell.
        files: of the artifact.
    """
    measured = [cell for cell in cells if cell.source == "measured"]
    planned = {place: results.planned(track, *place) for place in evaluations}
    complete = [recipe for recipes in evaluations.values() for recipe in recipes if results.is_complete(recipe)]
    keys = {recipe.key for recipe in complete}
    undescribed = [recipe for recipes in planned.values() for recipe in recipes if recipe.key not in keys]
    made_from = (results.recipe(key) for cell in measured for key in cell.made_from)
    described = list(closure([*made_from, *complete]))
    return Lineage(
        track=track,
        benchmarks={name: results.data(track, name).key for name in results.benchmarks(track)},
        cells=measured,
        asked=[
            PlannedEvaluations(name=name, benchmark=benchmark, evaluations=[recipe.key for recipe in recipes])
            for (name, benchmark), recipes in planned.items()
            if recipes
        ],
        records={recipe.key: results.record(recipe) for recipe in described if results.is_complete(recipe)},
        wanted={recipe.key: recipe for recipe in closure(undescribed)},
        metric_code=metric_code(results.tracks[track], (cell.metric for cell in measured)),
        files={path.name: sha256_file(path) for path in files},
    )


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
