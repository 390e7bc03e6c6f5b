"""The stored results behind the reports: raw data, backbones, features, runs, evaluations, each checked once."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field

from recompose.audit.findings import REMAKE, UNCHECKED, Finding
from recompose.data.content import changed_files, raw_files
from recompose.errors import DamagedError
from recompose.metric_cache import COST, MetricCache
from recompose.recipes.plan import Recipe
from recompose.recipes.records import RECORD, Record
from recompose.recipes.records import remedy as store_remedy
from recompose.tables.provenance import MADE
from recompose.tables.published import PublishedLineage
from recompose.workspace import Workspace

NAMED = 5  # changed files of a data set that are named
ABSENT = f"{REMAKE} makes missing results; a release has the scores: `recompose audit --release FILE`"
RESTORE = "restore the file, or remove a synthetic data set's folder to generate it again"
REBUILD = f"`recompose store discard` these results, then {REMAKE}"  # which makes nothing that is complete
NumbersOf = Callable[[MetricCache, Recipe], dict[str, float]]


def absent(key: str) -> Finding:
    """Return the reason why a number is unchecked if a stored folder behind it is not on this disk."""
    return Finding.of("absent", f"results/{key}", "is not on this disk", key, remedy=ABSENT)


@dataclass
class Stored:
    """The stored folders behind published artifacts, with their faults and their numbers.

    With ``reading``, every byte is read; without it, files that nobody touched since they were read count as right.
    ``numbers`` holds the metrics of each valid evaluation: from its scores, or as published where these are not here.
    """

    work: Workspace
    published: PublishedLineage
    reading: bool = False
    findings: list[Finding] = field(default_factory=list)
    numbers: dict[str, dict[str, float]] = field(default_factory=dict)
    followed: set[str] = field(default_factory=set)  # evaluations whose numbers are the published ones
    files: int = 0  # that were read
    on_disk: dict[str, Record] = field(default_factory=dict)  # key -> record
    _faults: dict[str, list[Finding]] = field(default_factory=dict)

    def __getitem__(self, key: str) -> list[Finding]:
        """Return the faults of a stored folder; none if it agrees with the reports."""
        if key not in self._faults:
            self._faults[key] = list(self._find(key))
        return self._faults[key]

    def is_reliable(self, key: str) -> bool:
        """Return True if a stored folder is here and agrees with the reports; its needs may be absent."""
        return key in self.published.records and not self[key]

    def _find(self, key: str) -> Iterator[Finding]:
        store, recipe = self.work.store, self.published.records[key]
        if not store.is_complete(recipe):
            yield absent(key)
            return
        try:
            record = store.record(recipe)
        except DamagedError as error:
            yield _damage(key, error.path.name, error.fault)
            return
        self.on_disk[key] = record
        self.files += len(record.files)
        faults = store.faults(recipe, record, reading=self.reading)
        yield from (_damage(key, name, fault) for name, fault in faults.items())
        made, file = self.published.made.get(key), f"{self.work.reports_place}/{MADE}"
        if made and made.files and made.started == record.made.started and made != record.build:
            why, cure = f"differs from its entry in {file}", f"put back the edited one; `git diff -- {file}` may tell"
            yield Finding.of("edited-record", f"results/{key}/{RECORD}", why, key, remedy=cure)
        # faults of the inputs themselves are theirs
        for role, need in record.needs.items():
            with suppress(DamagedError):
                if store.is_complete(need) and store.record(need).content != record.inputs.get(role):
                    why = f"was made from another {role} than {need.key} is now"
                    yield Finding.of("rebuilt", f"results/{key}", why, key, remedy=REBUILD)

    def check(self) -> None:
        """Check everything, and compute the numbers of all valid evaluations."""
        for key in self.published.records:
            recipe = self.published.records[key]
            self.findings += self[key]
            if recipe.kind == "data" and key in self.on_disk and recipe.track in self.work.catalogue:
                self.findings += self._check_raw(key, recipe)
        self.compute_metrics(self.published.records, MetricCache.recompute_all)

    def _check_raw(self, key: str, recipe: Recipe) -> Iterator[Finding]:
        """Compare raw files with their digests at the time of indexing."""
        root, index = recipe.raw_folder(self.work.data), self.work.store.folder(recipe)
        place = f"data/{root.name}"
        if not root.exists():
            yield Finding.of("absent", place, "is not on this disk", key, remedy=ABSENT)
        elif self[key]:
            yield Finding.of(UNCHECKED, place, "its index is not valid", key)
        else:
            try:
                files = changed_files(root, index)
                self.files += len(raw_files(index))
            except Exception as error:  # what is in an index may be forged
                yield Finding.of("unreadable", f"results/{key}", f"cannot be read: {error}", key, remedy=RESTORE)
                return
            more = f", one of {len(files)} changed files" if len(files) > NAMED else ""
            for name in files[:NAMED]:
                why = f"was changed since it was indexed{more}"
                yield Finding.of("changed-data", f"{place}/{name}", why, key, remedy=RESTORE)

    def compute_metrics(self, keys: Iterable[str], numbers_of: NumbersOf) -> None:
        """Compute the numbers of the valid evaluations among these; those that are not here have the published ones."""
        for key in keys:
            recipe, values = self.published.records[key], self.published.values
            if recipe.kind == "evaluations" and self.is_reliable(key):
                self.findings += self._compute_metrics(key, recipe, numbers_of)
            elif key in values and not self.work.store.is_complete(recipe):
                self.numbers[key] = values[key]
                self.followed.add(key)

    def _compute_metrics(self, key: str, recipe: Recipe, numbers_of: NumbersOf) -> Iterator[Finding]:
        """Recompute an evaluation's numbers from its scores; costs of runs that are not here are the published ones."""
        data = (need.key for need in recipe.needs.values() if need.kind == "data")
        if invalid := [need for need in data if not self.is_reliable(need)]:
            yield Finding.of(UNCHECKED, f"results/{key}", f"its numbers need {invalid[0]}, which is not valid", key)
            return
        try:
            numbers = numbers_of(MetricCache(self.work), recipe)
        except Exception as error:  # scores may be forged, or newer code may need what they lack
            why = f"its scores cannot be read: {type(error).__name__}: {error}"
            yield Finding.of("unreadable", f"results/{key}", why, key, remedy=store_remedy(key))
            return
        run = recipe.needs.get("run")
        is_absent = run is not None and not self.work.store.is_complete(run)
        published = self.published.values.get(key, {}) if is_absent else {}
        self.numbers[key] = numbers | {name: value for name, value in published.items() if name.startswith(COST)}


def _damage(key: str, file: str, fault: str) -> Finding:
    return Finding.of("changed-file", f"results/{key}/{file}", fault, key, remedy=store_remedy(key))
