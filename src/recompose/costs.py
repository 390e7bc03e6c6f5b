"""Costs: measured time and memory of recipes, and estimates for similar recipes on this machine."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from math import log2, prod
from statistics import median
from typing import Any

from recompose.digest import digest, short
from recompose.errors import DamagedError
from recompose.files import read_json
from recompose.machine import cached_probe
from recompose.papers.declaration import all_papers
from recompose.phases import PHASES
from recompose.plan import Plan, Recipe, recipe_of
from recompose.records import COSTS, RECORD, BuildInfo, Description, Record, flat
from recompose.report.lineage import MADE
from recompose.report.published import PublishedLineage
from recompose.timing import Timings
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

Sizes = dict[str, dict[str, int]]  # digest of data -> part -> number of items
TRAINS = "epochs"  # the setting that the time is proportional to
MEASURED, TIMED, UNKNOWN = BASES = ("measured", "timed", "unknown")  # the basis of an estimate


@dataclass(frozen=True)
class JobFeatures:
    """The features of a recipe that its cost depends on."""

    kind: tuple[str, ...]  # kind, method, data set, backbone; recipes of different kinds are not comparable
    settings: dict[str, Any]
    amounts: dict[str, int | str]  # that the cost is proportional to; the short digest of data of unknown size

    @cached_property
    def set_to(self) -> frozenset[tuple[str, Any]]:
        """The settings in a form that is quick to compare; a setting of None counts as absent."""
        return frozenset((name, _hashable(value)) for name, value in self.settings.items() if value is not None)


@dataclass(frozen=True)
class TimedJob:
    """A measured cost."""

    job: JobFeatures
    seconds: float  # scaled to this machine, if both machines' speeds were measured
    where: str
    memory: int | None = None  # bytes at the peak, of the GPU if it used one


@dataclass(frozen=True)
class CostEstimate:
    """An estimated cost, from the most similar measurements or from a timing."""

    seconds: float
    where: tuple[str, ...]
    scaled: tuple[str, ...]  # differences scaled in proportion, such as "epochs 4 to 8"
    memory: int | None = None  # bytes at the peak, of the GPU if it uses one
    basis: str = MEASURED


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def job_features(description: Description, sizes: Sizes) -> JobFeatures:
    """Return the features of a recipe that its cost depends on."""
    settings = dict(flat(description.document))
    settings["code"] = digest(description.code)
    epochs = next((settings.pop(name) for name in list(settings) if name.split(".")[-1] == TRAINS), None)
    labels = description.labels
    kind = (description.kind, *(str(labels[name]) for name in ("method", "dataset", "backbone") if name in labels))
    settings = {
        name: value
        for name, value in settings.items()
        if name not in ("seed", "scenes") and not name.startswith("images.")
    }
    amounts: dict[str, int | str] = {} if epochs is None else {TRAINS: epochs}
    return JobFeatures(kind, settings, amounts | _amounts(description, sizes, trains=epochs is not None))


def _amounts(description: Description, sizes: Sizes, *, trains: bool) -> dict[str, int | str]:
    """Return the amount of data that a job processes: runs the training part, evaluations the others, the rest all."""
    kind = description.kind
    digests = [need.digest for need in description.needs.values() if need.kind == "data"]
    if kind == "data":
        digests = [description.digest]
    amounts: dict[str, int | str] = {}
    for name in digests:
        if name not in sizes:
            amounts["data"] = short(name)
            continue
        parts = sizes[name]
        if kind in ("runs", "evaluations"):
            parts = {part: count for part, count in parts.items() if (part != "train") != trains} or parts
        amounts["items"] = int(amounts.get("items", 0)) + sum(parts.values())
    return amounts


def estimate(job: JobFeatures, measurements: Iterable[TimedJob]) -> CostEstimate | None:
    """Return the median of the most similar measurements, scaled in proportion to the amounts.

    The distance of two jobs is the number of settings in which they differ, plus 1 for each doubling or halving of an
    amount. None: nothing of the kind was measured, or the amounts are not comparable.
    """
    comparable = [(timed, ratios) for timed in measurements if (ratios := _ratios(job, timed.job)) is not None]
    if not comparable:
        return None
    distances = [_distance(job, timed.job, ratios) for timed, ratios in comparable]
    nearest = [pair for pair, distance in zip(comparable, distances, strict=True) if distance <= min(distances) + 1e-9]
    scaled = {
        f"{name} {timed.job.amounts[name]} to {job.amounts[name]}"
        for timed, ratios in nearest
        for name, ratio in ratios.items()
        if ratio != 1
    }
    seconds = median(timed.seconds * prod(ratios.values()) for timed, ratios in nearest)
    memory = max((timed.memory for timed, _ in nearest if timed.memory is not None), default=None)
    return CostEstimate(seconds, tuple(sorted({timed.where for timed, _ in nearest})), tuple(sorted(scaled)), memory)


def _ratios(job: JobFeatures, measured: JobFeatures) -> dict[str, float] | None:
    """Return the ratio of each amount of a job to that of a measured job, or None if they are not comparable."""
    if job.kind != measured.kind or job.amounts.keys() != measured.amounts.keys():
        return None
    ratios: dict[str, float] = {}
    for name, amount in job.amounts.items():
        ratio = _ratio(amount, measured.amounts[name])
        if ratio is None:
            return None
        ratios[name] = ratio
    return ratios


def _ratio(amount: int | str, measured: int | str) -> float | None:
    if amount == measured:
        return 1.0
    return amount / measured if isinstance(amount, int) and isinstance(measured, int) and measured else None


def _distance(job: JobFeatures, measured: JobFeatures, ratios: dict[str, float]) -> float:
    differing = {name for name, _ in job.set_to ^ measured.set_to}
    return len(differing) + sum(abs(log2(ratio)) for ratio in ratios.values())


@dataclass(frozen=True)
class Costs:
    """All measured costs: from the store, from the published reports for recipes that the store lacks, and timings."""

    published: Mapping[str, Record]  # key -> record, from the reports
    stored: Mapping[str, Record]  # key -> record, from the store; preferred to ``published``
    sizes: Sizes
    memory: Mapping[str, int]  # key -> bytes at the peak, of runs and evaluations in the store
    timings: Timings
    step_seconds: float | None = None  # of the probe of this machine; None: not measured

    @classmethod
    def of(cls, work: Workspace, *plans: Plan) -> "Costs":
        """Read the costs from a workspace's store and reports, with the sizes of the data that these plans need."""
        published = dict(_published_records(work))
        stored = dict(_stored_records(work))
        sizes, memory = _sizes(work, plans, published | stored), dict(_peak_memory(work, stored))
        probe = cached_probe()
        return cls(published, stored, sizes, memory, Timings.read(work.results), probe.step_seconds if probe else None)

    def until(self, moment: datetime) -> "Costs":
        """Return the costs of recipes that started before a moment."""
        starts = {key: datetime.fromisoformat(record.made.started) for key, record in self.stored.items()}
        return replace(self, stored={key: record for key, record in self.stored.items() if starts[key] < moment})

    @cached_property
    def _measurements(self) -> dict[tuple[str, ...], list[TimedJob]]:
        """The measurements by kind, without recipes of several attempts: only the last one's time is recorded."""
        by_kind: dict[tuple[str, ...], list[TimedJob]] = {}
        for key, record in {**self.published, **self.stored}.items():
            made = record.made
            if made.attempts == 1:
                job, factor = job_features(record, self.sizes), self._slowdown(made)
                where = f"{made.host}, {made.device}" + (f", times {factor:.2f}" if factor != 1 else "")
                by_kind.setdefault(job.kind, []).append(
                    TimedJob(job, factor * made.seconds, where, self.memory.get(key))
                )
        return by_kind

    def _slowdown(self, made: BuildInfo) -> float:
        """Return this machine's time relative to the machine of a record; 1 if either machine was not measured."""
        return self.step_seconds / made.step_seconds if self.step_seconds and made.step_seconds else 1.0

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        """Return the estimated cost of making a recipe, or None without a measurement or a timing of its kind."""
        job = job_features(recipe.description(), self.sizes)
        return estimate(job, self._measurements.get(job.kind, ())) or self._timed_estimate(recipe, job)

    def _timed_estimate(self, recipe: Recipe, job: JobFeatures) -> CostEstimate | None:
        timing, images = self.timings.of(recipe), job.amounts.get("items")
        if timing is None or not isinstance(images, int):
            return None
        seconds = timing.seconds(int(job.amounts.get(TRAINS, 1)), images)
        where = f"{timing.host}, {timing.device}"
        return CostEstimate(seconds, (where,), (), timing.memory_bytes, TIMED)


def _published_records(work: Workspace) -> Iterator[tuple[str, Record]]:
    """Yield the records in the reports of all profiles whose build information is known."""
    for path in sorted(work.reports.parent.glob(f"*/{MADE}")):
        published = PublishedLineage.read(path.parent, all_papers())
        for key, record in published.records.items():
            if key in published.made:
                yield key, Record.model_construct(**dict(record), made=published.made[key])


def _stored_records(work: Workspace) -> Iterator[tuple[str, Record]]:
    """Yield the records in the store; damaged ones are skipped, and reported by the audit."""
    for kind in PHASES:
        for path in sorted((work.results / kind).glob(f"*/{RECORD}")):
            with suppress(DamagedError):
                yield f"{kind}/{path.parent.name}", Record.read(path)


def _peak_memory(work: Workspace, keys: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the peak memory that runs and evaluations in the store recorded, in bytes."""
    for key in keys:
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield key, int(read_json(work.results / key / COSTS)["peak_memory_bytes"])


def _sizes(work: Workspace, plans: Iterable[Plan], records: Mapping[str, Record]) -> Sizes:
    planned = {recipe.digest: recipe.description() for plan in plans for recipe in plan.of("data")}
    recorded = {record.digest: record for record in records.values() if record.kind == "data"}
    sizes = {name: _size(work, description) for name, description in (planned | recorded).items()}
    return {name: size for name, size in sizes.items() if size}


def _size(work: Workspace, description: Description) -> dict[str, int]:
    recipe = recipe_of(description)
    if not recipe.track:
        return {"scenes": int(recipe.document["scenes"])}
    return TRACKS[recipe.track].size(recipe, work.store.folder(recipe)) if recipe.track in TRACKS else {}
