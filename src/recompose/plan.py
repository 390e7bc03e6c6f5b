"""A plan: the graph of recipes that the chosen profile needs.

All functions are pure functions of params.yaml and of the sources; none touches data or results. A recipe determines a
content, and its digest is the content's name on disk. The kind of a recipe is the folder of ``results/`` that holds the
content.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from recompose.digest import short
from recompose.fingerprint import ROOT, fingerprint
from recompose.params.schema import Params
from recompose.params.sections import Bundled, Classifier, GivenGrids, Released
from recompose.records import Description, Need, identity

GRIDS = "recompose.backbones.grids"
CORPORA = {  # corpora for pretraining: name -> the module that generates it
    "shapes-scenes": "recompose.synthetic.scenes",
    "shapes-sentences": "recompose.synthetic.sentences",
}
ARCHITECTURES = ROOT / "backbones" / "architectures"
Document = Mapping[str, Any]  # plain values, as in JSON
NOTHING: Document = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class Recipe:
    """A recipe for a content: a document of plain values, the recipes that it needs, and the code that makes it."""

    kind: str
    name: str  # for people; recipes of different names may be identical
    document: Document
    needs: Mapping[str, "Recipe"] = field(default_factory=dict)  # role -> recipe
    code: Mapping[str, str] = field(default_factory=dict)  # module -> digest, see fingerprint
    track: str = ""  # empty: shared by all tracks, as backbones are
    # method, dataset, seed and so on, for people: no part of the identity
    labels: Document = field(default_factory=dict)
    named: str = ""  # the digest, where only that and the kind are known, from a recipe that needs this one

    @cached_property
    def digest(self) -> str:
        """The digest of everything that determines the content."""
        if self.named:
            return self.named
        needs = {role: recipe.digest for role, recipe in self.needs.items()}
        return identity(self.kind, self.document, needs, self.code)

    @property
    def folder(self) -> str:
        """The name of the content's folder."""
        return short(self.digest)

    @cached_property
    def key(self) -> str:
        """The path of the content below results/: ``<kind>/<folder>``."""
        return f"{self.kind}/{self.folder}"

    def description(self) -> Description:
        """Return the recipe as plain values, as in records and lineages."""
        return Description(
            kind=self.kind,
            name=self.name,
            track=self.track,
            labels=dict(self.labels),
            digest=self.digest,
            document=dict(self.document),
            needs={role: Need(kind=need.kind, digest=need.digest) for role, need in self.needs.items()},
            code=dict(self.code),
        )


def recipe_of(description: Description, by_key: Mapping[str, Recipe] = NOTHING) -> Recipe:
    """Return the recipe of a description; recipes that it needs are taken from ``by_key`` where present."""
    needs = {
        role: by_key.get(need.key) or Recipe(need.kind, "", NOTHING, named=need.digest)
        for role, need in description.needs.items()
    }
    d = description
    return Recipe(d.kind, d.name, d.document, needs, d.code, d.track, d.labels)


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
