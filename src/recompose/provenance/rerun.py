"""A comparison of runs that were made again with the reports, and with the stored results that are at hand."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass
from statistics import mean

from recompose.errors import DamagedError
from recompose.inference.retraining import DIFFERENT, RetrainingSpread, classify
from recompose.metric_cache import COST, MetricCache
from recompose.plan import Recipe, closure
from recompose.provenance.cell_place import within
from recompose.records import VOLATILE, BuildInfo, Record, StableRecord
from recompose.report.lineage import LineageCell
from recompose.report.published import PublishedLineage
from recompose.report.retraining import RetrainingSpreads
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

BYTES, OTHER_MACHINE, DIFFERS, UNPLANNED, FAILED = OUTCOMES = (
    "equal to the byte",
    "other bytes on another machine",  # and no number that is different
    "different",
    "not planned any more",
    "failed",
)
EXACT = ("data", "pixels")  # kinds that have the same bytes on all machines


@dataclass(frozen=True)
class FileDifference:
    """A stored result that was made again with other bytes."""

    key: str
    source: str  # the reports or the stored results that it was compared with
    files: tuple[str, ...]
    machines: tuple[str, ...]  # the differences between the machines; none: the bytes should agree

    @property
    def is_explained(self) -> bool:
        """True where another machine explains the difference."""
        return bool(self.machines)


@dataclass(frozen=True)
class NumberComparison:
    """A number of the reports and the number that a rerun gives."""

    artifact: str
    place: str  # row, column and view
    then: float
    now: float
    word: str


@dataclass(frozen=True)
class RerunComparison:
    """A run that was made again, and its comparison."""

    run: str
    name: str
    files: tuple[FileDifference, ...] = ()
    numbers: tuple[NumberComparison, ...] = ()
    fault: str = ""  # the reason why it could not be made
    planned: bool = True

    @property
    def outcome(self) -> str:
        """One of OUTCOMES."""
        if not self.planned:
            return UNPLANNED
        if self.fault:
            return FAILED
        unexplained = any(not difference.is_explained for difference in self.files)
        if unexplained or any(number.word == DIFFERENT for number in self.numbers):
            return DIFFERS
        return OTHER_MACHINE if self.files else BYTES

    @property
    def words(self) -> Counter[str]:
        """The number of numbers by word."""
        return Counter(number.word for number in self.numbers)


@dataclass(frozen=True)
class RerunComparer:
    """A comparison of results in a store of their own with the reports and the stored results of a workspace."""

    work: Workspace
    published: PublishedLineage
    rerun: Workspace
    spreads: RetrainingSpreads

    def compare(self, run: str, evaluations: Iterable[str]) -> RerunComparison:
        """Return the comparison of a run, given by its key and those of its evaluations; all were made again."""
        recipes = [self.work.plan.by_key[key] for key in evaluations]
        made = [recipe for recipe in closure(recipes) if self.rerun.store.is_complete(recipe)]
        files = [difference for recipe in made for difference in self._file_differences(recipe)]
        place = self.work.reports_place
        moved = {difference.key for difference in files if difference.is_explained and difference.source == place}
        numbers = tuple(self._numbers(recipes, moved))
        return RerunComparison(run, self.published.records[run].name, tuple(files), numbers)

    def _file_differences(self, recipe: Recipe) -> Iterator[FileDifference]:
        """Yield the differences of a result from each lineage's record of it, and from the stored one."""
        new = self.rerun.store.record(recipe)
        reported = {
            record.content: record
            for lineage in self.published.lineages.values()
            if (record := lineage.records.get(recipe.key))
        }
        for record in reported.values():
            if files := differing_files(record, new):
                made = self.published.made.get(recipe.key)
                yield FileDifference(recipe.key, self.work.reports_place, files, self._machines(recipe, made, new))
        if not self.work.store.is_complete(recipe):
            return
        try:
            stored = self.work.store.record(recipe)
        except DamagedError as error:
            yield FileDifference(recipe.key, "results", (error.path.name,), ())
            return
        faults = self.work.store.faults(recipe, stored, reading=True)
        if changed := tuple(sorted(faults.keys() - VOLATILE)):
            yield FileDifference(recipe.key, "results", changed, ())
        elif files := differing_files(stored, new):
            yield FileDifference(recipe.key, "results", files, self._machines(recipe, stored.made, new))

    def _machines(self, recipe: Recipe, made: BuildInfo | None, new: Record) -> tuple[str, ...]:
        """Return the differences between machines that explain other bytes; some kinds have the same bytes on all."""
        is_exact = recipe.kind in EXACT or (recipe.kind == "backbones" and not recipe.needs)
        return () if made is None or is_exact else tuple(machine_differences(made, new.made))

    def _numbers(self, evaluations: Iterable[Recipe], moved: Set[str]) -> Iterator[NumberComparison]:
        """Yield the numbers of the reports that follow from these evaluations, where each has a value of its own.

        Retraining excuses only numbers of evaluations that another machine gave other bytes: the keys in ``moved``.
        """
        cache = MetricCache(self.rerun.store, self.rerun.results)
        metrics = {recipe.key: (recipe.track, cache.recompute(recipe)) for recipe in evaluations}
        for artifact in self.published.lineages:
            for cell in self.published.cells(artifact):
                if has_own_values(cell) and not metrics.keys().isdisjoint(cell.made_from):
                    yield from self._numbers_of(artifact, cell, metrics, moved)

    def _numbers_of(
        self,
        artifact: str,
        cell: LineageCell,
        metrics: Mapping[str, tuple[str, Mapping[str, float]]],
        moved: Set[str],
    ) -> Iterator[NumberComparison]:
        now, spread = list(cell.values), self._spread(artifact, cell)
        for number, key in enumerate(cell.made_from):
            track, values = metrics.get(key, ("", {}))
            if cell.metric in values:
                now[number] = TRACKS[track].description_of(cell.metric).factor * values[cell.metric]
                word = classify([cell.values[number]], [now[number]], spread if key in moved else None)
                yield NumberComparison(artifact, f"{within(cell)} ({key})", cell.values[number], now[number], word)
        if cell.value is not None:
            value = mean(now)  # of a forged cell, the value does not follow from the values
            count = sum(key in moved for key in cell.made_from)
            word = classify([cell.value], [value], spread and _of_mean(spread, count, len(now)))
            yield NumberComparison(artifact, within(cell), cell.value, value, word)

    def _spread(self, artifact: str, cell: LineageCell) -> RetrainingSpread | None:
        """Return the spread of a value of a cell over retrainings; None where it is not known, or nothing moves it."""
        lineage = self.published.lineages[artifact]
        methods = {str(lineage.records[key].labels.get("method", "")) for key in cell.made_from}
        if len(cell.names) != 1 or len(methods) != 1:
            return None
        return self.spreads.spread((lineage.track, cell.benchmark, cell.metric), *methods, *cell.names)


def _of_mean(spread: RetrainingSpread, moved: int, count: int) -> RetrainingSpread | None:
    """Return the spread of a mean, of whose values only some move; None if none does."""
    return RetrainingSpread(spread.variance * moved / count**2, spread.freedom) if moved else None


def has_own_values(cell: LineageCell) -> bool:
    """Return True for a mean over evaluations, each of which has a value; not for a cost, which is measured again."""
    return (
        bool(cell.metric)
        and not cell.metric.startswith(COST)
        and len(cell.values) == len(cell.made_from)
        and cell.aggregate != "difference of means over seeds"
    )


def differing_files(then: StableRecord, now: StableRecord) -> tuple[str, ...]:
    """Return the files that differ between two records of a recipe, without those that differ between all builds."""
    first, second = (
        {name: file.sha256 for name, file in record.files.items() if name not in VOLATILE} for record in (then, now)
    )
    return tuple(sorted(name for name in first.keys() | second.keys() if first.get(name) != second.get(name)))


def machine_differences(then: BuildInfo, now: BuildInfo) -> Iterator[str]:
    """Yield the differences between two machines that change the last digits of sums.

    The number of cores is none: the number of threads is a setting.
    """
    facts = {
        "instruction set": (then.instruction_set, now.instruction_set),
        "device": (_model(then), _model(now)),
        **{name: (then.packages.get(name), now.packages.get(name)) for name in ("torch", "numpy")},
    }
    yield from (f"{name} {before} then, {after} now" for name, (before, after) in facts.items() if before != after)


def _model(made: BuildInfo) -> str:
    """Return the processor or GPU of a build, without their number."""
    return made.device.partition(" x ")[2] or made.device
