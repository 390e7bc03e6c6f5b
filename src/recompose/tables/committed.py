"""The commit that holds the code of a result."""

from functools import cache

from recompose.environment import LOCK, is_committed
from recompose.errors import ProgramError
from recompose.programs import git
from recompose.recipes.fingerprint import ROOT, path_of
from recompose.recipes.plan import Recipe


def committed_since(recipe: Recipe) -> str | None:
    """Return a commit with exactly the code of a recipe, or None if there is none, or git cannot tell."""
    return _find_commit(tuple(recipe.made_by.items()), tuple(sorted(recipe.code.items())))


@cache
def _find_commit(made_by: tuple[tuple[str, str], ...], code: tuple[tuple[str, str], ...]) -> str | None:
    recipe, top = Recipe("", made_by=dict(made_by), code=dict(code)), ROOT.parent.parent
    try:
        if not code or recipe.changed_modules:
            return None
        files = [path_of(name) for name in recipe.code]
        paths = [str(file.relative_to(top)) for file in files if file.is_relative_to(top)] + [LOCK]
        is_changed = git("status", "--porcelain", "--", *paths, folder=top)
        if is_changed or not all(is_committed(file) for file in files if not file.is_relative_to(top)):
            return None
        return git("log", "-1", "--format=%h", "--", *paths, folder=top) or None
    except (ModuleNotFoundError, ValueError, ProgramError):  # a module that is gone, or no git
        return None
