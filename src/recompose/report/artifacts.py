"""Writing the artifacts of a paper: tables, figures and their lineage, from complete evaluations only."""

from collections.abc import Iterable
from pathlib import Path

from recompose.exhibits.cells import Cell
from recompose.files import write_text
from recompose.papers.declaration import Paper
from recompose.progress import say
from recompose.report.formats import to_csv, to_latex, to_markdown
from recompose.report.kinds import artifact_files, evaluations_of, is_figure
from recompose.report.lineage import lineage_of, write_lineage
from recompose.report.results import StoredResults
from recompose.report.tables import build_table
from recompose.report.trust import watermarks


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
        evaluations = evaluations_of(results.plan, paper, name)
        write_lineage(stem, lineage_of(results, paper.track, cells, evaluations), written)
        missing |= {key for cell in cells for key in set(cell.expected) - set(cell.made_from)}
    if missing:
        say(f"{paper.name}: {len(missing)} evaluations are missing; its artifacts are marked incomplete")


def _make_table(results: StoredResults, paper: Paper, name: str, stem: Path) -> list[Cell]:
    table = build_table(results, paper, name)
    write_text(stem.with_suffix(".csv"), to_csv(table))
    write_text(stem.with_suffix(".md"), to_markdown(table))
    write_text(stem.with_suffix(".tex"), to_latex(table))
    return table.cells


def _make_figure(results: StoredResults, paper: Paper, name: str, stem: Path) -> list[Cell]:
    from recompose.exhibits.style import Sheet
    from recompose.report.figures.cells import figure_cells
    from recompose.report.figures.draw import draw

    cells = figure_cells(results, paper, name)
    title = f"{paper.name}/{name}: {paper.artifacts[name].caption}"
    draw(results, paper, name, Sheet(stem, title, watermarks(results, cells)))
    return cells
