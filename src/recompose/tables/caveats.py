"""Caveats of an artifact: what warns a reader of all of it, as watermarks show."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from recompose.digest import digest
from recompose.environment import LOCK, is_committed
from recompose.errors import ProgramError
from recompose.parts.cells import Cell
from recompose.programs import git
from recompose.recipes.fingerprint import ROOT, path_of
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.records import Build
from recompose.tables.stored_results import StoredResults

JUDGED_KINDS = ("runs", "evaluations")  # their code and packages must be the same throughout an artifact
MAX_KEYS = 3  # missing evaluations that a caveat lists


@dataclass(frozen=True)
class Caveat:
    """A warning about an artifact: a state, the reason, and the keys that it concerns."""

    state: str  # incomplete, mixed, or uncommitted
    why: str
    keys: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The state with the reason."""
        return f"{self.state}: {self.why}"


def find_caveats(
    recipes: Mapping[str, Recipe], build_info: Mapping[str, Build], missing: Iterable[str]
) -> Iterator[Caveat]:
    """Yield the caveats of an artifact: missing evaluations, mixed code, uncommitted sources, mixed packages.

    Args:
        recipes: of runs and evaluations, by key.
        build_info: key -> when, where and from which sources it was built, as far as that is known.
        missing: keys of planned evaluations that are not complete.
    """
    if keys := tuple(sorted(missing)):
        listed = ", ".join(keys[:MAX_KEYS]) + (", ..." if len(keys) > MAX_KEYS else "")
        verb = "evaluation is" if len(keys) == 1 else "evaluations are"
        yield Caveat("incomplete", f"{len(keys)} {verb} missing ({listed})", keys)
    versions = _differing(  # of what the same functions reach
        (f"{digest(recipe.made_by)} {module}", version, key)
        for key, recipe in recipes.items()
        for module, version in recipe.code.items()
    )
    if modules := sorted({name.partition(" ")[2] for name in versions}):
        yield Caveat("mixed", f"runs differ in the code of {', '.join(modules)}", _minority(versions))
    uncommitted = tuple(
        key
        for key, build in build_info.items()
        if build.dirty is not False and not (key in recipes and committed_since(recipes[key]))
    )
    if uncommitted:
        count = f"{len(uncommitted)} of {len(build_info)}"
        yield Caveat("uncommitted", f"{count} were made from a changed or unknown working tree", uncommitted)
    if packages := _differing(("packages", digest(build.packages), key) for key, build in build_info.items()):
        yield Caveat("mixed", "runs differ in packages", _minority(packages))


def _differing(facts: Iterable[tuple[str, str, str]]) -> dict[str, dict[str, list[str]]]:
    """Return the names with several values, of (name, value, key): name -> value -> keys."""
    values: dict[str, dict[str, list[str]]] = {}
    for name, value, key in facts:
        values.setdefault(name, {}).setdefault(value, []).append(key)
    return {name: keys for name, keys in values.items() if len(keys) > 1}


def _minority(values: Mapping[str, dict[str, list[str]]]) -> tuple[str, ...]:
    """Return the keys of all values but the most frequent one of each name."""
    groups = (keys for by_value in values.values() for keys in sorted(by_value.values(), key=len)[:-1])
    return tuple(sorted({key for keys in groups for key in keys}))


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


def watermarks(results: StoredResults, cells: list[Cell]) -> list[str]:
    """Return the caveats of an artifact of these cells, in words."""
    behind = closure(results.recipe(key) for cell in cells for key in cell.made_from)
    judged = [recipe for recipe in behind if recipe.kind in JUDGED_KINDS]
    missing = {key for cell in cells for key in cell.missing} - {key for cell in cells for key in cell.made_from}
    build_info = {recipe.key: build for recipe in judged if (build := results.build_info(recipe))}
    return [caveat.text for caveat in find_caveats({recipe.key: recipe for recipe in judged}, build_info, missing)]
