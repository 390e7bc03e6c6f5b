"""From parameters and papers to what has to exist: recipes, runs and the batches that processes carry out.

Pure functions of params.yaml and of the sources; nothing here touches data or results. A recipe is what determines a
content; its digest is the content's name on disk.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from recompose.digest import digest, short
from recompose.fingerprint import ROOT, fingerprint
from recompose.papers.declaration import Variant
from recompose.params import Params, Released, ShapesPairs
from recompose.tracks.czsl.catalogue import METHODS

ARCHITECTURES = ROOT / "backbones" / "architectures"


class PlanError(ValueError):
    """What papers declare and a profile asks for do not go together."""


@dataclass(frozen=True)
class Recipe:
    """What determines a content: a document of plain values, under a name people know."""

    name: str
    document: dict[str, Any]

    @cached_property
    def digest(self) -> str:
        """The digest of the document."""
        return digest(self.document)

    @property
    def folder(self) -> str:
        """The name of its folder: for people first, unique by the digest."""
        return f"{self.name}-{short(self.digest)}"


@dataclass(frozen=True)
class Reference(Recipe):
    """A recipe of which only the name and the digest are known: another one names it."""

    known: str = ""

    @property
    def digest(self) -> str:
        """The digest that it was named by."""
        return self.known


@dataclass(frozen=True)
class Run(Recipe):
    """One training and evaluation of a method on a data set with a backbone and a seed."""

    @property
    def method(self) -> str:
        """The method's name in params.yaml."""
        return str(self.document["method"])

    @property
    def dataset(self) -> str:
        """The data set's name in params.yaml."""
        return str(self.document["dataset"]["name"])

    @property
    def seed(self) -> int:
        """The seed of everything drawn at random."""
        return int(self.document["seed"])

    @property
    def backbone(self) -> str | None:
        """The backbone's name in params.yaml; None for a method that needs none."""
        section = self.document["backbone"]
        return str(section["name"]) if section else None

    @property
    def checkpoint_of(self) -> str | None:
        """The digest of the run whose checkpoint is tested; None where the run trains its own."""
        section = self.document.get("checkpoint_of")
        return str(section["digest"]) if section else None

    @property
    def folder(self) -> str:
        """Runs are called by their digest alone."""
        return short(self.digest)

    @property
    def title(self) -> str:
        """The run as people say it: its name is its method's or its variant's."""
        return f"{self.name} on {self.dataset}, seed {self.seed}"


@dataclass(frozen=True)
class Batch:
    """Runs on one data set and with one backbone that one process carries out, in this order."""

    runs: tuple[Run, ...]

    @property
    def dataset(self) -> str:
        """The data set of all of them."""
        return self.runs[0].dataset

    @property
    def backbone(self) -> str | None:
        """The backbone of all of them."""
        return self.runs[0].backbone

    @property
    def name(self) -> str:
        """The digest of the runs' digests."""
        return short(digest([run.digest for run in self.runs]))


@dataclass(frozen=True)
class Plan:
    """Everything that the chosen profile needs."""

    datasets: dict[str, Recipe]
    backbones: dict[str, Recipe]
    corpora: dict[str, Recipe]  # of the backbones that are pretrained here
    features: dict[tuple[str, str], Recipe]  # of each data set, by each backbone that it needs
    measures: dict[tuple[str, str], tuple[Run, ...]]  # (method or variant, data set) -> by seed; they may share runs
    runs: tuple[Run, ...]
    batches: tuple[Batch, ...]

    def runs_of(self, name: str, dataset: str) -> list[Run]:
        """The runs of a method or a variant on a data set, by seed."""
        return list(self.measures.get((name, dataset), ()))

    def stored(self) -> dict[str, list[Recipe]]:
        """What each store holds of it: kind -> recipes."""
        return {
            "index": list(self.datasets.values()),
            "backbones": list(self.backbones.values()),
            "features": list(self.features.values()),
            "runs": list(self.runs),
        }


def module_of(dataset: str) -> str:
    """The module of a data set: its name, spelled as Python does."""
    return f"recompose.tracks.czsl.data.{dataset.replace('-', '_')}"


def _dataset(name: str, params: Params) -> Recipe:
    section = params.datasets.of(name)
    if isinstance(section, ShapesPairs):
        content: dict[str, Any] = section.model_dump()
    else:  # where a file may be had does not change what is in it
        content = {"archives": {archive.file: archive.sha256 for archive in section.archives}}
    return Recipe(name, {"dataset": name, **content, "code": fingerprint([module_of(name)])})


def _corpus(name: str, params: Params) -> Recipe | None:
    section = params.backbones.of(name)
    if isinstance(section, Released):
        return None
    content = {"scenes": section.scenes, "seed": section.seed}
    return Recipe("shapes", {"corpus": "shapes", **content, "code": fingerprint(["recompose.drawing.scenes"])})


def _architecture(name: str) -> Any:
    """The content of our own architecture's file; the name of one that open_clip declares."""
    path = ARCHITECTURES / f"{name}.json"
    return {"name": name, **json.loads(path.read_text())} if path.exists() else name


def _backbone(name: str, params: Params, corpus: Recipe | None) -> Recipe:
    section = params.backbones.of(name)
    identity: dict[str, Any] = {
        "backbone": name,
        "architecture": _architecture(section.architecture),
        "activation": section.activation,
    }
    if corpus is None:
        return Recipe(name, identity | {"weights": section.weights.sha256})
    training = section.model_dump(include={"seed", "epochs", "batch_size", "lr", "weight_decay"})
    trainer = {"precision": params.chosen.trainer.precision, "threads": section.threads}
    identity |= {"corpus": corpus.digest, "trainer": trainer, **training}
    return Recipe(name, identity | {"code": fingerprint(["recompose.training.pretraining"])})


def _features(dataset: Recipe, backbone: Recipe) -> Recipe:
    return Recipe(
        f"{dataset.name}-{backbone.name}",
        {
            "dataset": dataset.digest,
            "backbone": backbone.digest,
            "code": fingerprint(["recompose.backbones.features"]),
        },
    )


def _feasibility(params: Params) -> dict[str, Any]:
    section = params.feasibility
    if section.vectors == "glove":
        return {"vectors": "glove", "sha256": section.glove.sha256}
    return {"vectors": "backbone", "prompt": section.prompt}


def _batches(runs: Iterable[Run], size: int) -> Iterable[Batch]:
    """Batches of about equal cost: runs of one kind stand side by side, so they are dealt out one by one.

    A run that tests another's checkpoint goes with it, behind it.
    """
    runs = list(runs)
    tested: dict[str | None, list[Run]] = {}
    for run in runs:
        tested.setdefault(run.checkpoint_of, []).append(run)
    groups: dict[tuple[str, str | None], list[list[Run]]] = {}
    for run in tested.get(None, []):
        groups.setdefault((run.dataset, run.backbone), []).append([run, *tested.get(run.digest, [])])
    for members in groups.values():
        count = -(-sum(map(len, members)) // size)
        for start in range(count):
            dealt = [run for together in members[start::count] for run in together]
            if dealt:
                yield Batch(tuple(dealt))


@dataclass(frozen=True)
class _Planner:
    """Makes runs of what was made before them."""

    params: Params
    variants: Mapping[str, Variant]
    datasets: Mapping[str, Recipe]
    backbones: Mapping[str, Recipe]  # main, other

    def all(self) -> Iterable[tuple[str, Variant, list[int]]]:
        """The profile's methods, then their variants, each with its seeds."""
        profile = self.params.chosen
        plain = {name: Variant(method=name, datasets=list(profile.datasets)) for name in profile.methods}
        for name, variant in (plain | dict(self.variants)).items():
            seeds = profile.seeds if name in plain or variant.every_seed else profile.variant_seeds
            if variant.method in plain and variant.backbone in self.backbones:
                yield name, variant, seeds if METHODS[variant.method].needs_seed else [0]

    def run(self, name: str, variant: Variant, dataset: Recipe, seed: int) -> Run:
        """The run of a method or a variant."""
        entry = METHODS[variant.method]
        document: dict[str, Any] = {
            "method": variant.method,
            "settings": self.params.settings(variant.method, dataset.name, variant.settings),
            "dataset": {"name": dataset.name, "digest": dataset.digest},
            "backbone": None,
            "seed": seed,
        }
        if not entry.needs_backbone:
            return Run(name, document | {"code": fingerprint([entry.module, "recompose.tracks.czsl.metrics.worlds"])})
        backbone = self.backbones[variant.backbone]
        features = _features(dataset, backbone)
        document |= {
            "backbone": {"name": backbone.name, "digest": backbone.digest},
            "features": {"name": features.name, "digest": features.digest},
            "trainer": self.params.chosen.trainer.model_dump(include={"precision", "threads"}),
            "feasibility": _feasibility(self.params),
            "code": fingerprint([entry.module, "recompose.tracks.czsl.run"]),
        }
        if variant.checkpoint_of:
            other = variant.checkpoint_of
            trained = self.variants.get(other) or Variant(method=other, datasets=variant.datasets)
            document["checkpoint_of"] = {"name": other, "digest": self.run(other, trained, dataset, seed).digest}
        if variant.keeps_embeddings:
            document["keeps"] = ["embeddings"]
        return Run(name, document)


def make_plan(params: Params, variants: Mapping[str, Variant]) -> Plan:
    """What the chosen profile needs, with the variants of its methods that papers declare."""
    profile = params.chosen
    datasets: dict[str, Recipe] = {name: _dataset(name, params) for name in profile.datasets}
    named = {"main": profile.backbone, "other": profile.other_backbone}
    corpora = {name: corpus for name in named.values() if name and (corpus := _corpus(name, params))}
    backbones = {role: _backbone(name, params, corpora.get(name)) for role, name in named.items() if name}
    planner = _Planner(params, variants, datasets, backbones)
    measures = {
        (name, dataset.name): tuple(planner.run(name, variant, dataset, seed) for seed in seeds)
        for dataset in datasets.values()
        for name, variant, seeds in planner.all()
        if dataset.name in variant.datasets
    }
    runs = _distinct(run for runs in measures.values() for run in runs)
    _check_checkpoints(runs)
    by_name = {backbone.name: backbone for backbone in backbones.values()}
    needed = sorted({(run.dataset, run.backbone) for run in runs if run.backbone})
    return Plan(
        datasets=datasets,
        backbones={name: by_name[name] for _, name in needed},
        corpora={name: corpora[name] for _, name in needed if name in corpora},
        features={(dataset, name): _features(datasets[dataset], by_name[name]) for dataset, name in needed},
        measures=measures,
        runs=runs,
        batches=tuple(_batches(runs, profile.runs_per_process)),
    )


def _check_checkpoints(runs: Iterable[Run]) -> None:
    """Make sure that every run whose checkpoint is tested is trained, too, with the same backbone.

    Raises:
        PlanError: one is not.
    """
    trained = {run.digest: run for run in runs if run.checkpoint_of is None}
    for run in runs:
        if run.checkpoint_of:
            name, source = run.document["checkpoint_of"]["name"], trained.get(run.checkpoint_of)
            if source is None:
                raise PlanError(
                    f"{run.title} tests the checkpoint of {name}, which this profile does not train with that seed"
                )
            if source.backbone != run.backbone:
                raise PlanError(f"{run.title} tests the checkpoint of {name}, which is trained on another backbone")


def _distinct(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Every run once, under the first name it has."""
    named: dict[str, Run] = {}
    for run in runs:
        named.setdefault(run.digest, run)
    return tuple(named.values())
