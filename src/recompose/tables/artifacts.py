"""Writing the artifacts of a paper: tables, figures and their lineage, from complete evaluations only."""

from collections.abc import Iterable, Mapping
from pathlib import Path

from recompose.digest import sha256_file
from recompose.files import write_text
from recompose.fingerprint import fingerprint
from recompose.papers.declaration import Paper
from recompose.plan import Recipe, closure
from recompose.progress import say
from recompose.tables.caveats import watermarks
from recompose.tables.cells import Cell
from recompose.tables.formats import to_csv, to_latex, to_markdown
from recompose.tables.kinds import artifact_files, artifact_recipe, evaluations_of, is_figure
from recompose.tables.lineage import Lineage, PlannedEvaluations, lineage_path
from recompose.tables.published import write_contents
from recompose.tables.stored_results import StoredResults
from recompose.tables.table import build_table, draw, figure_cells
from recompose.tracks import TRACKS


def make_artifacts(results: StoredResults, paper: Paper, names: Iterable[str]) -> None:
    """Write artifacts of a paper into its folder of reports.

    Raises:
        DamagedError: a stored file differs from its record.
    """
    missing: set[str] = set()
    for name in names:
        stem = results.work.reports / paper.name / name
        say(f"{paper.name}/{name}", detail=True)
        make = _make_figure if is_figure(paper, name) else _make_table
        cells = make(results, paper, name, stem)
        written = [stem.parent / file for file in artifact_files(paper, name)[:-1]]
        lineage = lineage_of(results, paper.track, cells, evaluations_of(results.plan, paper, name), written)
        recipe = artifact_recipe(results.plan, paper, name).digest
        lineage.model_copy(update={"recipe": recipe}).write(lineage_path(stem))
        contents = {key: results.record(results.recipe(key)).content for key in lineage.records}
        write_contents(results.work, f"{paper.name}/{name}", contents)
        missing |= {key for cell in cells for key in cell.missing}
    if missing:
        say(f"{paper.name}: {len(missing)} evaluations are missing; its artifacts are marked incomplete")


def _make_table(results: StoredResults, paper: Paper, name: str, stem: Path) -> list[Cell]:
    table = build_table(results, paper, name)
    write_text(stem.with_suffix(".csv"), to_csv(table))
    write_text(stem.with_suffix(".md"), to_markdown(table))
    write_text(stem.with_suffix(".tex"), to_latex(table))
    return table.cells


def _make_figure(results: StoredResults, paper: Paper, name: str, stem: Path) -> list[Cell]:
    from recompose.tables.style import Sheet

    cells = figure_cells(results, paper, name)
    title = f"{paper.name}/{name}: {paper.artifacts[name].caption}"
    draw(results, paper, name, Sheet(stem, title, watermarks(results, cells)))
    return cells


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
        records={recipe.key: results.record(recipe).description for recipe in described if results.is_complete(recipe)},
        wanted={recipe.key: recipe.description() for recipe in closure(undescribed)},
        metric_code=fingerprint(TRACKS[track].metric_modules(cell.metric for cell in measured)),
        files={path.name: sha256_file(path) for path in files},
    )
