"""`recompose make`: stored results, by name, as a workflow asks for them, or what one number needs, and the number."""

from collections.abc import Iterable
from pathlib import Path

from recompose import phases
from recompose.commands.places import CellPlace, find_paper, one_of, place_text
from recompose.progress import be_quiet, printable
from recompose.recipes.plan import closure
from recompose.recipes.recipe_files import read_recipes, recipe_file
from recompose.tables.artifacts import measured_cells
from recompose.tables.published import Published
from recompose.tables.reports import Reports, cell_recipes
from recompose.tables.stored_results import StoredResults
from recompose.workspace import Workspace


def make_named(work: Workspace, names: Iterable[str]) -> None:
    """Make results and everything that they need."""
    phases.make(work, closure(map(work.recipe, names)))


def make_for_workflow(work: Workspace, record: Path, *, again: bool) -> None:
    """Make a result whose record a workflow asks for; nothing is planned."""
    be_quiet()
    key = "/".join(record.parts[-3:-1])
    recipes = read_recipes(work.store, key)
    if phases.is_helper():
        phases.make(work, recipes, again=again)
        return
    phases.discard_outdated(work, recipes)
    if again and work.store.is_complete(recipes[0]):
        work.store.discard(key)
    phases.make(work, recipes, again=again)
    for recipe in recipes:  # from now on its record describes it
        recipe_file(work.results, recipe.key).unlink(missing_ok=True)


def make_cell(work: Workspace, text: str) -> None:
    """Make what a cell needs, and print its value; nothing is discarded."""
    place = CellPlace.parse(text, work)
    folder, _, artifact = place.name.partition("/")
    paper = find_paper(work, folder)
    one_of(paper.artifacts, artifact, f"artifact of {paper.name}", "unknown-artifact")
    reports = Reports(work)
    published = Published.read(reports).with_newer(reports, [place.name])
    reported = place.find(published.cells[place.name]) if place.name in published.cells else None
    planned = reported or place.find(measured_cells(StoredResults(work), paper, artifact))
    be_quiet()
    phases.make(work, closure(cell_recipes(work.plan, paper, planned)))
    cell = place.find(measured_cells(StoredResults(work), paper, artifact))
    n = f" (n = {cell.n})" if cell.n else ""
    beside = "as in the reports" if reported else "not in the reports yet"
    if reported and reported.text != cell.text:
        beside = f"the reports have {reported.text}"
    print(printable(f"{cell.text}{n}  {place_text(place.name, cell)}: {beside}"))
