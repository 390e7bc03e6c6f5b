"""Backbones that are pulled from a remote by digest, instead of being pretrained here; only if the user asks for it."""

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from recompose.errors import DataError, ProgramError
from recompose.plan import Recipe
from recompose.programs import dvc
from recompose.progress import say
from recompose.records import RECORD
from recompose.store import Store

REMOTE = "RECOMPOSE_BACKBONES"  # the variable that names the folder with backbones/<digest>/, or DVC
DVC = "dvc"  # its value for DVC's remote of the project


def pull_backbones(store: Store, recipes: Iterable[Recipe], root: Path) -> None:
    """Pull the backbones that the project pretrains, that are missing here, and that the remote has.

    Without the variable RECOMPOSE_BACKBONES, nothing is pulled.

    Args:
        store: takes the backbones.
        recipes: to be made.
        root: the project's folder, for DVC.

    Raises:
        DataError: the variable names no folder.
        DamagedError: the remote's files differ from their record.
    """
    remote = os.environ.get(REMOTE, "")
    if not remote:
        return
    for recipe in recipes:
        if is_pretrained(recipe) and not store.is_complete(recipe):
            with _source(remote, recipe, root) as source:
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


@contextmanager
def _source(remote: str, recipe: Recipe, root: Path) -> Iterator[Path]:
    """Yield the folder of a backbone in the remote; it does not exist if the remote lacks the backbone."""
    if remote != DVC:
        if not Path(remote).is_dir():
            raise DataError(f"{REMOTE} names {remote}, which is no folder", code="no-remote", place=REMOTE)
        yield Path(remote) / recipe.key
        return
    with tempfile.TemporaryDirectory(prefix="recompose-pull-") as folder:
        target = Path(folder) / recipe.key
        target.parent.mkdir()
        try:
            dvc("get", str(root), f"results/{recipe.key}", "--out", str(target), folder=root)
        except ProgramError as error:
            say(f"{recipe.key} is not pulled: {error}")
        yield target
