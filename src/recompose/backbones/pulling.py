"""Backbones that are pulled from another folder by digest, instead of being pretrained here; only if the user asks."""

import os
from collections.abc import Iterable
from pathlib import Path

from recompose.errors import DataError
from recompose.plan import Recipe
from recompose.progress import say
from recompose.records import RECORD
from recompose.store import Store

REMOTE = "RECOMPOSE_BACKBONES"  # the variable that names the folder with backbones/<digest>/


def pull_backbones(store: Store, recipes: Iterable[Recipe]) -> None:
    """Pull the backbones that the project pretrains, that are missing here, and that the remote has.

    Without the variable RECOMPOSE_BACKBONES, nothing is pulled.

    Args:
        store: takes the backbones.
        recipes: to be made.

    Raises:
        DataError: the variable names no folder.
        DamagedError: the remote's files differ from their record.
    """
    remote = os.environ.get(REMOTE, "")
    if not remote:
        return
    for recipe in recipes:
        if is_pretrained(recipe) and not store.is_complete(recipe):
            source = _source(remote, recipe)
            if (source / RECORD).is_file():
                store.adopt(recipe, source, remote)
                say(f"{recipe.key}: {recipe.name} is pulled from {remote}, not made")
            else:
                say(f"{recipe.key}: {remote} has no {recipe.name} of this digest; it is made")


def is_pretrained(recipe: Recipe) -> bool:
    """Return True for a backbone that the project pretrains, not for released weights."""
    return recipe.kind == "backbones" and "corpus" in recipe.needs


def without_pulled_corpora(store: Store, recipes: Iterable[Recipe]) -> list[Recipe]:
    """Return the recipes without the corpora that only pulled backbones need."""
    recipes = list(recipes)
    pulled = {recipe.digest for recipe in recipes if is_pretrained(recipe) and _is_pulled(store, recipe)}
    needed = {need.digest for recipe in recipes if recipe.digest not in pulled for need in recipe.needs.values()}
    corpora = {recipe.needs["corpus"].digest for recipe in recipes if recipe.digest in pulled} - needed
    return [recipe for recipe in recipes if recipe.digest not in corpora]


def _is_pulled(store: Store, recipe: Recipe) -> bool:
    return store.is_complete(recipe) and store.record(recipe).made.pulled_from is not None


def _source(remote: str, recipe: Recipe) -> Path:
    """Return the folder of a backbone in the remote; it does not exist if the remote lacks the backbone."""
    if not Path(remote).is_dir():
        raise DataError(f"{REMOTE} names {remote}, which is no folder", code="no-remote", place=REMOTE)
    return Path(remote) / recipe.key
