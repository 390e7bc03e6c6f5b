"""What is due: artifacts and pages that are not there, or that were made from something else than now."""

from pydantic_core import from_json

from recompose.digest import sha256_file
from recompose.errors import DamagedError
from recompose.files import read_json
from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.kinds import artifact_files, artifact_recipe, index_recipe
from recompose.tables.lineage import INDEX, UNREADABLE, lineage_path
from recompose.tables.published import read_contents
from recompose.workspace import Workspace

WRONG = (*UNREADABLE, LookupError, TypeError, AttributeError)  # of a document that anybody wrote


def artifact_recipes(work: Workspace) -> dict[str, Recipe]:
    """Return the recipe of each artifact, by ``<paper>/<artifact>``."""
    return {
        f"{paper.name}/{name}": artifact_recipe(work.plan, paper, name)
        for paper in work.papers
        for name in paper.artifacts
    }


def due_counts(work: Workspace) -> dict[str, int]:
    """Return the number of artifacts of each paper that are to be made."""
    recipes = artifact_recipes(work)
    return {
        paper.name: sum(is_due(work, paper, name, recipes[f"{paper.name}/{name}"]) for name in paper.artifacts)
        for paper in work.papers
    }


def is_due(work: Workspace, paper: Paper, name: str, recipe: Recipe) -> bool:
    """Return true unless an artifact is there as its lineage says, made from this recipe and from what the store has
    now.
    """
    if not all(map(work.store.is_complete, recipe.needs.values())):
        return True
    path = lineage_path(work.reports / paper.name / name)
    try:
        lineage = from_json(path.read_bytes())  # several times as fast as the standard library
        if lineage["recipe"] != recipe.digest:
            return True
        contents = read_contents(work, f"{paper.name}/{name}")
        evaluations = [need for need in recipe.needs.values() if need.kind == "evaluations"]
        is_same = (contents[need.key] == work.store.verify(need).content for need in evaluations)
        written = {file: sha256_file(path.with_name(file)) for file in artifact_files(paper, name)[:-1]}
        return lineage["files"] != written or not all(is_same)
    except (DamagedError, *WRONG):
        return True


def is_page_due(work: Workspace) -> bool:
    """Return true unless the page and the files beside it are there as written, made from what they show now."""
    try:
        index = read_json(work.reports / INDEX)
        written = {name: sha256_file(work.reports / name) for name in index["files"]}
        return not (written == index["files"] and index["recipe"] == index_recipe(work, work.papers).digest)
    except WRONG:
        return True
