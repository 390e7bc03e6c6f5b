"""What differs between two recipes and all that they were made from, in lines for people."""

from collections.abc import Iterator, Mapping
from typing import Any

from recompose.digest import short
from recompose.plan import Recipe

Chain = dict[str, Any]  # a description whose needs are descriptions, too, as far as they are known


def chain(described: Mapping[str, Any] | Recipe, records: Mapping[str, Mapping[str, Any]] | None = None) -> Chain:
    """A recipe, or a description, with what it needs in it; descriptions are looked up by key among records."""
    if isinstance(described, Recipe):
        needs = {role: chain(need) for role, need in described.needs.items()}
        return {**described.description(), "needs": needs}
    needs = {}
    for role, need in described["needs"].items():
        record = (records or {}).get(f"{need['kind']}/{short(need['digest'])}")
        needs[role] = chain(record, records) if record else {**need, "needs": {}}
    return {**described, "needs": needs}


def nearest(old: Mapping[str, Any], wanted: list[Recipe], records: Mapping[str, Mapping[str, Any]]) -> Recipe | None:
    """Of the recipes that are wanted the one of the same seed with the fewest differences; None where none has that
    seed.
    """
    seed, before = old["labels"].get("seed"), chain(old, records)
    same_seed = [recipe for recipe in wanted if recipe.labels.get("seed") == seed]
    return min(same_seed, key=lambda recipe: len(list(changes(before, chain(recipe)))), default=None)


def changes(old: Chain, new: Chain) -> Iterator[str]:
    """What differs between two chains, a line each; a thing that several parts need is spoken of once.

    A path begins anew at each thing that is needed, so that a data set that several parts name gives the same lines.
    """
    yield from dict.fromkeys(_changes(old, new))


def _changes(old: Chain, new: Chain) -> Iterator[str]:
    if old["digest"] == new["digest"]:
        return
    if "document" not in old or "document" not in new:
        yield f"{new['kind']} changed: {short(old['digest'])} is {short(new['digest'])} now"
        return
    yield from _of_code(old["code"], new["code"])
    yield from _of_documents(
        old["document"], new["document"], "" if old["kind"] in ("runs", "evaluations") else str(new["name"])
    )
    for role in sorted(old["needs"].keys() | new["needs"].keys()):
        before, after = old["needs"].get(role), new["needs"].get(role)
        if before is None or after is None:
            yield f"it needs {'no' if after is None else 'a'} {role} now"
        else:
            yield from _changes(before, after)


def _of_code(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    modules = sorted(name for name in old.keys() | new.keys() if old.get(name) != new.get(name))
    if modules:
        yield f"code changed: {', '.join(modules)}"


def _of_documents(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[str]:
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        place = f"{path}.{key}" if path else key
        if isinstance(before, Mapping) and isinstance(after, Mapping):
            yield from _of_documents(before, after, place)
        elif before != after:
            yield f"{place} was {before} and is {after} now"
