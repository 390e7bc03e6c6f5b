"""What things took where they were made, and what others like them will take on this machine."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cached_property
from math import log2, prod
from statistics import median
from typing import Any

from recompose.digest import digest, short
from recompose.files import read_json
from recompose.machine import cached_probe
from recompose.papers.declaration import all_papers
from recompose.phases import PHASES
from recompose.plan import Plan, Recipe, recipe_of
from recompose.report.published import MADE, PublishedLineage
from recompose.store import COSTS, RECORD, Record
from recompose.timing import Timings
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

Described = Mapping[str, Any]
Sizes = dict[str, dict[str, int]]  # digest of data -> how much there is of what
TRAINS = "epochs"  # the setting that time grows with
MEASURED, CALIBRATED, UNKNOWN = BASES = ("measured", "calibrated", "unknown")  # what an estimate rests on


@dataclass(frozen=True)
class Job:
    """What a cost depends on."""

    kind: tuple[str, ...]  # kind, method or name, data, backbone: nothing is known of a job from one of another kind
    settings: dict[str, Any]
    amounts: dict[str, int | str]  # that a cost grows with; what they are the amount of where that many is not known

    @cached_property
    def set_to(self) -> frozenset[tuple[str, Any]]:
        """Its settings, to be compared with those of many others; one that is None counts as absent."""
        return frozenset((name, _hashable(value)) for name, value in self.settings.items() if value is not None)


@dataclass(frozen=True)
class TimedJob:
    """What a job took."""

    job: Job
    seconds: float  # on this machine, as far as its speed and the other's were measured
    where: str
    memory: int | None = None  # bytes at the peak, of the GPU where it took one


@dataclass(frozen=True)
class Estimate:
    """What a job will take, from the nearest that were measured, or from a few steps."""

    seconds: float
    where: tuple[str, ...]
    scaled: tuple[str, ...]  # what differed and was accounted for in proportion, such as "epochs 4 to 8"
    memory: int | None = None  # bytes at the peak, of the GPU where it takes one
    basis: str = MEASURED


def _hashable(value: Any) -> Any:
    return tuple(map(_hashable, value)) if isinstance(value, list | tuple) else value


def job_of(described: Described, sizes: Sizes) -> Job:
    """What the cost of making something depends on, from its recipe's description."""
    settings = dict(_flat(described["document"]))
    settings["code"] = digest(described["code"])
    epochs = next((settings.pop(name) for name in list(settings) if name.split(".")[-1] == TRAINS), None)
    labels = described["labels"]
    kind = (described["kind"], *(str(labels[name]) for name in ("method", "dataset", "backbone") if name in labels))
    settings = {
        name: value
        for name, value in settings.items()
        if name not in ("seed", "scenes") and not name.startswith("images.")
    }
    amounts: dict[str, int | str] = {} if epochs is None else {TRAINS: epochs}
    return Job(kind, settings, amounts | _amounts(described, sizes, trains=epochs is not None))


def _flat(document: Described, path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{path}{name}.")
        else:
            yield f"{path}{name}", value


def _amounts(described: Described, sizes: Sizes, *, trains: bool) -> dict[str, int | str]:
    """How much data a job goes through: training goes through what there is to train on, all else through all of it."""
    own = {role: need["digest"] for role, need in described["needs"].items() if need["kind"] == "data"}
    digests = list(own.values()) if described["kind"] != "data" else [described["digest"]]
    amounts: dict[str, int | str] = {}
    for name in digests:
        if name not in sizes:
            amounts["data"] = short(name)
            continue
        parts = sizes[name]
        wanted = {part: count for part, count in parts.items() if (part != "train") != trains} or parts
        amounts["items"] = int(amounts.get("items", 0)) + sum(
            (wanted if described["kind"] in ("runs", "evaluations") else parts).values()
        )
    return amounts


def estimate(job: Job, measured: Iterable[TimedJob]) -> Estimate | None:
    """What a job will take: the median of the nearest jobs of its kind, in proportion to its amounts.

    Of two jobs the one is nearer that differs in fewer settings; twice or half an amount counts as much as one of them.
    None where nothing of the kind was measured, or not how much more or less there is to do.
    """
    alike = [(each, ratios) for each in measured if (ratios := _ratios(job, each.job)) is not None]
    if not alike:
        return None
    distances = [_distance(job, each.job, ratios) for each, ratios in alike]
    nearest = [pair for pair, distance in zip(alike, distances, strict=True) if distance <= min(distances) + 1e-9]
    scaled = {
        f"{name} {each.job.amounts[name]} to {job.amounts[name]}"
        for each, ratios in nearest
        for name, ratio in ratios.items()
        if ratio != 1
    }
    seconds = median(each.seconds * prod(ratios.values()) for each, ratios in nearest)
    memory = max((each.memory for each, _ in nearest if each.memory is not None), default=None)
    return Estimate(seconds, tuple(sorted({each.where for each, _ in nearest})), tuple(sorted(scaled)), memory)


def _ratios(job: Job, other: Job) -> dict[str, float] | None:
    """How much more of each amount a job has than another; None where they cannot be compared."""
    if job.kind != other.kind or job.amounts.keys() != other.amounts.keys():
        return None
    ratios = {name: _ratio(amount, other.amounts[name]) for name, amount in job.amounts.items()}
    known = {name: ratio for name, ratio in ratios.items() if ratio is not None}
    return known if len(known) == len(ratios) else None


def _ratio(amount: int | str, other: int | str) -> float | None:
    if amount == other:
        return 1.0
    return amount / other if isinstance(amount, int) and isinstance(other, int) and other else None


def _distance(job: Job, other: Job, ratios: dict[str, float]) -> float:
    differing = {name for name, _ in job.set_to ^ other.set_to}
    return len(differing) + sum(abs(log2(ratio)) for ratio in ratios.values())


@dataclass(frozen=True)
class Costs:
    """What was measured here or, of what is not here, where the reports were made; and what was calibrated here."""

    published: Mapping[str, dict[str, Any]]  # key -> description, with how it was made
    stored: Mapping[str, dict[str, Any]]  # the same; what is stored here counts in place of what was published
    sizes: Sizes
    memory: Mapping[str, int]  # key -> bytes at the peak, of runs and evaluations in the store
    calibration: Timings
    step_seconds: float | None = None  # of the probe of this machine; None: it is not measured

    @classmethod
    def of(cls, work: Workspace, *plans: Plan) -> "Costs":
        """What the stores and the reports hold, to be compared with what these plans need."""
        elsewhere = dict(_published(work))
        stored = dict(_stored(work))
        sizes, memory = _sizes(work, plans, elsewhere | stored), dict(_memory(work, stored))
        here = cached_probe()
        return cls(elsewhere, stored, sizes, memory, Timings.read(work.results), here.step_seconds if here else None)

    def until(self, moment: datetime) -> "Costs":
        """Return what was known at a moment."""
        begun = {key: datetime.fromisoformat(record["made"]["started"]) for key, record in self.stored.items()}
        return replace(self, stored={key: record for key, record in self.stored.items() if begun[key] < moment})

    @cached_property
    def _measured(self) -> dict[tuple[str, ...], list[TimedJob]]:
        """By kind. Of what took several attempts only the last one's time is known: it is left out."""
        by_kind: dict[tuple[str, ...], list[TimedJob]] = {}
        for key, record in {**self.published, **self.stored}.items():
            made = record["made"]
            if made["attempts"] == 1:
                job, factor = job_of(record, self.sizes), self._slower(made)
                where = f"{made['host']}, {made['device']}" + (f", times {factor:.2f}" if factor != 1 else "")
                by_kind.setdefault(job.kind, []).append(
                    TimedJob(job, factor * made["seconds"], where, self.memory.get(key))
                )
        return by_kind

    def _slower(self, made: Mapping[str, Any]) -> float:
        """Return how many times as long as there something takes here; 1 where either machine was not measured."""
        there = made.get("step_seconds")
        return self.step_seconds / there if self.step_seconds and there else 1.0

    def estimate(self, recipe: Recipe) -> Estimate | None:
        """What making a recipe will take; None where nothing of the kind was measured or calibrated."""
        job = job_of(recipe.description(), self.sizes)
        return estimate(job, self._measured.get(job.kind, ())) or self._calibrated(recipe, job)

    def _calibrated(self, recipe: Recipe, job: Job) -> Estimate | None:
        steps, images = self.calibration.of(recipe), job.amounts.get("items")
        if steps is None or not isinstance(images, int):
            return None
        seconds = steps.seconds(int(job.amounts.get(TRAINS, 1)), images)
        where = f"{steps.host}, {steps.device}"
        return Estimate(seconds, (where,), (), steps.memory_bytes, CALIBRATED)


def _published(work: Workspace) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield what the reports of all profiles tell: what one of them took says something of another's."""
    for made in sorted(work.reports.parent.glob(f"*/{MADE}")):
        published = PublishedLineage.read(made.parent, all_papers())
        for key, record in published.records.items():
            if key in published.made:
                yield key, {**record, "made": published.made[key]}


def _stored(work: Workspace) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records in the store; one that is damaged says nothing, and it is others that find it."""
    for kind in PHASES:
        for path in sorted((work.results / kind).glob(f"*/{RECORD}")):
            with suppress(OSError, ValueError):  # what is no record is a ValueError, too
                record = read_json(path)
                Record.model_validate(record)
                yield f"{kind}/{path.parent.name}", record


def _memory(work: Workspace, keys: Iterable[str]) -> Iterator[tuple[str, int]]:
    """The peaks of memory that runs and evaluations in the store wrote down."""
    for key in keys:
        with suppress(OSError, ValueError, KeyError, TypeError):
            yield key, int(read_json(work.results / key / COSTS)["peak_memory_bytes"])


def _sizes(work: Workspace, plans: Iterable[Plan], records: Mapping[str, Described]) -> Sizes:
    planned = {recipe.digest: recipe.description() for plan in plans for recipe in plan.of("data")}
    recorded = {record["digest"]: record for record in records.values() if record["kind"] == "data"}
    sizes = {name: _size(work, described) for name, described in (planned | recorded).items()}
    return {name: size for name, size in sizes.items() if size}


def _size(work: Workspace, described: Described) -> dict[str, int]:
    recipe = recipe_of(described)
    if not recipe.track:
        return {"scenes": int(recipe.document["scenes"])}
    return TRACKS[recipe.track].size(recipe, work.store.folder(recipe)) if recipe.track in TRACKS else {}
