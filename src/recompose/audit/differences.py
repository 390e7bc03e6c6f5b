"""Differences between two recipes and everything that they were made from, as lines of text."""

from collections.abc import Iterable, Iterator, Mapping

from recompose.digest import short
from recompose.plan import Document, NamedRecipe, Recipe


def closest_recipe(old: Recipe, planned: Iterable[Recipe]) -> Recipe | None:
    """Return the planned recipe with the same seed and the fewest differences, or None."""
    same_seed = [recipe for recipe in planned if recipe.labels.get("seed") == old.labels.get("seed")]
    return min(same_seed, key=lambda recipe: len(list(changes(old, recipe))), default=None)


def changes(old: Recipe, new: Recipe) -> Iterator[str]:
    """Yield the differences between two recipes and what they need, a line each and each once.

    Paths of settings start at the recipe that has them, so that a data set which several recipes need gives the same
    lines for each of them.
    """
    yield from dict.fromkeys(_changes(old, new))


def _changes(old: Recipe, new: Recipe) -> Iterator[str]:
    if old.digest == new.digest:
        return
    if isinstance(old, NamedRecipe) or isinstance(new, NamedRecipe):  # only kind and digest are known
        yield f"{new.kind} changed: {short(old.digest)} is {short(new.digest)} now"
        return
    yield from _code_changes(old.code, new.code)
    path = "" if old.kind in ("runs", "evaluations") else new.name
    yield from _document_changes(old.document, new.document, path)
    for role in sorted(old.needs.keys() | new.needs.keys()):
        before, after = old.needs.get(role), new.needs.get(role)
        if before is None or after is None:
            yield f"it needs {'no' if after is None else 'a'} {role} now"
        else:
            yield from _changes(before, after)


def changed_modules(old: Mapping[str, str], new: Mapping[str, str]) -> list[str]:
    """Return the sorted names of the modules whose digests differ between two fingerprints."""
    return sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))


def _code_changes(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    if modules := changed_modules(old, new):
        yield f"code changed: {', '.join(modules)}"


def _document_changes(old: Document, new: Document, path: str) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        place = f"{path}.{key}" if path else key
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _document_changes(before, after, place)
        elif before != after:
            yield f"{place} was {before} and is {after} now"
