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
from recompose.methods.catalogue import METHODS
from recompose.papers.declaration import Variant
from recompose.params import Params, Released, ShapesPairs
from recompose.provenance.fingerprint import ROOT, fingerprint

ARCHITECTURES = ROOT / "backbones" / "architectures"


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
    def folder(self) -> str:
        """Runs are called by their digest alone."""
        return short(self.digest)

    @property
    def title(self) -> str:
        """The run as people say it: its name is its method's or its variant's."""
        return f"{self.name} on {self.dataset}, seed {self.seed}"


@dataclass(frozen=True)
class Batch:
    """Runs on one data set that one process carries out."""

    dataset: str
    runs: tuple[Run, ...]

    @property
    def needs_backbone(self) -> bool:
        """Whether its runs do: none of a batch or all."""
        return METHODS[self.runs[0].method].needs_backbone

    @property
    def name(self) -> str:
        """The digest of the runs' digests."""
        return short(digest([run.digest for run in self.runs]))


@dataclass(frozen=True)
class Plan:
    """Everything that the chosen profile needs."""

    datasets: dict[str, Recipe]
    corpus: Recipe | None  # None: the backbone's weights are published
    backbone: Recipe
    features: dict[str, Recipe]  # of each data set
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
            "backbones": [self.backbone],
            "features": list(self.features.values()),
            "runs": list(self.runs),
        }


def module_of(dataset: str) -> str:
    """The module of a data set: its name, spelled as Python does."""
    return f"recompose.data.{dataset.replace('-', '_')}"


def _dataset(name: str, params: Params) -> Recipe:
    section = params.datasets.of(name)
    if isinstance(section, ShapesPairs):
        content: dict[str, Any] = section.model_dump()
    else:  # where a file may be had does not change what is in it
        content = {"archives": {archive.file: archive.sha256 for archive in section.archives}}
    return Recipe(name, {"dataset": name, **content, "code": fingerprint([module_of(name)])})


def _corpus(params: Params) -> Recipe | None:
    section = params.backbones.of(params.chosen.backbone)
    if isinstance(section, Released):
        return None
    content = {"scenes": section.scenes, "seed": section.seed}
    return Recipe("shapes", {"corpus": "shapes", **content, "code": fingerprint(["recompose.data.shapes.corpus"])})


def _architecture(name: str) -> Any:
    """The content of our own architecture's file; the name of one that open_clip declares."""
    path = ARCHITECTURES / f"{name}.json"
    return {"name": name, **json.loads(path.read_text())} if path.exists() else name


def _backbone(params: Params, corpus: Recipe | None) -> Recipe:
    name = params.chosen.backbone
    section = params.backbones.of(name)
    identity: dict[str, Any] = {
        "backbone": name,
        "architecture": _architecture(section.architecture),
        "activation": section.activation,
    }
    if corpus is None:
        return Recipe(name, identity | {"weights": section.weights.sha256})
    training = section.model_dump(include={"seed", "epochs", "batch_size", "lr", "weight_decay"})
    trainer = params.chosen.trainer.model_dump(include={"precision", "threads"})
    identity |= {"corpus": corpus.digest, "trainer": trainer, **training}
    return Recipe(name, identity | {"code": fingerprint(["recompose.backbones.pretrain"])})


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


def _run(
    name: str, variant: Variant, dataset: Recipe, backbone: Recipe, features: Recipe, seed: int, params: Params
) -> Run:
    entry = METHODS[variant.method]
    document: dict[str, Any] = {
        "method": variant.method,
        "settings": params.settings(variant.method, dataset.name, variant.settings),
        "dataset": {"name": dataset.name, "digest": dataset.digest},
        "backbone": None,
        "seed": seed,
    }
    if entry.needs_backbone:
        document["backbone"] = {"name": backbone.name, "digest": backbone.digest}
        document["features"] = {"name": features.name, "digest": features.digest}
        document["trainer"] = params.chosen.trainer.model_dump(include={"precision", "threads"})
        document["feasibility"] = _feasibility(params)
        document["code"] = fingerprint([entry.module, "recompose.training.run"])
    else:
        document["code"] = fingerprint([entry.module, "recompose.metrics.worlds"])
    return Run(name, document)


def _batches(runs: Iterable[Run], size: int) -> Iterable[Batch]:
    groups: dict[tuple[str, bool], list[Run]] = {}
    for run in runs:
        groups.setdefault((run.dataset, METHODS[run.method].needs_backbone), []).append(run)
    for (dataset, _), members in groups.items():
        for start in range(0, len(members), size):
            yield Batch(dataset, tuple(members[start : start + size]))


def _measured(params: Params, variants: Mapping[str, Variant]) -> Iterable[tuple[str, Variant, list[int]]]:
    """The profile's methods, then their variants, each with its seeds."""
    profile = params.chosen
    plain = {name: Variant(method=name, settings={}, datasets=list(profile.datasets)) for name in profile.methods}
    for name, variant in (plain | dict(variants)).items():
        seeds = profile.seeds if name in plain else profile.variant_seeds
        if variant.method in plain:
            yield name, variant, seeds if METHODS[variant.method].needs_seed else [0]


def make_plan(params: Params, variants: Mapping[str, Variant]) -> Plan:
    """What the chosen profile needs, with the variants of its methods that papers declare."""
    profile = params.chosen
    datasets: dict[str, Recipe] = {name: _dataset(name, params) for name in profile.datasets}
    corpus = _corpus(params)
    backbone = _backbone(params, corpus)
    features = {name: _features(dataset, backbone) for name, dataset in datasets.items()}
    measures = {
        (name, dataset.name): tuple(
            _run(name, variant, dataset, backbone, features[dataset.name], seed, params) for seed in seeds
        )
        for dataset in datasets.values()
        for name, variant, seeds in _measured(params, variants)
        if dataset.name in variant.datasets
    }
    runs = _distinct(run for runs in measures.values() for run in runs)
    return Plan(
        datasets=datasets,
        corpus=corpus,
        backbone=backbone,
        features=features,
        measures=measures,
        runs=runs,
        batches=tuple(_batches(runs, profile.runs_per_process)),
    )


def _distinct(runs: Iterable[Run]) -> tuple[Run, ...]:
    """Every run once, under the first name it has."""
    named: dict[str, Run] = {}
    for run in runs:
        named.setdefault(run.digest, run)
    return tuple(named.values())
