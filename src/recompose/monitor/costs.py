"""What runs, and the steps before them, took where they were made, and what others like them will take."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from math import log2, prod
from pathlib import Path
from statistics import mean
from typing import Any

from recompose.digest import digest
from recompose.files import read_json
from recompose.papers.declaration import PAPERS, load_paper
from recompose.plan import Plan, Recipe
from recompose.report.published import Shown
from recompose.store import KINDS
from recompose.workspace import Workspace

Sizes = dict[str, dict[str, int]]  # digest of a data set -> images of each split; of a corpus -> scenes
INPUTS = ("dataset", "backbone", "features", "corpus", "checkpoint_of")
NOT_SETTINGS = (*INPUTS, "settings", "trainer", "seed", "epochs", "images")


@dataclass(frozen=True)
class Job:
    """What a cost depends on."""

    kind: tuple[str, ...]  # method or name, data set, backbone: nothing is known of a job from one of another kind
    settings: dict[str, Any]
    amounts: dict[str, int | str]  # that a cost grows with; what they are the amount of where that many is not known


@dataclass(frozen=True)
class Measured:
    """What a job took."""

    job: Job
    seconds: float
    where: str


@dataclass(frozen=True)
class Estimate:
    """What a job will take, from the nearest that were measured."""

    seconds: float
    where: tuple[str, ...]
    scaled: tuple[str, ...]  # what differed and was accounted for in proportion, such as "epochs 4 to 8"


def job_of(kind: str, folder: str, document: dict[str, Any], sizes: Sizes) -> Job:
    """What the cost of making a recipe depends on."""
    settings = document.get("settings", {}) | document.get("trainer", {})
    settings |= {name: value for name, value in document.items() if name not in NOT_SETTINGS}
    settings["code"] = digest(document.get("code", {}))
    if kind == "runs":
        return _run(document, settings, sizes)
    return Job((kind, folder.rpartition("-")[0]), settings, _amounts(kind, document, sizes))


def _amounts(kind: str, document: dict[str, Any], sizes: Sizes) -> dict[str, int | str]:
    """What the cost of a step before runs grows with."""
    if kind == "backbones" and "corpus" in document:
        return {"epochs": document["epochs"], "scenes": _count(sizes, document["corpus"], ["scenes"])}
    if kind == "features":
        return {"images": _count(sizes, document["dataset"], ["train", "val", "test"])}
    if kind == "index" and "images" in document:
        return {"images": sum(document["images"].values())}
    return {}


def _run(document: dict[str, Any], settings: dict[str, Any], sizes: Sizes) -> Job:
    """A run's job: one that is not trained, or by another, costs as much as its images of validation and test."""
    trains = "epochs" in settings and "checkpoint_of" not in document
    dataset, backbone = document["dataset"], document["backbone"] or {"name": ""}
    kind = ("runs", document["method"], "trained" if trains else "tested", dataset["name"], backbone["name"])
    epochs = settings.pop("epochs", 0)
    if trains:
        count = _count(sizes, dataset["digest"], ["train"])
        return Job(kind, settings, {"epochs": epochs, "training images": count})
    return Job(kind, settings, {"images of validation and test": _count(sizes, dataset["digest"], ["val", "test"])})


def _count(sizes: Sizes, name: str, parts: list[str]) -> int | str:
    return sum(sizes[name][part] for part in parts) if name in sizes else name


def estimate(job: Job, measured: Iterable[Measured]) -> Estimate | None:
    """What a job will take: the mean of the nearest jobs of its kind, in proportion to its amounts.

    Of two jobs the one is nearer that differs in fewer settings; twice or half an amount counts as much as one of them. None where nothing of the kind was
    measured, or not how much more or less there is to do.
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
    seconds = mean(each.seconds * prod(ratios.values()) for each, ratios in nearest)
    return Estimate(seconds, tuple(sorted({each.where for each, _ in nearest})), tuple(sorted(scaled)))


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
    names = job.settings.keys() | other.settings.keys()
    differing = sum(job.settings.get(name) != other.settings.get(name) for name in names)
    return differing + sum(abs(log2(ratio)) for ratio in ratios.values())


@dataclass(frozen=True)
class Costs:
    """What was measured here or, of what is not here, where the reports were made."""

    records: dict[str, dict[str, Any]]  # key, such as "runs/0123456789ab" -> record
    sizes: Sizes

    @classmethod
    def of(cls, work: Workspace, *plans: Plan) -> "Costs":
        """What the stores and the lineage of the reports hold, to be compared with what these plans need."""
        shown = Shown.of(work.reports, [load_paper(name) for name in PAPERS]).records
        records = shown | dict(_stored(work))
        return cls(records, _sizes(plans, records, work.results))

    @cached_property
    def _measured(self) -> dict[tuple[str, ...], list[Measured]]:
        """By kind. Of what took several attempts only the last one's time is known: it is left out."""
        found: dict[tuple[str, ...], list[Measured]] = {}
        for key, record in self.records.items():
            (kind, _, folder), made = key.partition("/"), record["made"]
            if made["attempts"] == 1:
                job = job_of(kind, folder, record["recipe"], self.sizes)
                found.setdefault(job.kind, []).append(
                    Measured(job, made["seconds"], f"{made['host']}, {made['device']}")
                )
        return found

    def estimate(self, kind: str, recipe: Recipe) -> Estimate | None:
        """What making a recipe will take; None where nothing of the kind was measured."""
        job = job_of(kind, recipe.folder, recipe.document, self.sizes)
        return estimate(job, self._measured.get(job.kind, ()))


def _stored(work: Workspace) -> Iterator[tuple[str, dict[str, Any]]]:
    """The records in the stores; one that is damaged says nothing, and it is others that find it."""
    for kind in KINDS:
        store = work.store(kind)
        for path in sorted(store.root.glob(f"*/{store.record_name}")):
            try:
                record = read_json(path)
            except (OSError, ValueError):
                continue
            if isinstance(record, dict) and {"recipe", "made", "digest"} <= record.keys():
                yield f"{kind}/{path.parent.name}", record


def _sizes(plans: Iterable[Plan], records: dict[str, dict[str, Any]], results: Path) -> Sizes:
    sizes: Sizes = {}
    for plan in plans:
        sizes |= {recipe.digest: {"scenes": recipe.document["scenes"]} for recipe in plan.corpora.values()}
        sizes |= {
            recipe.digest: images for recipe in plan.datasets.values() if (images := recipe.document.get("images"))
        }
    for key, record in records.items():
        if key.startswith("index/") and (images := record["recipe"].get("images") or _indexed(results / key)):
            sizes[record["digest"]] = images
    return sizes


def _indexed(folder: Path) -> dict[str, int] | None:
    """The images of each split of a data set that was downloaded."""
    try:
        counts = read_json(folder / "statistics.json")
        return {split: int(counts[f"{split}_images"]) for split in ("train", "val", "test")}
    except (OSError, ValueError, KeyError):
        return None
