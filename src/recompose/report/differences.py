"""Differences between two recipes and everything that they were made from, as lines of text."""

from collections.abc import Iterator, Mapping
from typing import Any

from recompose.digest import short
from recompose.plan import Recipe

Description = Mapping[str, Any]  # of a recipe, or the record of one
Chain = dict[str, Any]  # a description whose needs are descriptions, too, as far as they are known


def chain(described: Description | Recipe, records: Mapping[str, Description] | None = None) -> Chain:
    """Return a recipe or a description with its needs expanded; descriptions are looked up by key among records."""
    if isinstance(described, Recipe):
        needs = {role: chain(need) for role, need in described.needs.items()}
        return {**described.description(), "needs": needs}
    needs = {}
    for role, need in described["needs"].items():
        record = (records or {}).get(f"{need['kind']}/{short(need['digest'])}")
        needs[role] = chain(record, records) if record else {**need, "needs": {}}
    return {**described, "needs": needs}


def closest_recipe(old: Description, planned: list[Recipe], records: Mapping[str, Description]) -> Recipe | None:
    """Return the planned recipe with the same seed and the fewest differences, or None."""
    seed, before = old["labels"].get("seed"), chain(old, records)
    same_seed = [recipe for recipe in planned if recipe.labels.get("seed") == seed]
    return min(same_seed, key=lambda recipe: len(list(changes(before, chain(recipe)))), default=None)


def changes(old: Chain, new: Chain) -> Iterator[str]:
    """Yield the differences between two chains, a line each and each once.

    Paths of settings start at the recipe that has them, so that a data set which several recipes need gives the same
    lines for each of them.
    """
    yield from dict.fromkeys(_changes(old, new))


def _changes(old: Chain, new: Chain) -> Iterator[str]:
    if old["digest"] == new["digest"]:
        return
    if "document" not in old or "document" not in new:
        yield f"{new['kind']} changed: {short(old['digest'])} is {short(new['digest'])} now"
        return
    yield from _code_changes(old["code"], new["code"])
    path = "" if old["kind"] in ("runs", "evaluations") else str(new["name"])
    yield from _document_changes(old["document"], new["document"], path)
    for role in sorted(old["needs"].keys() | new["needs"].keys()):
        before, after = old["needs"].get(role), new["needs"].get(role)
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


def _document_changes(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        place = f"{path}.{key}" if path else key
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _document_changes(before, after, place)
        elif before != after:
            yield f"{place} was {before} and is {after} now"
