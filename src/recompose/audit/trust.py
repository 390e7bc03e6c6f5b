"""Trust: the state of a number in one word, with the reasons; the same for the page, trace and audit.

A number is judged by the files of its artifact, by everything that it was made from, as that is on disk, and by the
current parameters and code.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, reduce
from itertools import chain
from pathlib import Path

from recompose.audit.findings import REMAKE, Finding, Key, Trust
from recompose.audit.stored import Stored
from recompose.digest import sha256_file, short
from recompose.metric_cache import metric_code
from recompose.papers.declaration import Paper
from recompose.parts.cells import Cell
from recompose.recipes.plan import Recipe
from recompose.tables.caveats import JUDGED_KINDS, Caveat, committed_since, find_caveats
from recompose.tables.differing import differing
from recompose.tables.due import planned_recipes
from recompose.tables.lineage import Lineage
from recompose.tables.provenance import MADE, PROVENANCE

CHANGED = "was changed since it was written"
Reasons = list[tuple[str, str]]  # state and reason


@dataclass
class Judge:
    """A judge of the numbers of an artifact of a paper."""

    stored: Stored
    paper: Paper
    name: str
    # many cells share theirs
    _behind: dict[tuple[str, ...], tuple[Reasons, str]] = field(default_factory=dict)
    _stale: dict[tuple[tuple[str, ...], ...], list[str]] = field(default_factory=dict)

    @property
    def artifact(self) -> str:
        """Its place among the reports."""
        return f"{self.paper.name}/{self.name}"

    @property
    def lineage(self) -> Lineage:
        """Its lineage."""
        return self.stored.published.lineages[self.artifact]

    @property
    def folder(self) -> Path:
        """The folder of its files."""
        return self.stored.work.reports / self.paper.name

    def place(self, file: str, key: Key = ("", "", "", "")) -> str:
        """Return the place of one of its files, or of a cell in it."""
        _, view, row, column = key
        folder = self.stored.work.reports_place
        path = self.provenance if file == PROVENANCE else f"{folder}/{self.paper.name}/{file}"
        return " · ".join(part for part in (path, row, column, view) if part)

    @property
    def provenance(self) -> str:
        """The place of its lineage."""
        return f"{self.stored.work.reports_place}/{PROVENANCE}: {self.artifact}"

    def trust(self, cell: Cell) -> Trust:
        """Return the trust in a cell."""
        behind, note = self._reasons_behind(tuple(cell.made_from))
        reasons = [
            *(("tampered", f"{self.place(file)} {CHANGED}") for file in self.changed_files),
            *(("incomplete", f"missing: {key}") for key in cell.missing),
            *behind,
            *(("stale", why) for why in self.stale_reasons(cell)),
        ]
        return reduce(lambda trust, reason: trust.worsened(*reason), reasons, Trust(note=note))

    def _reasons_behind(self, made_from: tuple[str, ...]) -> tuple[Reasons, str]:
        """Return the faults of everything behind a cell with the caveats that concern it, and a note on its commit."""
        if made_from not in self._behind:
            keys = list(self.lineage.closure(made_from))
            faults = [fault for key in sorted(keys) for fault in self.stored[key]]
            faults += [self.conflicts[key] for key in sorted(keys) if key in self.conflicts]
            reasons = [(fault.state, fault.text) for fault in faults]
            reasons += [
                (caveat.state, caveat.why)
                for caveat in self.caveats
                if caveat.state != "incomplete" and not {*caveat.keys}.isdisjoint(keys)
            ]
            self._behind[made_from] = reasons, self._commit_note(keys)
        return self._behind[made_from]

    def _commit_note(self, keys: Iterable[str]) -> str:
        """Return the commit that by now holds the code of the first of these that was uncommitted when it was made."""
        made = self.stored.published.made
        uncommitted = (key for key in keys if key in made and made[key].dirty is not False)
        commits = (committed_since(self.lineage.records[key]) for key in uncommitted)
        return next((f"committed since, in {commit}" for commit in commits if commit), "")

    def stale_reasons(self, cell: Cell) -> list[str]:
        """Return the reasons why the current parameters and code would give another cell."""
        if cell.missing:
            return []
        recipes = planned_recipes(self.stored.work.plan, self.lineage.track, cell)
        planned, made_from = {recipe.key: recipe for recipe in recipes}, tuple(dict.fromkeys(cell.made_from))
        evaluations = made_from, tuple(planned)
        if evaluations not in self._stale:
            self._stale[evaluations] = self._find_stale_reasons(made_from, planned)
        return self._stale[evaluations]

    def _find_stale_reasons(self, made_from: tuple[str, ...], planned: Mapping[str, Recipe]) -> list[str]:
        if not made_from:
            return ["it was never run"] if planned else []
        if not planned:
            return ["it is no longer planned"]
        if others := [key for key in made_from if key not in planned]:
            reasons = (_changes_to_closest(self.stored.published.records[key], planned.values()) for key in others)
            return list(dict.fromkeys(chain.from_iterable(reasons)))
        if planned.keys() - {*made_from}:
            return [f"seeds are missing: it has {len(made_from)} of {len(planned)} evaluations"]
        return self.metric_code_changes

    @cached_property
    def metric_code_changes(self) -> list[str]:
        """The changes of the code that computes metrics since the lineage was written; they may change numbers
        legitimately.
        """
        track = self.stored.work.catalogue.get(self.lineage.track)
        now = metric_code(track, (cell.metric for cell in self.lineage.cells)) if track else {}
        return list(_code_changes("code of metrics", self.lineage.metric_code, now))

    @cached_property
    def conflicts(self) -> dict[str, Finding]:
        """The disagreement between what the artifact was made from and each stored folder without faults, if any."""
        sound = (key for key in self.lineage.records if not self.stored[key])
        return {key: finding for key in sound if (finding := self._conflict(key))}

    @cached_property
    def rebuilt(self) -> set[str]:
        """The results on this disk that are others than those that it was made from."""
        return {key for key, finding in self.conflicts.items() if finding.code == "rebuilt"}

    def _conflict(self, key: str) -> Finding | None:
        on_disk, reports, place = self.stored.on_disk[key], self.stored.work.reports_place, self.provenance
        if self.lineage.records[key].digest != on_disk.digest:
            return Finding.of("edited-record", place, f"has another record of {key} than results/ has", key)
        content = self.stored.published.contents.get(self.artifact, {}).get(key)
        if content is None:
            return Finding.of("unknown-content", f"{reports}/{MADE}", f"does not tell the content of {key}", key)
        if content != on_disk.content:
            why = "was rebuilt after the reports, with another result"
            return Finding.of("rebuilt", f"results/{key}", why, key)
        if self.lineage.records[key].plain() != on_disk.plain():  # the same recipe under other names
            why, cure = f"has other names or labels of {key} than results/ has", f"remove this file, then {REMAKE}"
            return Finding.of("renamed", place, why, key, remedy=cure)
        return None

    @cached_property
    def changed_files(self) -> list[str]:
        """The names of its files that differ from what was written, or are missing."""
        paths = {name: self.folder / name for name in self.lineage.files}
        return [
            name for name, path in paths.items() if not path.is_file() or sha256_file(path) != self.lineage.files[name]
        ]

    @cached_property
    def caveats(self) -> list[Caveat]:
        """The caveats of the artifact as a whole."""
        judged = {key: record for key, record in self.lineage.records.items() if record.kind in JUDGED_KINDS}
        told = self.stored.published.made
        builds = {
            key: told[key] if key in told else self.stored.on_disk[key].made
            for key in judged
            if key in told or not self.stored[key]
        }
        return list(find_caveats(judged, builds, {key for cell in self.lineage.cells for key in cell.missing}))


def _changes_to_closest(old: Recipe, planned: Iterable[Recipe]) -> list[str]:
    """Return the differences between a recipe and the planned one with its seed that has the fewest."""
    seed = old.labels.get("seed")
    differences = (changes(old, recipe) for recipe in planned if recipe.labels.get("seed") == seed)
    return min(differences, key=len, default=[f"seed {seed} is no longer planned"])


def changes(old: Recipe, new: Recipe) -> list[str]:
    """Return the differences between two recipes and what they need, a line each and each once.

    Paths of settings start at the recipe that has them, so that a data set which several recipes need gives the same
    lines for each of them.
    """
    if old.digest == new.digest:
        return []
    lines = dict.fromkeys(_changes(old, new))
    return [*lines] or [f"{new.kind} changed: {short(old.digest)} is {short(new.digest)} now"]  # an empty section


def _changes(old: Recipe, new: Recipe) -> Iterator[str]:
    if old.digest == new.digest:
        return
    yield from _code_changes("code", old.code, new.code)
    path = "" if old.kind in JUDGED_KINDS else f"{new.name}."
    for name, values in sorted(differing({"then": old.document, "now": new.document}).items()):
        yield f"{path}{name} was {values.get('then', 'absent')} and is {values.get('now', 'absent')} now"
    for role in sorted(old.needs.keys() | new.needs.keys()):
        before, after = old.needs.get(role), new.needs.get(role)
        if before is None or after is None:
            yield f"it needs {'no' if after is None else 'a'} {role} now"
        else:
            yield from _changes(before, after)


def _code_changes(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    if modules := sorted(module for module in old.keys() | new.keys() if old.get(module) != new.get(module)):
        yield f"{name} changed: {', '.join(modules)}"
