"""A plan: the graph of recipes that the chosen profile needs.

All functions are pure functions of params.yaml and of the sources; none touches data or results. A recipe determines a
content, and its digest is the content's name on disk. The kind of a recipe is the folder of ``results/`` that holds the
content.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Self

from pydantic import model_serializer
from pydantic.dataclasses import dataclass as checked_dataclass

from recompose.digest import digest, short
from recompose.files import Document
from recompose.params.schema import Params
from recompose.params.sections import Bundled, Classifier, GivenGrids, Released
from recompose.recipes.fingerprint import ROOT, fingerprint

OUTSIDE_FINGERPRINTS = True  # recipes hold what it plans

GRIDS = "recompose.backbones.grids"
CORPORA = {  # corpora for pretraining: name -> the module that generates it
    "shapes-scenes": "recompose.synthetic.scenes",
    "shapes-sentences": "recompose.synthetic.sentences",
}
ARCHITECTURES = ROOT / "backbones" / "architectures"
NOTHING: Mapping[str, Any] = MappingProxyType({})


@checked_dataclass(frozen=True, eq=False)
class Recipe:
    """A recipe for a content: a document of plain values, the recipes that it needs, and the code that makes it.

    A file holds a recipe with the kind and the digest of each need; no more is known of them until it is ``linked``.
    """

    kind: str
    name: str = ""  # for people; recipes of different names may be identical
    document: Document = field(default_factory=dict)
    needs: dict[str, "Recipe"] = field(default_factory=dict)  # role -> recipe
    code: dict[str, str] = field(default_factory=dict)  # module -> digest, see fingerprint
    track: str = ""  # empty: shared by all tracks, as backbones are
    # method, dataset, seed and so on, for people: no part of the identity
    labels: Document = field(default_factory=dict)
    digest: str = ""  # the identity, or what a file claims it to be

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", self.identity)

    @property
    def identity(self) -> str:
        """The digest of everything that determines the content, which covers the digests of the needs."""
        needs = {role: need.digest for role, need in self.needs.items()}
        return digest({"kind": self.kind, "document": self.document, "needs": needs, "code": self.code})

    @property
    def folder(self) -> str:
        """The name of the content's folder."""
        return short(self.digest)

    @cached_property
    def key(self) -> str:
        """The path of the content below results/: ``<kind>/<folder>``."""
        return f"{self.kind}/{self.folder}"

    @model_serializer
    def plain(self) -> Document:
        """Return the recipe as plain values, as in files."""
        return {
            "kind": self.kind,
            "name": self.name,
            "track": self.track,
            "labels": self.labels,
            "digest": self.digest,
            "document": self.document,
            "needs": {role: {"kind": need.kind, "digest": need.digest} for role, need in self.needs.items()},
            "code": self.code,
        }

    def changed(self, **parts: Any) -> Self:
        """Return the recipe with other parts, and so with another digest."""
        return replace(self, digest="", **parts)

    def linked(self, by_key: Mapping[str, "Recipe"]) -> Self:
        """Return the recipe with the recipes that it needs from ``by_key``, where they are present."""
        return replace(self, needs={role: by_key.get(need.key, need) for role, need in self.needs.items()})


def link(described: Mapping[str, Recipe]) -> dict[str, Recipe]:
    """Return recipes of a file, by key, needs first, each with those of them that it needs."""
    recipes: dict[str, Recipe] = {}

    def add(key: str) -> None:
        if key in described and key not in recipes:
            for need in described[key].needs.values():
                add(need.key)
            recipes[key] = described[key].linked(recipes)

    for key in described:
        add(key)
    return recipes


def closure(recipes: Iterable[Recipe]) -> Iterator[Recipe]:
    """Yield these recipes and all recipes that they need, each once, needed recipes first."""
    visited: set[str] = set()

    def walk(recipe: Recipe) -> Iterator[Recipe]:
        if recipe.digest in visited:
            return
        for need in recipe.needs.values():
            yield from walk(need)
        visited.add(recipe.digest)
        yield recipe

    for recipe in recipes:
        yield from walk(recipe)


@dataclass(frozen=True)
class TrackPlan:
    """The recipes that the chosen profile needs of one track.

    ``evaluations`` holds the evaluations of each method or variant on each benchmark, by seed; names may share them.
    """

    benchmarks: Mapping[str, Recipe]  # name -> data
    evaluations: Mapping[tuple[str, str], tuple[Recipe, ...]]
    methods: tuple[str, ...]  # of the profile, without variants
    papers: Collection[str] | None = None  # whose artifacts are made; None: all of the track


@dataclass(frozen=True)
class Plan:
    """All recipes that the chosen profile needs."""

    tracks: Mapping[str, TrackPlan]

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """All recipes, each once, needed recipes first."""
        roots = (
            recipe
            for track in self.tracks.values()
            for recipes in (track.benchmarks.values(), *track.evaluations.values())
            for recipe in recipes
        )
        return tuple(closure(roots))

    @cached_property
    def by_key(self) -> dict[str, Recipe]:
        """All recipes by key."""
        return {recipe.key: recipe for recipe in self.recipes}

    def of(self, kind: str) -> list[Recipe]:
        """Return the recipes of a kind."""
        return [recipe for recipe in self.recipes if recipe.kind == kind]

    def benchmarks(self, track: str) -> list[str]:
        """Return the benchmarks of a track; none if the profile leaves the track out."""
        return list(self.tracks[track].benchmarks) if track in self.tracks else []

    def evaluations(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """Return the evaluations of a method or variant on a benchmark, by seed; none if the profile has none."""
        return list(self.tracks[track].evaluations.get((name, benchmark), ())) if track in self.tracks else []

    def evaluations_of(self, track: str, names: Iterable[str]) -> list[Recipe]:
        """Return the evaluations of several methods or variants on all benchmarks."""
        names = set(names)
        planned = self.tracks[track].evaluations.items() if track in self.tracks else ()
        return [recipe for (name, _), recipes in planned if name in names for recipe in recipes]


@dataclass(frozen=True)
class Planner:
    """A planner of the recipes that tracks share: backbones and their corpora, pixels, features and grids."""

    params: Params
    _backbones: dict[str, Recipe] = field(default_factory=dict)

    def backbone(self, name: str) -> Recipe:
        """Return the recipe of a backbone, pretrained here or published."""
        if name not in self._backbones:
            self._backbones[name] = self._backbone(name)
        return self._backbones[name]

    def _backbone(self, name: str) -> Recipe:
        section = self.params.backbones[name]
        labels = {"backbone": name}
        if isinstance(section, Classifier):
            weights = {section.weights.file: section.weights.sha256}
            published = {"backbone": name, "architecture": section.architecture, "weights": weights}
            return Recipe("backbones", name, published, labels=labels)
        document = {
            "backbone": name,
            "architecture": _architecture(section.architecture),
            "activation": section.activation,
        }
        if isinstance(section, Bundled):
            return Recipe("backbones", name, document | {"weights": section.asset.sha256}, labels=labels)
        if isinstance(section, Released):
            return Recipe("backbones", name, document | {"weights": section.weights.sha256}, labels=labels)
        corpus = {"scenes": section.scenes, "seed": section.seed}
        code = fingerprint([CORPORA[section.corpus]])
        scenes = Recipe("data", section.corpus, corpus, code=code, labels={"dataset": section.corpus})
        training = section.model_dump(include={"seed", "epochs", "batch_size", "lr", "weight_decay"})
        trainer = {"precision": self.params.chosen.trainer.precision, "threads": section.threads}
        code = fingerprint(["recompose.training.pretraining"])
        return Recipe(
            "backbones", name, document | {"trainer": trainer, **training}, {"corpus": scenes}, code, labels=labels
        )

    def features(self, pixels: Recipe, backbone: Recipe) -> Recipe:
        """Return the recipe of a backbone's features of the pixels of a data set."""
        title = f"{pixels.needs['data'].name} by {backbone.name}"
        return _made_of("features", title, {}, "recompose.backbones.features", pixels=pixels, backbone=backbone)

    def grids(self, data: Recipe, backbone: Recipe, *, size: int, layer: str) -> Recipe:
        """Return the recipe of the images of a data set as grids of regions: the outputs of a layer of a convolutional
        backbone for images of ``size`` x ``size`` pixels.
        """
        title, document = f"{data.name} by {backbone.name}", {"size": size, "layer": layer}
        return _made_of("grids", title, document, GRIDS, data=data, backbone=backbone)

    def pixels(self, data: Recipe, size: int) -> Recipe:
        """Return the recipe of the pictures of a data set as inputs of towers, squares of ``size`` pixels."""
        title = f"{data.name} at {size} pixels"
        return _made_of("pixels", title, {"size": size}, "recompose.backbones.pixels", data=data)

    def grids_from_file(self, data: Recipe, grids: GivenGrids) -> Recipe:
        """Return the recipe of ready-made grids of the images of a data set, in an HDF5 file in data/archives."""
        return _made_of("grids", f"{data.name} from {grids.file}", grids.model_dump(), GRIDS, data=data)


def _made_of(kind: str, title: str, document: Document, module: str, **needs: Recipe) -> Recipe:
    """Return the recipe of what a module makes of these: it has their labels, and the track of the first."""
    labels = {label: value for need in needs.values() for label, value in need.labels.items()}
    return Recipe(kind, title, document, needs, fingerprint([module]), next(iter(needs.values())).track, labels)


def _architecture(name: str) -> Any:
    """Return the content of an architecture file of this project, or the name of an architecture of open_clip."""
    path = ARCHITECTURES / f"{name}.json"
    return {"name": name, **json.loads(path.read_text())} if path.exists() else name
