"""The state of a content: current, outdated, changed, missing or unchecked. Everything that tells of a state asks here.

A content is current where the store has it as it was made, from what the store has now of its inputs. What parameters
or code ask for otherwise is another recipe: ``changes`` tells the differences.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from recompose.console import first
from recompose.digest import short
from recompose.errors import DamagedError
from recompose.recipes.plan import Recipe
from recompose.recipes.records import flat
from recompose.recipes.store import Store

STATES = CHANGED, OUTDATED, MISSING, UNCHECKED, CURRENT = (  # the worst first
    "changed",  # a file differs from what was made
    "outdated",  # parameters, code or inputs are others by now
    "missing",  # it was not made
    "unchecked",  # what it rests on is not on this disk
    "current",
)
NAMED = 6  # modules that a reason names
OWN_SETTINGS = ("runs", "evaluations")  # kinds whose settings are told without their name


@dataclass(frozen=True)
class State:
    """A state in one word, with the reasons."""

    word: str = CURRENT
    why: tuple[str, ...] = ()

    def worsened(self, word: str, *why: str) -> "State":
        """Return the state once something else is known; the worst word counts, with all of its reasons."""
        if STATES.index(word) > STATES.index(self.word):
            return self
        reasons = self.why if word == self.word else ()
        return State(word, tuple(dict.fromkeys([*reasons, *why])))


@dataclass(frozen=True)
class StoredState(State):
    """The state of a stored content, with what is wrong with each of its files, by name."""

    faults: Mapping[str, str] = field(default_factory=dict)


def state(store: Store, recipe: Recipe, *, is_told: bool = False, reading: bool = False) -> StoredState:
    """Return the state of a recipe's content.

    Args:
        store: where it is looked for.
        recipe: of the content.
        is_told: reports tell of it, so that it is unchecked where the store lacks it, otherwise missing.
        reading: read all bytes, also of files that were not touched since they were last found right.
    """
    if not store.is_complete(recipe):
        return StoredState(UNCHECKED, ("is not on this disk",)) if is_told else StoredState(MISSING, ("is not made",))
    try:
        record = store.record(recipe)
    except DamagedError as error:
        return StoredState(CHANGED, (error.fault,), {error.path.name: error.fault})
    if faults := store.faults(recipe, record, reading=reading):
        return StoredState(CHANGED, tuple(f"{name} {fault}" for name, fault in faults.items()), faults)
    others = [
        f"was made from another {role} than {need.key} is now"
        for role, need in recipe.needs.items()
        if (digest := _input(store, role, need)) is not None and digest != record.inputs.get(role)
    ]
    return StoredState(OUTDATED, tuple(others)) if others else StoredState()


def _input(store: Store, role: str, need: Recipe) -> str | None:
    """Return the digest of what a need holds; None where it is not here, or not valid, which is its own fault."""
    try:
        return store.record(need).input_of(role) if store.is_complete(need) else None
    except DamagedError:
        return None


def changes(old: Recipe, new: Recipe | None) -> list[str]:
    """Return the differences between two recipes and what they need, a line each and each once.

    Paths of settings start at the recipe that has them, so that a data set which several recipes need gives the same
    lines for each of them. Where there is no new one, the only difference is that.
    """
    if new is None:
        return ["it is no longer planned"]
    if old.digest == new.digest:
        return []
    lines = dict.fromkeys(_changes(old, new))
    return [*lines] or [f"{new.kind} changed: {short(old.digest)} is {short(new.digest)} now"]  # an empty section


def _changes(old: Recipe, new: Recipe) -> Iterator[str]:
    if old.digest == new.digest:
        return
    yield from own_changes(old, new)
    for role in sorted(old.needs.keys() | new.needs.keys()):
        before, after = old.needs.get(role), new.needs.get(role)
        if before is None or after is None:
            yield f"it needs {'no' if after is None else 'a'} {role} now"
        else:
            yield from _changes(before, after)


def own_changes(old: Recipe, new: Recipe) -> Iterator[str]:
    """Yield the differences between two recipes, without those between their needs."""
    if modules := sorted(module for module in old.code.keys() | new.code.keys() if _differs(module, old, new)):
        yield f"code changed: {', '.join(first(modules, NAMED))}"
    path = "" if old.kind in OWN_SETTINGS else f"{new.name}."
    then, now = dict(flat(old.document)), dict(flat(new.document))
    for name in sorted(name for name in then.keys() | now.keys() if _value(then, name) != _value(now, name)):
        yield f"{path}{name} was {_value(then, name)} and is {_value(now, name)} now"


def _differs(module: str, old: Recipe, new: Recipe) -> bool:
    return old.code.get(module) != new.code.get(module)


def _value(settings: Mapping[str, object], name: str) -> object:
    return settings.get(name, "absent")


def worst(states: Iterable[State]) -> State:
    """Return the worst of some states with all of its reasons; current without any."""
    combined = State()
    for each in states:
        combined = combined.worsened(each.word, *each.why) if each.word != CURRENT else combined
    return combined
