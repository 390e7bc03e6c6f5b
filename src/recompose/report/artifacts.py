"""Make the artifacts of a paper: tables, figures and their lineage, from complete runs only."""

from pathlib import Path

from recompose.files import write_text
from recompose.papers.declaration import Paper, artifact_files
from recompose.plan import Run
from recompose.progress import say
from recompose.report.cells import Cell
from recompose.report.formats import to_csv, to_latex, to_markdown
from recompose.report.lineage import watermarks, write_lineage
from recompose.report.tables import build_table
from recompose.workspace import Workspace


def make_artifacts(work: Workspace, paper: Paper) -> None:
    """Write every artifact of a paper into its folder of reports.

    Raises:
        DamagedError: a run's file is not what its record says.
    """
    for name, artifact in paper.artifacts.items():
        stem = work.reports / paper.name / name
        say(f"{paper.name}/{name}")
        cells = _make_figure(work, paper, name, stem) if artifact.is_figure else _make_table(work, paper, name, stem)
        written = [work.reports / paper.name / file for file in artifact_files(name, artifact)[:-1]]
        write_lineage(stem, work, cells, written)
    missing = {run.digest for name in paper.methods for run in _planned(work, name) if not work.runs.is_complete(run)}
    if missing:
        say(f"{paper.name}: {len(missing)} of its runs are missing, which its artifacts say, too: `recompose status`")


def _planned(work: Workspace, method: str) -> list[Run]:
    return [run for dataset in work.plan.datasets for run in work.plan.runs_of(method, dataset)]


def _make_table(work: Workspace, paper: Paper, name: str, stem: Path) -> list[Cell]:
    table = build_table(work, paper, name)
    write_text(stem.with_suffix(".csv"), to_csv(table))
    write_text(stem.with_suffix(".md"), to_markdown(table))
    write_text(stem.with_suffix(".tex"), to_latex(table))
    return table.cells


def _make_figure(work: Workspace, paper: Paper, name: str, stem: Path) -> list[Cell]:
    from recompose.report.figures.draw import draw
    from recompose.report.figures.series import cells_of
    from recompose.report.figures.style import Sheet

    artifact = paper.artifacts[name]
    cells = cells_of(work, artifact)
    draw(work, artifact, Sheet(stem, f"{paper.name}/{name}: {artifact.caption}", watermarks(work, cells)))
    return cells
