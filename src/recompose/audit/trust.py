"""Trust: the state of a number in one word, with the reasons; the same for the page, trace and audit.

A number is judged by the files of its artifact, by everything that it was made from, as that is on disk, and by the
current parameters and code.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recompose.audit.differences import changed_modules, changes, closest_recipe
from recompose.audit.findings import Finding, worst
from recompose.audit.stored import Stored
from recompose.digest import sha256_file
from recompose.fingerprint import fingerprint
from recompose.plan import Plan, Recipe, recipe_of
from recompose.records import BuildInfo
from recompose.tables.caveats import JUDGED_KINDS, Caveat, committed_since, find_caveats
from recompose.tables.cells import Cell
from recompose.tables.lineage import MADE, Lineage
from recompose.tables.published import PublishedLineage
from recompose.tables.table import planned_recipes
from recompose.tracks import TRACKS
from recompose.workspace import Workspace


@dataclass(frozen=True)
class Trust:
    """The trust in a number: its state, the reasons, and a note."""

    state: str
    why: tuple[str, ...] = ()
    note: str = ""  # such as the commit that holds its code by now


@dataclass(frozen=True)
class CellProvenance:
    """Everything that a cell rests on, with its faults."""

    keys: frozenset[str]
    reasons: tuple[tuple[str, str], ...]  # state and reason of each fault
    commit: str | None  # that holds by now the code of a folder that was uncommitted when it was made


@dataclass
class TrustEvaluator:
    """A judge of the numbers of published artifacts.

    With ``reading``, every byte is read; without it, files that nobody touched since they were read count as right.
    """

    work: Workspace
    published: PublishedLineage
    reading: bool = False

    def __post_init__(self) -> None:
        self._provenance: dict[tuple[str, tuple[str, ...]], CellProvenance] = {}  # many cells share theirs
        self._stale: dict[tuple[Any, ...], list[str]] = {}  # by everything that the reasons follow from
        self._changed_files: dict[str, list[str]] = {}
        self._caveats: dict[str, list[Caveat]] = {}

    def trust(self, artifact: str, cell: Cell) -> Trust:
        """Return the trust in a cell of an artifact, ``<paper>/<name>``."""
        reasons = list(self._reasons(artifact, cell))
        state = worst(state for state, _ in reasons)
        why = dict.fromkeys(why for reason_state, why in reasons if reason_state == state)
        provenance = self._cell_provenance(artifact, tuple(cell.made_from))
        note = f"committed since, in {provenance.commit}" if provenance.commit else ""
        return Trust(state, tuple(why), note)

    def _reasons(self, artifact: str, cell: Cell) -> Iterator[tuple[str, str]]:
        """Yield state and reason of everything that speaks against a cell."""
        yield from (("tampered", why) for why in self.changed_files(artifact))
        yield from (("incomplete", f"missing: {key}") for key in cell.missing)
        provenance = self._cell_provenance(artifact, tuple(cell.made_from))
        yield from provenance.reasons
        for caveat in self.caveats(artifact):
            if provenance.keys & {*caveat.keys} and caveat.state != "incomplete":
                yield caveat.state, caveat.why
        yield from (("stale", why) for why in self.stale_reasons(artifact, cell))

    def _cell_provenance(self, artifact: str, made_from: tuple[str, ...]) -> CellProvenance:
        """Return everything behind the cells of an artifact that were made from these."""
        if (artifact, made_from) not in self._provenance:
            keys = list(self.published.closure(artifact, made_from))
            reasons = tuple(reason for key in sorted(keys) for reason in self._faults(artifact, key))
            commit = self._commit_since(keys)
            self._provenance[artifact, made_from] = CellProvenance(frozenset(keys), reasons, commit)
        return self._provenance[artifact, made_from]

    def _faults(self, artifact: str, key: str) -> Iterator[tuple[str, str]]:
        """Yield state and reason of the faults of a stored folder behind an artifact."""
        yield from ((finding.state, finding.text) for finding in self.stored[key])
        yield from ((finding.state, finding.text) for finding in self.conflicts(artifact, key))

    def _commit_since(self, keys: Iterable[str]) -> str | None:
        """Return the commit that by now holds the code of the first of these that was uncommitted when it was made."""
        made, records = self.published.made, self.published.records
        uncommitted = (key for key in keys if key in made and made[key].dirty is not False)
        commits = (committed_since(records[key].code) for key in uncommitted)
        return next((commit for commit in commits if commit), None)

    def stale_reasons(self, artifact: str, cell: Cell) -> list[str]:
        """Return the reasons why the current parameters and code would give another cell."""
        if cell.missing:
            return []
        origin = artifact, tuple(cell.made_from), tuple(cell.names), tuple(cell.beside), cell.benchmark
        if origin not in self._stale:
            self._stale[origin] = stale_reasons(self.work.plan, self.published.lineages[artifact], cell)
        return self._stale[origin]

    def conflicts(self, artifact: str, key: str) -> list[Finding]:
        """Return the disagreement between what an artifact was made from and a stored folder without faults, if any."""
        on_disk = None if self.stored[key] else self.stored.on_disk.get(key)
        if on_disk is None:
            return []
        if self.published.lineages[artifact].records[key] != on_disk.description:
            file = f"{self.work.reports_place}/{artifact}.lineage.json"
            return [Finding.of("edited-record", file, f"has another record of {key} than results/ has", key)]
        content = self.published.contents.get(artifact, {}).get(key)
        if content is None:
            file = f"{self.work.reports_place}/{MADE}"
            return [Finding.of("unknown-content", file, f"does not tell the content of {key}", key)]
        if content != on_disk.content:
            why = "was rebuilt after the reports, with another result"
            return [Finding.of("rebuilt", f"results/{key}", why, key)]
        return []

    def changed_files(self, artifact: str) -> list[str]:
        """Return a sentence for each file of an artifact that differs from what was written."""
        if artifact not in self._changed_files:
            folder = (self.work.reports / artifact).parent
            written = self.published.lineages[artifact].files.items()
            self._changed_files[artifact] = [
                f"{self.work.reports_place}/{artifact.rpartition('/')[0]}/{name} was changed since it was written"
                for name, sha256 in written
                if not (folder / name).is_file() or sha256_file(folder / name) != sha256
            ]
        return self._changed_files[artifact]

    def caveats(self, artifact: str) -> list[Caveat]:
        """Return the caveats of an artifact as a whole."""
        if artifact not in self._caveats:
            lineage = self.published.lineages[artifact]
            codes = {key: record.code for key, record in lineage.records.items() if record.kind in JUDGED_KINDS}
            build_info = {key: build for key in codes if (build := self._build_info(key))}
            missing = {key for cell in lineage.cells for key in cell.missing}
            self._caveats[artifact] = list(find_caveats(codes, build_info, missing))
        return self._caveats[artifact]

    def _build_info(self, key: str) -> BuildInfo | None:
        """Return when, where and from which sources a folder was built, from the reports or else from disk."""
        if key in self.published.made:
            return self.published.made[key]
        return self.stored.on_disk[key].made if not self.stored[key] else None

    @cached_property
    def stored(self) -> Stored:
        """Everything behind the artifacts, with its faults."""
        return Stored(self.work, self.published, self.reading)


def stale_reasons(plan: Plan, lineage: Lineage, cell: Cell) -> list[str]:
    """Return the reasons why the current parameters and code would give another cell, a line each."""
    track = lineage.track
    if track not in TRACKS:
        return [f"there is no track {track!r} any more"]
    reasons: dict[str, None] = {}
    planned = {recipe.key: recipe for recipe in planned_recipes(plan, track, cell)}
    if not planned and cell.made_from:
        return ["it is no longer planned"]
    if not cell.made_from:
        return ["it was never run"] if planned else []
    for key in cell.made_from:
        if key not in planned:
            recipes: dict[str, Recipe] = {}
            for behind in lineage.closure([key]):
                recipes[behind] = recipe_of(lineage.records[behind], recipes)
            old = recipes[key]
            new = closest_recipe(old, planned.values())
            if new is None:
                reasons[f"seed {old.labels.get('seed')} is no longer planned"] = None
            else:
                reasons |= dict.fromkeys(changes(old, new))
    if not reasons and set(planned) - set(cell.made_from):
        reasons[f"seeds are missing: it has {len(cell.made_from)} of {len(planned)} evaluations"] = None
    if not reasons:
        reasons |= dict.fromkeys(metric_code_changes(lineage))
    return list(reasons)


def metric_code_changes(lineage: Lineage) -> Iterator[str]:
    """Yield the changes of the code that computes metrics since a lineage was written."""
    now = fingerprint(TRACKS[lineage.track].metric_modules(cell.metric for cell in lineage.cells))
    if modules := changed_modules(lineage.metric_code, now):
        yield f"code of metrics changed: {', '.join(modules)}"
