"""Recipe files: what a workflow asks of its jobs, written when it starts, so that no job plans again.

``results/recipes/<kind>/<folder>.json`` holds the recipe of a content that is to be made, with those that are made in
the same pass, until it is complete. What it needs is complete before the job starts, and described by its own record.
"""

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from recompose.errors import ChangedError, PlanError
from recompose.files import read_json, write_json
from recompose.recipes.plan import Recipe
from recompose.recipes.records import RECORD, Record, complaint
from recompose.recipes.store import Store

FOLDER = "recipes"  # below results/
_RECIPES = TypeAdapter(Annotated[list[Recipe], Field(min_length=1)])


def recipe_file(results: Path, key: str) -> Path:
    """Return the path of the file of a recipe, given its key."""
    return results / FOLDER / f"{key}.json"


def write_recipes(results: Path, passes: Iterable[list[Recipe]]) -> None:
    """Write the files of recipes that are to be made, each with the others of its pass."""
    for recipes in passes:
        for recipe in recipes:
            together = [recipe, *(other for other in recipes if other is not recipe)]
            write_json(recipe_file(results, recipe.key), [made.plain() for made in together])


def read_recipes(store: Store, key: str) -> list[Recipe]:
    """Return the recipe of a key, and those that are made in the same pass.

    Raises:
        PlanError: no workflow asked for it, or its file is damaged.
        DamagedError: something that it needs is not complete.
        ChangedError: the code was changed since the workflow started.
    """
    path, needs = recipe_file(store.root, key), dict[str, Recipe]()
    try:
        try:
            documents = read_json(path)
        except FileNotFoundError:  # it is complete
            documents = [read_json(store.root / key / RECORD)]
        recipes = _RECIPES.validate_python(documents)
        is_as_written = recipes[0].key == key and all(recipe.digest == recipe.identity for recipe in recipes)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        why = complaint(error) if isinstance(error, ValidationError) else error
        message = f"{path} holds no recipe ({why}): start the workflow again"
        raise PlanError(message, code="no-recipe", place=path) from None
    if not is_as_written:
        raise PlanError(f"{path} was changed: start the workflow again", code="no-recipe", place=path)
    for recipe in recipes:
        if modules := recipe.changed_modules:
            message = f"{modules[0]} was changed since the workflow started: start it again"
            raise ChangedError(message, code="changed-code", place=modules[0])
    return [_with_needs(recipe, store, needs) for recipe in recipes]


def _with_needs(recipe: Recipe, store: Store, read: dict[str, Recipe]) -> Recipe:
    """Return a recipe with those that it needs, from their records; ``read`` holds those read so far."""
    for need in recipe.needs.values():
        if need.key not in read:
            read[need.key] = _with_needs(Record.read(store.root / need.key / RECORD), store, read)
    return recipe.linked(read)
