"""The contents behind the reports, each in its state, and the numbers of evaluations."""

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property

from recompose.audit.findings import REMAKE, Finding
from recompose.data.content import changed_files, raw_files
from recompose.errors import DamagedError
from recompose.phases import FOLLOWING
from recompose.recipes.plan import Recipe
from recompose.recipes.records import RECORD, remedy
from recompose.recipes.state import CHANGED, CURRENT, OUTDATED, UNCHECKED, State, StoredState, changes, state
from recompose.tables.committed import committed_since
from recompose.tables.provenance import COST, MADE, PROVENANCE
from recompose.tables.published import Published
from recompose.tables.reports import Reports
from recompose.tables.stored_results import StoredResults

NAMED = 5  # changed files of a data set that are named
ABSENT = f"{REMAKE} makes missing results; a release has the scores: `recompose audit --release FILE`"
RESTORE = "restore the file, or remove a synthetic data set's folder to generate it again"
REBUILD = f"`recompose store discard` these results, then {REMAKE}"  # which makes nothing that is complete


@dataclass
class Contents:
    """The contents behind published artifacts, with their states and numbers.

    With ``reading``, every byte is read; without it, files that nobody touched since they were read count as right.
    ``numbers`` holds the metrics of each sound evaluation: from its scores, or as published where these are not here.
    """

    reports: Reports
    published: Published
    reading: bool = False
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)  # evaluations whose numbers are the published ones
    files: int = 0  # that were read
    _states: dict[str, StoredState] = field(default_factory=dict)

    def stored(self, key: str) -> StoredState:
        """Return the state of a content in the store, whatever is planned now."""
        if key not in self._states:
            self._states[key] = self._find(key)
        return self._states[key]

    def _find(self, key: str) -> StoredState:
        store, recipe = self.reports.work.store, self.published.recipes[key]
        stored = state(store, recipe, is_told=True, reading=self.reading)
        with suppress(DamagedError):
            if stored.word != UNCHECKED:
                record, told = store.record(recipe), self.published.made.get(key)
                self.files += len(record.files)
                if told and told.files and stored.word != CHANGED:
                    if told.started == record.made.started and told != record.build:
                        fault = f"differs from its entry in {self.reports.work.reports_place}/{MADE}"
                        return StoredState(CHANGED, (f"{RECORD} {fault}",), {RECORD: fault})
                    if told.content != record.content:
                        return StoredState(OUTDATED, ("was made again after the reports, with another result",))
        return stored

    def is_sound(self, key: str) -> bool:
        """Return whether a content is here as it was made; its needs may be absent."""
        return key in self.published.recipes and self.stored(key).word == CURRENT

    def state_of(self, key: str) -> State:
        """Return the state of a content, also by what is planned now."""
        stored: State = self.stored(key)
        return stored.worsened(OUTDATED, *why) if (why := self.outdated.get(key)) else stored

    @cached_property
    def outdated(self) -> dict[str, list[str]]:
        """What is behind the artifacts and no longer planned, with the differences to what is planned in its role."""
        differences: dict[str, list[str]] = {}
        for name, recipe in self.published.artifacts.items():
            now = self.reports.planned(name)
            for role, need in recipe.needs.items():
                for each in {need.key: need, (of := need.needs.get("evaluation", need)).key: of}.values():
                    if each.key not in differences and not self.reports.is_planned(each):
                        differences[each.key] = changes(need, now.needs.get(role) if now else None)
        return differences

    def check(self, *, quick: bool) -> Iterator[Finding]:
        """Yield what speaks against contents, and compute the numbers of all sound evaluations."""
        for key, recipe in self.published.recipes.items():
            yield from self._faults(key, recipe)
            if recipe.kind == "data" and recipe.track in self.reports.work.catalogue:
                yield from self._check_raw(key, recipe)
        yield from self.measure(self.published.recipes, quick=quick)

    def _faults(self, key: str, recipe: Recipe) -> Iterator[Finding]:
        stored, place = self.stored(key), f"results/{key}"
        is_made_again = recipe.kind in FOLLOWING
        if stored.word == CHANGED:
            cure = "" if is_made_again else remedy(key)
            if stored.faults.get(RECORD, "").startswith("differs"):
                cure = f"put back the edited one; `git diff -- {self.reports.work.reports_place}/{MADE}` may tell"
            for file, fault in stored.faults.items():
                yield Finding.of(CHANGED, f"{place}/{file}", fault, key, remedy=cure)
        elif stored.word == OUTDATED:
            yield Finding.of(OUTDATED, place, "; ".join(stored.why), key, remedy="" if is_made_again else REBUILD)
        elif stored.word == UNCHECKED and not is_made_again:  # what follows from evaluations is computed again
            yield Finding.of(UNCHECKED, place, stored.why[0], key, remedy=ABSENT)

    def _check_raw(self, key: str, recipe: Recipe) -> Iterator[Finding]:
        """Compare raw files with their digests at the time of indexing."""
        work = self.reports.work
        root, index = recipe.raw_folder(work.data), work.store.folder(recipe)
        place = f"data/{root.name}"
        if self.stored(key).word == UNCHECKED:
            return
        if not root.exists():
            yield Finding.of(UNCHECKED, place, "is not on this disk", key, remedy=ABSENT)
        elif not self.is_sound(key):
            yield Finding.of(UNCHECKED, place, "was not checked: its index is not valid", key)
        else:
            try:
                files = changed_files(root, index)
                self.files += len(raw_files(index))
            except Exception as error:  # what is in an index may be forged
                yield Finding.of(CHANGED, f"results/{key}", f"cannot be read: {error}", key, remedy=RESTORE)
                return
            more = f", one of {len(files)} changed files" if len(files) > NAMED else ""
            for name in files[:NAMED]:
                why = f"was changed since it was indexed{more}"
                yield Finding.of(CHANGED, f"{place}/{name}", why, key, remedy=RESTORE)

    def measure(self, keys: Iterable[str], *, quick: bool) -> Iterator[Finding]:
        """Compute the numbers of the sound evaluations among these; those that are not here have the published ones.

        Args:
            keys: of any contents.
            quick: take the metrics that the store has.
        """
        results, values = StoredResults(self.reports.work), self.published.values
        for key in keys:
            recipe = self.published.recipes[key]
            if recipe.kind == "evaluations" and self.is_sound(key) and recipe.track in results.tracks:
                yield from self._measure(results, key, recipe, quick=quick)
            elif key in values and self.stored(key).word == UNCHECKED:
                self.numbers[key] = values[key]
                self.followed.add(key)

    def _measure(self, results: StoredResults, key: str, recipe: Recipe, *, quick: bool) -> Iterator[Finding]:
        data = (need.key for need in recipe.needs.values() if need.kind == "data")
        if invalid := [need for need in data if not self.is_sound(need)]:
            yield Finding.of(UNCHECKED, f"results/{key}", f"was not measured: it needs {invalid[0]}", key)
            return
        try:
            measured = dict(results.metrics(recipe)) if quick else results.computed(recipe) | results.costs(recipe)
        except Exception as error:  # scores may be forged, or newer code may need what they lack
            why = f"has scores that cannot be read: {type(error).__name__}: {error}"
            yield Finding.of(CHANGED, f"results/{key}", why, key, remedy=remedy(key))
            return
        told = self.published.values.get(key)
        run = recipe.needs.get("run")
        is_absent = run is not None and not self.reports.work.store.is_complete(run)
        costs = {name: value for name, value in (told or {}).items() if is_absent and is_cost(name)}
        self.numbers[key] = measured | costs
        compared = told if told and self.reports.is_planned(recipe) else {}
        differing = (name for name, value in compared.items() if measured.get(name) != value and not is_cost(name))
        if names := sorted(differing):
            place = f"{self.reports.work.reports_place}/{PROVENANCE}: metrics of {key}"
            why = f"has {names[0]} {compared[names[0]]}; its scores give {measured.get(names[0], 'nothing')}"
            yield Finding.of(CHANGED, place, why, key)

    @cached_property
    def uncommitted(self) -> tuple[str, ...]:
        """The results that come from code which no commit holds."""
        made = self.published.made
        dirty = [key for key in self.published.recipes if key in made and made[key].dirty is not False]
        return tuple(key for key in dirty if not committed_since(self.published.recipes[key]))


def is_cost(name: str) -> bool:
    """Return whether a metric is a cost, which is measured again at every making."""
    return name.startswith(COST)
