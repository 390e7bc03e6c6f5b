"""Costs: measured time and memory of recipes, and estimates for similar recipes on this machine.

An estimate rests on the first of these that is known: measurements of the same method on the same data set; a timing of
it; measurements of the same kind and method on other data; of the same method; of the same kind. The last three count
as similar only with the same backbone, which decides most of a cost.
"""

from collections.abc import Hashable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from math import log2, prod
from pathlib import Path
from statistics import median

from recompose.digest import digest
from recompose.errors import DamagedError, LineageError
from recompose.files import read_json
from recompose.machine import cached_probe
from recompose.papers.declaration import Paper, all_papers
from recompose.phases import PHASES
from recompose.plan import NamedRecipe, Plan, Recipe, closure, recipe_of
from recompose.records import COSTS, RECORD, BuildInfo, Description, Record, StableRecord, flat
from recompose.report.lineage import MADE, SUFFIX, Lineage, read_made
from recompose.timing import Timings, backbone_of
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

Sizes = Mapping[str, Mapping[str, int]]  # digest of data -> part -> number of items
TRAINS = "epochs"  # the setting that the time is proportional to
MEASURED, TIMED, SIMILAR, UNKNOWN = BASES = ("measured", "timed", "similar", "unknown")  # the basis of an estimate


@dataclass(frozen=True)
class JobFeatures:
    """The features of a recipe that its cost depends on."""

    kind: str
    method: str = ""  # empty: a step before runs
    dataset: str = ""
    backbone: str | None = ""  # behind it; empty: none; None: unknown, as its record is gone
    settings: frozenset[tuple[str, Hashable]] = frozenset()
    form: frozenset[str] = frozenset()  # the names in its document: drawn data has others than downloaded data
    data: frozenset[str] = frozenset()  # digests
    epochs: int = 1
    items: int | None = None  # of the data; None: unknown

    @cached_property
    def likeness(self) -> tuple[Hashable, ...]:
        """The traits that comparable jobs share with this one, the most similar first; None: no job is comparable."""
        if self.backbone is None:
            return ((self.kind, self.method, self.dataset),)
        if not self.method:
            similar = (self.kind, self.backbone, self.form) if self.items else None
            return (self.kind, self.dataset, self.backbone), similar
        return (
            (self.kind, self.method, self.dataset),
            (self.kind, self.method, self.backbone),
            (self.method, self.backbone),
            (self.kind, self.backbone),
        )


@dataclass(frozen=True)
class TimedJob:
    """A measured cost."""

    job: JobFeatures
    seconds: float  # scaled to this machine, if both machines' speeds were measured
    where: str
    memory: int | None = None  # bytes at the peak, of the GPU if it used one


@dataclass(frozen=True)
class CostEstimate:
    """An estimated cost."""

    seconds: float
    where: tuple[str, ...]
    scaled: tuple[str, ...] = ()  # differences scaled in proportion, such as "epochs 4 to 8"
    memory: int | None = None  # bytes at the peak, of the GPU if it uses one; None: unknown
    basis: str = MEASURED

    @property
    def is_firm(self) -> bool:
        """True where the method itself was measured or timed on the data set, so that limits can rest on it."""
        return self.basis != SIMILAR


def job_features(recipe: Recipe, sizes: Sizes) -> JobFeatures:
    """Return the features of a recipe that its cost depends on."""
    settings = {
        name: _hashable(value)
        for name, value in flat(recipe.document)
        if value is not None and name not in ("seed", "scenes") and not name.startswith("images.")
    }
    epochs = [settings.pop(name) for name in list(settings) if name.split(".")[-1] == TRAINS]
    backbone = backbone_of(recipe) or (None if any(isinstance(need, NamedRecipe) for need in closure([recipe])) else "")
    settings |= {"code": digest(recipe.code), "backbone": backbone}
    data = {need.digest for need in _data_of(recipe)}
    known = [sizes[name] for name in data if name in sizes]
    return JobFeatures(
        recipe.kind,
        str(recipe.labels.get("method", "")),
        str(recipe.labels.get("dataset", "")),
        backbone,
        frozenset(settings.items()),
        frozenset(recipe.document),
        frozenset(data),
        max(int(str(epochs[0])), 1) if epochs else 1,
        sum(_processed(recipe.kind, parts, trains=bool(epochs)) for parts in known) if known else None,
    )


def _hashable(value: object) -> Hashable:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def _data_of(recipe: Recipe) -> list[Recipe]:
    """Return the data that a recipe processes: itself, what it needs, or what its pixels were made from."""
    if recipe.kind == "data":
        return [recipe]
    direct = [need for need in recipe.needs.values() if need.kind == "data"]
    return direct or [data for need in recipe.needs.values() if need.kind == "pixels" for data in _data_of(need)]


def _processed(kind: str, parts: Mapping[str, int], *, trains: bool) -> int:
    """Return the number of items that a job processes: runs the training part, evaluations the others, the rest all."""
    if kind in ("runs", "evaluations"):
        parts = {part: count for part, count in parts.items() if (part != "train") != trains} or parts
    return sum(parts.values())


def _ratios(job: JobFeatures, measured: JobFeatures) -> dict[str, float]:
    """Return the ratio of each amount of a job to that of a measured job, where both are known."""
    ratios = {TRAINS: job.epochs / measured.epochs}
    return ratios | ({"items": job.items / measured.items} if job.items and measured.items else {})


def _distance(job: JobFeatures, measured: JobFeatures) -> float:
    """Return the number of settings in which jobs differ, plus 1 for other data of unknown size, and for each doubling
    or halving of an amount.
    """
    ratios = _ratios(job, measured)
    differing = {name for name, _ in job.settings ^ measured.settings}
    unknown = job.data != measured.data and "items" not in ratios
    return len(differing) + unknown + sum(abs(log2(ratio)) for ratio in ratios.values())


def estimate(job: JobFeatures, level: int, measurements: Iterable[TimedJob]) -> CostEstimate | None:
    """Return the median of the most similar measurements, scaled in proportion to the amounts.

    Args:
        job: the job.
        level: the position in ``likeness`` of what the measured jobs share with it. Where they share kind and method,
            those of the nearest settings count, otherwise all.
        measurements: of the jobs that share it.
    """
    comparable = list(measurements)
    if not comparable:
        return None
    if level < 2:
        distances = [_distance(job, timed.job) for timed in comparable]
        nearest = min(distances) + 1e-9
        comparable = [timed for timed, distance in zip(comparable, distances, strict=True) if distance <= nearest]
    scaled = {
        f"{name} {getattr(timed.job, name)} to {getattr(job, name)}"
        for timed in comparable
        for name, ratio in _ratios(job, timed.job).items()
        if ratio != 1
    }
    seconds = median(timed.seconds * prod(_ratios(job, timed.job).values()) for timed in comparable)
    where = tuple(sorted({timed.where for timed in comparable}))
    if level:
        return CostEstimate(seconds, where, basis=SIMILAR)
    memory = max((timed.memory for timed in comparable if timed.memory is not None), default=None)
    return CostEstimate(seconds, where, tuple(sorted(scaled)), memory)


@dataclass(frozen=True)
class MeasuredRecipe:
    """A recipe that was made, and the build info of it."""

    recipe: Recipe
    made: BuildInfo
    memory: int | None = None  # bytes at the peak

    @property
    def started(self) -> datetime:
        """The start of its last attempt."""
        return datetime.fromisoformat(self.made.started)


@dataclass(frozen=True)
class Costs:
    """All measured costs: from the store, from the published reports for recipes that the store lacks, and timings."""

    published: Mapping[str, MeasuredRecipe]  # by key
    stored: Mapping[str, MeasuredRecipe]  # by key; preferred to ``published``
    sizes: Sizes
    timings: Timings
    step_seconds: float | None = None  # of the probe of this machine; None: not measured
    _estimates: dict[str, CostEstimate | None] = field(default_factory=dict)  # by digest

    @classmethod
    def of(cls, work: Workspace, *plans: Plan) -> "Costs":
        """Read the costs from a workspace's store and reports, with the sizes of the data that these plans need."""
        published, stored = _published(work), _stored(work)
        recipes = [*(recipe for plan in plans for recipe in plan.recipes)]
        recipes += [measured.recipe for measured in (published | stored).values()]
        sizes = {data.digest: size for data in recipes if data.kind == "data" and (size := _size(work, data))}
        probe = cached_probe()
        return cls(published, stored, sizes, Timings.read(work.results), probe.step_seconds if probe else None)

    def until(self, moment: datetime) -> "Costs":
        """Return the costs of recipes that started before a moment."""
        stored = {key: measured for key, measured in self.stored.items() if measured.started < moment}
        return self if len(stored) == len(self.stored) else replace(self, stored=stored, _estimates={})

    @cached_property
    def _measurements(self) -> dict[tuple[int, Hashable], list[TimedJob]]:
        """The measurements by likeness, without recipes of several attempts: only the last one's time is recorded."""
        measurements: dict[tuple[int, Hashable], list[TimedJob]] = {}
        for measured in {**self.published, **self.stored}.values():
            made = measured.made
            if made.attempts == 1:
                job, factor = job_features(measured.recipe, self.sizes), self._slowdown(made)
                where = f"{made.host}, {made.device}" + (f", times {factor:.2f}" if factor != 1 else "")
                timed = TimedJob(job, factor * made.seconds, where, measured.memory)
                for place in enumerate(job.likeness):
                    measurements.setdefault(place, []).append(timed)
        return measurements

    def _slowdown(self, made: BuildInfo) -> float:
        """Return this machine's time relative to the machine of a record; 1 if either machine was not measured."""
        return self.step_seconds / made.step_seconds if self.step_seconds and made.step_seconds else 1.0

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        """Return the estimated cost of making a recipe, or None where nothing similar was measured."""
        if recipe.digest not in self._estimates:
            self._estimates[recipe.digest] = self._estimate(recipe)
        return self._estimates[recipe.digest]

    def _estimate(self, recipe: Recipe) -> CostEstimate | None:
        job = job_features(recipe, self.sizes)
        by_level = (
            estimate(job, level, self._measurements.get((level, key), ()) if key else ())
            for level, key in enumerate(job.likeness)
        )
        return next(by_level) or self._timed_estimate(recipe, job) or next(filter(None, by_level), None)

    def _timed_estimate(self, recipe: Recipe, job: JobFeatures) -> CostEstimate | None:
        timing = self.timings.of(recipe)
        if timing is None or job.items is None:
            return None
        where = f"{timing.host}, {timing.device}"
        return CostEstimate(timing.seconds(job.epochs, job.items), (where,), (), timing.memory_bytes, TIMED)


def _published(work: Workspace) -> dict[str, MeasuredRecipe]:
    """Return everything behind the reports of all profiles."""
    descriptions: dict[str, Description] = {}
    made: dict[str, BuildInfo] = {}
    for path in sorted(work.reports.parent.glob(f"*/{MADE}")):
        made |= read_made(path.parent)
        for paper in all_papers():
            descriptions |= _described(path.parent, paper)
    recipes = _recipes(descriptions)
    return {key: MeasuredRecipe(recipes[key], made[key]) for key in recipes if key in made}


def _described(reports: Path, paper: Paper) -> dict[str, StableRecord]:
    """Return the records behind a paper's reports: from few lineages that have all of its methods and variants, as
    reading all of them takes seconds. The audit reports those that cannot be read.
    """
    records: dict[str, StableRecord] = {}
    covered: set[str] = set()
    for name in sorted(paper.artifacts, key=lambda name: len(paper.methods_of(name)), reverse=True):
        if not paper.methods_of(name) <= covered:
            with suppress(LineageError):
                records |= Lineage.read(reports / paper.name / f"{name}{SUFFIX}").records
                covered |= paper.methods_of(name)
    return records


def _stored(work: Workspace) -> dict[str, MeasuredRecipe]:
    """Return everything in the store; damaged records are skipped, and reported by the audit."""
    records: dict[str, Record] = {}
    for kind in PHASES:
        for path in sorted((work.results / kind).glob(f"*/{RECORD}")):
            with suppress(DamagedError):
                records[f"{kind}/{path.parent.name}"] = Record.read(path)
    recipes = _recipes(records)
    return {key: MeasuredRecipe(recipes[key], records[key].made, _peak_memory(work, key)) for key in recipes}


def _recipes(descriptions: Mapping[str, Description]) -> dict[str, Recipe]:
    """Return the described recipes by key; each has the recipes that it needs, where these are described as well."""
    recipes: dict[str, Recipe] = {}
    for kind in PHASES:  # what a recipe needs comes in an earlier phase
        for key, description in descriptions.items():
            if description.kind == kind:
                recipes[key] = recipe_of(description, recipes)
    return recipes


def _peak_memory(work: Workspace, key: str) -> int | None:
    """Return the peak memory that a run or an evaluation in the store recorded, in bytes."""
    with suppress(OSError, ValueError, KeyError, TypeError):
        return int(read_json(work.results / key / COSTS)["peak_memory_bytes"])
    return None


def _size(work: Workspace, data: Recipe) -> Mapping[str, int]:
    if not data.track:
        return {"scenes": int(data.document["scenes"])}
    return TRACKS[data.track].size(data, work.store.folder(data)) if data.track in TRACKS else {}
