"""Trust: whether a number holds, in one word and with the reasons, the same for the page, trace and audit.

A number is judged by the files of its artifact, by everything that it was made from, as that lies on disk, and by what
the current parameters and code ask for.
"""

import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from recompose.digest import digest, sha256_file
from recompose.environment import LOCK
from recompose.errors import DamagedError
from recompose.fingerprint import ROOT, fingerprint, path_of
from recompose.plan import Plan, Recipe, closure, recipe_of
from recompose.report.cells import Cell
from recompose.report.differences import chain, changes, nearest
from recompose.report.lineage import shown_record
from recompose.report.published import MADE, PublishedLineage
from recompose.report.results import Results
from recompose.report.seeds import in_shared_worlds
from recompose.store import content
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

STATES = (
    "tampered",  # a file is not what was written, or a number is not what its runs give
    "incomplete",  # evaluations that were asked for are missing
    "mixed",  # its runs are not of one code, or not from one kind of machine
    "uncommitted",  # its runs come from sources that no commit holds
    "stale",  # the current parameters, code or inputs would give another one
    "unchecked",  # what it rests on is not on this disk, or cannot be relied on itself
    "current",
)
UNCHECKED, CURRENT = STATES[-2:]
NAMED = 3  # missing evaluations that a mark names


def worst(states: Iterable[str]) -> str:
    """The worst of some states; current where there are none."""
    return min(states, key=STATES.index, default=CURRENT)


@dataclass(frozen=True)
class Caveat:
    """What a reader has to know before trusting an artifact: a state, why, and the keys of what is concerned."""

    state: str  # incomplete, mixed, or uncommitted
    why: str
    keys: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """The mark as people read it."""
        return f"{self.state}: {self.why}"


def marks(
    codes: Mapping[str, Mapping[str, str]], made: Mapping[str, Mapping[str, Any]], missing: Iterable[str]
) -> Iterator[Caveat]:
    """What speaks against something that was made from all this: missing seeds, mixed code, sources that no commit
    holds.

    Args:
        codes: key -> module -> digest, of runs and evaluations.
        made: key -> by what, where and when it was made, as far as that is known.
        missing: keys of evaluations that were asked for and are not there.
    """
    if lacking := tuple(sorted(missing)):
        some = ", ".join(lacking[:NAMED]) + (", ..." if len(lacking) > NAMED else "")
        yield Caveat(
            "incomplete",
            f"{len(lacking)} {'evaluation is' if len(lacking) == 1 else 'evaluations are'} missing ({some})",
            lacking,
        )
    versions: dict[str, dict[str, list[str]]] = {}
    for key, code in codes.items():
        for module, version in code.items():
            versions.setdefault(module, {}).setdefault(version, []).append(key)
    mixed = {module: by_version for module, by_version in versions.items() if len(by_version) > 1}
    if mixed:
        yield Caveat("mixed", f"runs differ in the code of {', '.join(sorted(mixed))}", _minority(mixed.values()))
    dirty = tuple(
        key for key, of in made.items() if of["dirty"] is not False and not committed_since(codes.get(key, {}))
    )
    if dirty:
        yield Caveat(
            "uncommitted", f"{len(dirty)} of {len(made)} were made from a changed or unknown working tree", dirty
        )
    for name in ("device", "packages"):
        by_value: dict[str, list[str]] = {}
        for key, of in made.items():
            by_value.setdefault(digest(of[name]), []).append(key)
        if len(by_value) > 1:
            yield Caveat("mixed", f"not all of it was made with the same {name}", _minority([by_value]))


def _minority(groups: Iterable[dict[str, list[str]]]) -> tuple[str, ...]:
    """Of each group of keys by version, all but the largest."""
    odd = (key for versions in groups for keys in sorted(versions.values(), key=len)[:-1] for key in keys)
    return tuple(sorted(set(odd)))


def committed_since(code: Mapping[str, str]) -> str | None:
    """The commit that holds exactly this code by now; None where none does, or where git cannot tell."""
    return _committed(tuple(sorted(code.items())))


@cache
def _committed(code: tuple[tuple[str, str], ...]) -> str | None:
    if not code:
        return None
    try:
        now = fingerprint_of(name for name, _ in code)
    except ModuleNotFoundError:
        return None
    if now != dict(code):
        return None
    top = ROOT.parent.parent
    paths = [str(path_of(name).relative_to(top)) for name, _ in code] + [LOCK]
    if _git(top, "status", "--porcelain", "--", *paths) != "":
        return None
    return _git(top, "log", "-1", "--format=%h", "--", *paths) or None


def fingerprint_of(modules: Iterable[str]) -> dict[str, str]:
    """The digests of these modules alone, without what they import."""
    names = set(modules)
    return {name: version for name, version in fingerprint(names).items() if name in names}


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        done = subprocess.run(["git", "-C", str(folder), *arguments], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.strip()


def watermarks(results: Results, cells: list[Cell]) -> list[str]:
    """The marks of an artifact of these cells, in words."""
    behind = list(closure(recipe for cell in cells for recipe in _recipes(results, cell)))
    missing = {key for cell in cells for key in cell.expected} - {key for cell in cells for key in cell.made_from}
    made = {recipe.key: results.made(recipe) for recipe in behind if recipe.kind in JUDGED}
    codes = {recipe.key: recipe.code for recipe in behind if recipe.kind in JUDGED}
    return [mark.text for mark in marks(codes, {key: of for key, of in made.items() if of}, missing)]


JUDGED = ("runs", "evaluations")  # of these code and circumstances have to be the same throughout an artifact


def _recipes(results: Results, cell: Cell) -> list[Recipe]:
    return [results.recipe(key) for key in cell.made_from]


@dataclass(frozen=True)
class Verdict:
    """What is to be thought of a number."""

    state: str
    why: tuple[str, ...] = ()
    note: str = ""  # what is to be known of it all the same


@dataclass(frozen=True)
class Reason:
    """What speaks against a stored thing: a state, where, and what is so there."""

    state: str
    place: str
    what: str

    @property
    def why(self) -> str:
        """Both, as people read it."""
        return f"{self.place} {self.what}"


@dataclass(frozen=True)
class CellProvenance:
    """What a cell rests on."""

    keys: frozenset[str]
    reasons: tuple[tuple[str, str], ...]  # what speaks against any of it: state and why
    commit: str | None  # that holds, since, the code of what was uncommitted when it was made


@dataclass
class TrustEvaluator:
    """Judges the numbers of published artifacts.

    ``reading`` asks for every byte to be read; without it files are taken to be right that nobody touched since they
    were read.
    """

    work: Workspace
    published: PublishedLineage
    reading: bool = False

    def verdict(self, artifact: str, cell: Mapping[str, Any]) -> Verdict:
        """What is to be thought of a cell of an artifact, ``<paper>/<name>``."""
        reasons = list(self._reasons(artifact, cell))
        state = worst(state for state, _ in reasons)
        why = dict.fromkeys(why for of, why in reasons if of == state)
        commit = self._behind(artifact, tuple(cell["made_from"])).commit
        return Verdict(state, tuple(why), f"committed since, in {commit}" if commit else "")

    def _reasons(self, artifact: str, cell: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
        """Everything that speaks against a cell: state and why."""
        yield from (("tampered", why) for why in self.changed_files(artifact))
        yield from (("incomplete", f"missing: {key}") for key in cell["missing"])
        behind = self._behind(artifact, tuple(cell["made_from"]))
        yield from behind.reasons
        for mark in self.marks(artifact):
            if behind.keys & {*mark.keys} and mark.state != "incomplete":
                yield mark.state, mark.why
        yield from (("stale", why) for why in self.stale(artifact, cell))

    @cached_property
    def _found_behind(self) -> dict[tuple[str, tuple[str, ...]], "CellProvenance"]:
        return {}

    def _behind(self, artifact: str, made_from: tuple[str, ...]) -> "CellProvenance":
        """What cells of an artifact rest on that were made from these: many are made from the same."""
        if (artifact, made_from) not in self._found_behind:
            keys = list(self.published.behind(artifact, made_from))
            reasons = tuple(reason for key in sorted(keys) for reason in self._against(artifact, key))
            self._found_behind[artifact, made_from] = CellProvenance(frozenset(keys), reasons, self._commit_since(keys))
        return self._found_behind[artifact, made_from]

    def _against(self, artifact: str, key: str) -> Iterator[tuple[str, str]]:
        """What speaks against a stored thing that an artifact rests on."""
        yield from ((reason.state, reason.why) for reason in self.stored[key])
        yield from (("tampered", why) for why in self.other_record(artifact, key))

    def _commit_since(self, keys: Iterable[str]) -> str | None:
        """The commit that by now holds the code of the first of these that was uncommitted when it was made."""
        made, records = self.published.made, self.published.records
        uncommitted = (key for key in keys if key in made and made[key]["dirty"] is not False)
        commits = (committed_since(records[key]["code"]) for key in uncommitted)
        return next((commit for commit in commits if commit), None)

    def stale(self, artifact: str, cell: Mapping[str, Any]) -> list[str]:
        """Why the current parameters and code would give another cell."""
        if cell["missing"]:
            return []
        origin = artifact, tuple(cell["made_from"]), tuple(cell["names"]), tuple(cell["beside"]), cell["benchmark"]
        if origin not in self._stale:
            self._stale[origin] = reasons_of(self.work.plan, self.published.lineages[artifact], cell)
        return self._stale[origin]

    @cached_property
    def _stale(self) -> dict[tuple[Any, ...], list[str]]:
        return {}  # by what a cell was made from and for: many are made from the same

    def other_record(self, artifact: str, key: str) -> list[str]:
        """That the lineage of an artifact has another record of a stored thing than there is, where that is as the
        other lineages have it.
        """
        record, on_disk = self.published.lineages[artifact]["records"][key], self.stored.on_disk.get(key)
        if self.stored[key] or on_disk is None or record == shown_record(on_disk):
            return []
        return [f"{self.work.reports_place}/{artifact}.lineage.json has another record of {key} than results/ has"]

    @cached_property
    def _changed(self) -> dict[str, list[str]]:
        return {}

    def changed_files(self, artifact: str) -> list[str]:
        """The files of an artifact that are not what was written."""
        if artifact not in self._changed:
            folder = (self.work.reports / artifact).parent
            written = self.published.lineages[artifact]["files"].items()
            self._changed[artifact] = [
                f"{self.work.reports_place}/{artifact.rpartition('/')[0]}/{name} was changed since it was written"
                for name, sha256 in written
                if not (folder / name).is_file() or sha256_file(folder / name) != sha256
            ]
        return self._changed[artifact]

    @cached_property
    def _marks(self) -> dict[str, list[Caveat]]:
        return {}

    def marks(self, artifact: str) -> list[Caveat]:
        """What speaks against an artifact as a whole."""
        if artifact not in self._marks:
            lineage = self.published.lineages[artifact]
            records = {key: record for key, record in lineage["records"].items() if record["kind"] in JUDGED}
            made = {key: made for key in records if (made := self._made(key))}
            missing = {key for cell in lineage["cells"] for key in cell["missing"]}
            self._marks[artifact] = list(marks({key: record["code"] for key, record in records.items()}, made, missing))
        return self._marks[artifact]

    def _made(self, key: str) -> Mapping[str, Any] | None:
        """By what, where and when something was made, as the reports have it; where they do not tell, as it lies on
        disk.
        """
        if key in self.published.made:
            return self.published.made[key]
        return self.stored.on_disk[key]["made"] if not self.stored[key] else None

    @cached_property
    def stored(self) -> "Stored":
        """What is to be thought of everything that the artifacts were made from."""
        return Stored(self.work, self.published, self.reading)


@dataclass
class Stored:
    """Everything behind published artifacts, as it lies on disk: each thing is looked at once."""

    work: Workspace
    published: PublishedLineage
    reading: bool

    def __post_init__(self) -> None:
        self._judged: dict[str, list[Reason]] = {}
        self.faults: dict[str, dict[str, str]] = {}  # key -> file -> what is wrong with it
        self.on_disk: dict[str, dict[str, Any]] = {}  # key -> record

    def __getitem__(self, key: str) -> list[Reason]:
        """What speaks against a stored thing; nothing where it is as the reports have it."""
        if key not in self._judged:
            self._judged[key] = list(self._judge(key))
        return self._judged[key]

    def _judge(self, key: str) -> Iterator[Reason]:
        store, recipe = self.work.store, recipe_of(self.published.records[key])
        if not store.is_complete(recipe):
            yield Reason(UNCHECKED, f"results/{key}", "is not on this disk")
            return
        try:
            record = store.record(recipe)
        except DamagedError as error:
            yield Reason("tampered", f"results/{key}/{error.path.name}", error.fault)
            return
        self.on_disk[key] = record
        self.faults[key] = store.faults(recipe, record, reading=self.reading)
        yield from (Reason("tampered", f"results/{key}/{name}", fault) for name, fault in self.faults[key].items())
        yield from self._other_record(key, record)
        yield from self._other_inputs(key, record)

    def _other_record(self, key: str, record: Mapping[str, Any]) -> Iterator[Reason]:
        """What it means that a record on disk is not what the reports have of it."""
        made, published = self.published.made.get(key), self.published.records[key]
        place = f"results/{key}"
        if made and made["started"] == record["made"]["started"]:
            if shown_record(record) != published:
                yield Reason("tampered", place, "has another record than the reports have of it")
            elif made != record["made"]:
                yield Reason("tampered", place, f"was made otherwise than {self.work.reports_place}/{MADE} tells")
        elif content(record) != content(published):
            yield Reason("stale", place, "was made again since the reports were, and came out otherwise")

    def _other_inputs(self, key: str, record: Mapping[str, Any]) -> Iterator[Reason]:
        """What it was made from and is not what is there now."""
        for role, need in recipe_of(record).needs.items():
            store = self.work.store
            if store.is_complete(need):
                try:
                    now = content(store.record(need))
                except DamagedError:
                    continue  # what is wrong with that is said of it
                if now != record["inputs"].get(role):
                    yield Reason("stale", f"results/{key}", f"was made from another {role} than {need.key} is now")

    def reliable(self, key: str) -> bool:
        """Whether a thing and everything that it was made from are as the reports have them; of what is not needed
        to read it, absence is no fault.
        """
        return key in self.published.records and not self[key]


def reasons_of(plan: Plan, lineage: Mapping[str, Any], cell: Mapping[str, Any]) -> list[str]:
    """Why a cell is not what the current parameters and code would give, a line for each reason."""
    track = lineage["track"]
    if track not in TRACKS:
        return [f"there is no track {track!r} any more"]
    reasons: dict[str, None] = {}
    wanted = {recipe.key: recipe for recipe in _wanted(plan, track, cell)}
    if not wanted and cell["made_from"]:
        return ["the current parameters do not ask for it"]
    if not cell["made_from"]:
        return ["nothing made it yet"] if wanted else []
    for key in cell["made_from"]:
        if key not in wanted:
            old, records = lineage["records"][key], lineage["records"]
            new = nearest(old, list(wanted.values()), records)
            if new is None:
                reasons[f"seed {old['labels'].get('seed')} is not asked for any more"] = None
            else:
                reasons |= dict.fromkeys(changes(chain(old, records), chain(new)))
    if not reasons and set(wanted) - set(cell["made_from"]):
        reasons[f"seeds are missing: it has {len(cell['made_from'])} of {len(wanted)} evaluations"] = None
    if not reasons:
        reasons |= dict.fromkeys(metric_code_changes(lineage))
    return list(reasons)


def _wanted(plan: Plan, track: str, cell: Mapping[str, Any]) -> list[Recipe]:
    """What the plan would make a cell from."""
    if cell["names"]:
        names = cell["beside"] or cell["names"]
        planned = [plan.evaluations(track, name, cell["benchmark"]) for name in names]
        of_names = zip(names, in_shared_worlds(planned) if cell["beside"] else planned, strict=True)
        return [recipe for name, recipes in of_names if name in cell["names"] for recipe in recipes]
    data = plan.tracks[track].benchmarks.get(cell["benchmark"]) if track in plan.tracks else None
    return [data] if data else []


def metric_code_changes(lineage: Mapping[str, Any]) -> Iterator[str]:
    """What changed in the code that takes metrics."""
    before, now = lineage["metric_code"], fingerprint(TRACKS[lineage["track"]].metric_code)
    modules = sorted(name for name in before.keys() | now.keys() if before.get(name) != now.get(name))
    if modules:
        yield f"code of metrics changed: {', '.join(modules)}"
