"""The measured cells of an artifact of any kind, and the results that one cell needs."""

from recompose.exhibits.cells import Cell
from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe
from recompose.report.kinds import is_figure
from recompose.report.results import StoredResults
from recompose.report.tables import cell_builder
from recompose.report.trust import planned_recipes


def measured_cells(results: StoredResults, paper: Paper, name: str) -> list[Cell]:
    """Return the measured cells of a table or figure, from complete evaluations; nothing is written.

    Raises:
        DamagedError: a file is missing or was changed.
    """
    if is_figure(paper, name):
        from recompose.report.figures.cells import figure_cells

        return figure_cells(results, paper, name)
    return list(cell_builder(paper, paper.artifacts[name].kind)(results, paper, name))


def cell_recipes(plan: Plan, paper: Paper, cell: Cell) -> list[Recipe]:
    """Return the evaluations that a cell needs now; for a number of the data, the data of all its table's rows."""
    if cell.names:
        return planned_recipes(plan, paper.track, cell)
    return list(plan.tracks[paper.track].benchmarks.values())
