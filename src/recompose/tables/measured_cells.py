"""The measured cells of an artifact of any kind, and the results that one cell needs."""

from recompose.papers.declaration import Paper
from recompose.plan import Plan, Recipe
from recompose.tables.cells import Cell
from recompose.tables.kinds import is_figure
from recompose.tables.seeds import shared_replicates
from recompose.tables.stored_results import StoredResults
from recompose.tables.table import cell_builder


def measured_cells(results: StoredResults, paper: Paper, name: str) -> list[Cell]:
    """Return the measured cells of a table or figure, from complete evaluations; nothing is written.

    Raises:
        DamagedError: a file is missing or was changed.
    """
    if is_figure(paper, name):
        from recompose.tables.figures.cells import figure_cells

        return figure_cells(results, paper, name)
    return list(cell_builder(paper, name)(results, paper, name))


def cell_recipes(plan: Plan, paper: Paper, cell: Cell) -> list[Recipe]:
    """Return the evaluations that a cell needs now; for a number of the data, the data of all its table's rows."""
    if cell.names:
        return planned_recipes(plan, paper.track, cell)
    return list(plan.tracks[paper.track].benchmarks.values())


def planned_recipes(plan: Plan, track: str, cell: Cell) -> list[Recipe]:
    """Return the recipes that the current plan has for a cell."""
    if cell.names:
        names = cell.beside or cell.names
        planned = {name: plan.evaluations(track, name, cell.benchmark) for name in names}
        shared = shared_replicates(planned) if cell.beside else planned
        return [recipe for name, recipes in shared.items() if name in cell.names for recipe in recipes]
    data = plan.tracks[track].benchmarks.get(cell.benchmark) if track in plan.tracks else None
    return [data] if data else []
