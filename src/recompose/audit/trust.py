"""Trust: the state of a number in one word, with the reasons; the same for the page, trace and audit.

A number is judged by the files of its artifact, by everything that it was made from, as that is on disk, and by the
current parameters and code.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recompose.audit.findings import Finding, Trust
from recompose.audit.stored import Stored
from recompose.digest import sha256_file, short
from recompose.metric_cache import metric_code
from recompose.parts.cells import Cell
from recompose.plan import Document, Recipe
from recompose.records import BuildInfo
from recompose.tables.artifacts import planned_recipes
from recompose.tables.caveats import JUDGED_KINDS, Caveat, committed_since, find_caveats
from recompose.tables.differing import differing
from recompose.tables.lineage import MADE, Lineage

Reasons = list[tuple[str, str]]  # state and reason of everything that speaks against a number


@dataclass
class Judge:
    """A judge of the numbers of an artifact, ``<paper>/<name>``."""

    stored: Stored
    artifact: str

    def __post_init__(self) -> None:
        self._behind: dict[tuple[str, ...], tuple[Reasons, str]] = {}  # many cells share theirs
        self._stale: dict[tuple[Any, ...], list[str]] = {}  # by everything that the reasons follow from

    @property
    def lineage(self) -> Lineage:
        """Its lineage."""
        return self.stored.published.lineages[self.artifact]

    def trust(self, cell: Cell) -> Trust:
        """Return the trust in a cell."""
        behind, note = self._reasons_behind(tuple(cell.made_from))
        trust, stale = Trust(note=note), (("stale", why) for why in self.stale_reasons(cell))
        changed = (("tampered", why) for why in self.changed_files)
        missing = (("incomplete", f"missing: {key}") for key in cell.missing)
        for state, why in (*changed, *missing, *behind, *stale):
            trust = trust.worsened(state, why)
        return trust

    def _reasons_behind(self, made_from: tuple[str, ...]) -> tuple[Reasons, str]:
        """Return the faults of everything behind a cell with the caveats that concern it, and a note on its commit."""
        if made_from not in self._behind:
            keys = list(self.lineage.closure(made_from))
            faults = [*(fault for key in sorted(keys) for fault in (*self.stored[key], *self.conflicts.get(key, ())))]
            concerning = (
                caveat for caveat in self.caveats if caveat.state != "incomplete" and {*caveat.keys} & {*keys}
            )
            reasons = [*((each.state, each.text) for each in faults), *((each.state, each.why) for each in concerning)]
            self._behind[made_from] = reasons, self._commit_note(keys)
        return self._behind[made_from]

    def _commit_note(self, keys: Iterable[str]) -> str:
        """Return the commit that by now holds the code of the first of these that was uncommitted when it was made."""
        made = self.stored.published.made
        uncommitted = (key for key in keys if key in made and made[key].dirty is not False)
        commits = (committed_since(self.lineage.records[key].code) for key in uncommitted)
        return next((f"committed since, in {commit}" for commit in commits if commit), "")

    def stale_reasons(self, cell: Cell) -> list[str]:
        """Return the reasons why the current parameters and code would give another cell."""
        if cell.missing:
            return []
        names = tuple(cell.names), tuple(cell.beside), cell.rule
        origin = tuple(cell.made_from), names, cell.benchmark, tuple(cell.other_benchmarks)
        if origin not in self._stale:
            self._stale[origin] = list(dict.fromkeys(self._find_stale_reasons(cell)))
        return self._stale[origin]

    def _find_stale_reasons(self, cell: Cell) -> Iterator[str]:
        if self.lineage.track not in self.stored.work.catalogue:
            yield from self.metric_code_changes
            return
        made_from = dict.fromkeys(cell.made_from)
        recipes = planned_recipes(self.stored.work.plan, self.lineage.track, cell)
        planned = {recipe.key: recipe for recipe in recipes}
        if not made_from:
            yield from ["it was never run"] if planned else []
        elif not planned:
            yield "it is no longer planned"
        elif others := [key for key in made_from if key not in planned]:
            for key in others:
                yield from _changes_to_closest(self.stored.published.recipes[key], planned.values())
        elif planned.keys() - made_from.keys():
            yield f"seeds are missing: it has {len(cell.made_from)} of {len(planned)} evaluations"
        else:
            yield from self.metric_code_changes

    @cached_property
    def metric_code_changes(self) -> list[str]:
        """The changes of the code that computes metrics since the lineage was written; they may change numbers
        legitimately.
        """
        if self.lineage.track not in self.stored.work.catalogue:
            return [f"there is no track {self.lineage.track!r} any more"]
        track = self.stored.work.catalogue[self.lineage.track]
        now = metric_code(track, (cell.metric for cell in self.lineage.cells))
        return list(_code_changes("code of metrics", self.lineage.metric_code, now))

    @cached_property
    def conflicts(self) -> dict[str, list[Finding]]:
        """The disagreement between what the artifact was made from and each stored folder without faults, if any."""
        sound = (key for key in self.lineage.records if not self.stored[key])
        return {key: [finding] for key in sound if (finding := self._conflict(key))}

    def _conflict(self, key: str) -> Finding | None:
        on_disk, reports = self.stored.on_disk[key], self.stored.work.reports_place
        if self.lineage.records[key] != on_disk.description:
            why = f"has another record of {key} than results/ has"
            return Finding.of("edited-record", f"{reports}/{self.artifact}.lineage.json", why, key)
        content = self.stored.published.contents.get(self.artifact, {}).get(key)
        if content is None:
            return Finding.of("unknown-content", f"{reports}/{MADE}", f"does not tell the content of {key}", key)
        if content != on_disk.content:
            why = "was rebuilt after the reports, with another result"
            return Finding.of("rebuilt", f"results/{key}", why, key)
        return None

    @cached_property
    def changed_files(self) -> list[str]:
        """A sentence for each file of the artifact that differs from what was written."""
        work, paper = self.stored.work, self.artifact.rpartition("/")[0]
        paths = {work.reports / paper / name: sha256 for name, sha256 in self.lineage.files.items()}
        return [
            f"{work.reports_place}/{paper}/{path.name} was changed since it was written"
            for path, sha256 in paths.items()
            if not path.is_file() or sha256_file(path) != sha256
        ]

    @cached_property
    def caveats(self) -> list[Caveat]:
        """The caveats of the artifact as a whole."""
        codes = {key: record.code for key, record in self.lineage.records.items() if record.kind in JUDGED_KINDS}
        build_info = {key: build for key in codes if (build := self._build_info(key))}
        return list(find_caveats(codes, build_info, {key for cell in self.lineage.cells for key in cell.missing}))

    def _build_info(self, key: str) -> BuildInfo | None:
        """Return when, where and from which sources a folder was built, from the reports or else from disk."""
        if key in self.stored.published.made:
            return self.stored.published.made[key]
        return self.stored.on_disk[key].made if not self.stored[key] else None


def _changes_to_closest(old: Recipe, planned: Iterable[Recipe]) -> Iterable[str]:
    """Return the differences between a recipe and the planned one with its seed that has the fewest."""
    seed = old.labels.get("seed")
    differences = (list(changes(old, recipe)) for recipe in planned if recipe.labels.get("seed") == seed)
    return min(differences, key=len, default=[f"seed {seed} is no longer planned"])


def changes(old: Recipe, new: Recipe) -> Iterator[str]:
    """Yield the differences between two recipes and what they need, a line each and each once.

    Paths of settings start at the recipe that has them, so that a data set which several recipes need gives the same
    lines for each of them.
    """
    if old.digest != new.digest:
        yield from dict.fromkeys(_changes(old, new)) or [_digest_change(old, new)]  # such as an empty section


def _changes(old: Recipe, new: Recipe) -> Iterator[str]:
    if old.digest == new.digest:
        return
    if old.named or new.named:  # only kind and digest are known
        yield _digest_change(old, new)
        return
    yield from _code_changes("code", old.code, new.code)
    yield from _document_changes(old.document, new.document, "" if old.kind in JUDGED_KINDS else f"{new.name}.")
    for role in sorted(old.needs.keys() | new.needs.keys()):
        before, after = old.needs.get(role), new.needs.get(role)
        if before is None or after is None:
            yield f"it needs {'no' if after is None else 'a'} {role} now"
        else:
            yield from _changes(before, after)


def _digest_change(old: Recipe, new: Recipe) -> str:
    return f"{new.kind} changed: {short(old.digest)} is {short(new.digest)} now"


def _code_changes(name: str, old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    if modules := sorted(module for module in old.keys() | new.keys() if old.get(module) != new.get(module)):
        yield f"{name} changed: {', '.join(modules)}"


def _document_changes(old: Document, new: Document, path: str) -> Iterator[str]:
    for name, values in sorted(differing({"then": old, "now": new}).items()):
        yield f"{path}{name} was {values.get('then', 'absent')} and is {values.get('now', 'absent')} now"
