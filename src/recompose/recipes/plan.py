"""A plan: the graph of recipes that the chosen profile needs.

All functions are pure functions of params.yaml and of the sources; none touches data or results. A recipe determines a
content, and its digest is the content's name on disk. The kind of a recipe is the folder of ``results/`` that holds the
content.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from pydantic import model_serializer
from pydantic.dataclasses import dataclass as checked_dataclass

from recompose.digest import SHORT, digest
from recompose.files import Document
from recompose.params.schema import Params
from recompose.params.sections import Archive, Asset, Bundled, Classifier, GivenGrids, Released
from recompose.recipes.fingerprint import ROOT, fingerprint

ARITHMETIC = "recompose.arithmetic:use"  # by which everything is computed
BACKBONE_STEPS = "recompose.backbones.steps"
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
    code: dict[str, str] = field(default_factory=dict)  # module -> digest of what these reach, see fingerprint
    track: str = ""  # empty: shared by all tracks, as backbones are
    # method, dataset, seed and so on, for people: no part of the identity
    labels: Document = field(default_factory=dict)
    made_by: dict[str, str] = field(default_factory=dict)  # role -> "module:name" or a module: what makes it
    # where raw files come from and lie, such as addresses: no part of the identity either
    sources: Document = field(default_factory=dict)
    digest: str = ""  # the identity, or what a file claims it to be

    def __post_init__(self) -> None:
        if not self.digest:
            object.__setattr__(self, "digest", self.identity)

    @classmethod
    def of(cls, kind: str, name: str, made_by: dict[str, str], document: Document, **parts: Any) -> Self:
        """Return the recipe of what these functions make, with the fingerprint of their code.

        Args:
            kind: of the content.
            name: for people.
            made_by: what makes it: ``make``, which is called, and whatever it calls by the recipe.
            document: the settings.
            parts: other parts of the recipe.
        """
        code = fingerprint([*made_by.values(), ARITHMETIC])
        return cls(kind, name, document, made_by=made_by, code=code, **parts)

    @property
    def changed_modules(self) -> list[str]:
        """The modules whose code is another one now, or that are gone."""
        now = fingerprint([*self.made_by.values(), ARITHMETIC]) if self.made_by else {}
        return sorted(module for module in self.code.keys() | now.keys() if self.code.get(module) != now.get(module))

    @property
    def identity(self) -> str:
        """The digest of everything that determines the content, which covers the digests of the needs."""
        needs = {role: need.digest for role, need in self.needs.items()}
        made = {"made_by": self.made_by, "code": self.code}
        return digest({"kind": self.kind, "document": self.document, "needs": needs, **made})

    @property
    def folder(self) -> str:
        """The name of the content's folder."""
        return self.digest[:SHORT]

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
            "made_by": self.made_by,
            "code": self.code,
            **({"sources": self.sources} if self.sources else {}),
        }

    @property
    def trainer(self) -> Mapping[str, Any]:
        """Its settings of hardware and arithmetic; none of what depends on neither."""
        settings: Mapping[str, Any] = self.document.get("trainer", NOTHING)
        return settings

    def raw_folder(self, raw: Path) -> Path:
        """Return the folder of a data set's raw files, given that of all."""
        return raw / str(self.sources.get("folder", f"{self.name}-{self.folder}"))

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
        labels, document = {"backbone": name}, {"backbone": name, "architecture": _architecture(section.architecture)}
        if isinstance(section, Classifier):
            made_by = {"make": f"{BACKBONE_STEPS}:fetch_classifier"}
            return Recipe.of("backbones", name, made_by, document | _file(section.weights), **_published(section, name))
        document["activation"] = section.activation
        if isinstance(section, Bundled):
            made_by = {"make": f"{BACKBONE_STEPS}:copy_asset"}
            return Recipe.of("backbones", name, made_by, document | _file(section.asset), labels=labels)
        if isinstance(section, Released):
            made_by = {"make": f"{BACKBONE_STEPS}:fetch_clip"}
            return Recipe.of("backbones", name, made_by, document | _file(section.weights), **_published(section, name))
        made_by = {
            "make": "recompose.data.content:make_data",
            "acquire": "recompose.data.corpora:acquire",
            "index": "recompose.data.corpora:index",
            "reader": CORPORA[section.corpus],
        }
        corpus = {"scenes": section.scenes, "seed": section.seed}
        scenes = Recipe.of("data", section.corpus, made_by, corpus, labels={"dataset": section.corpus})
        training = section.model_dump(include={"seed", "epochs", "batch_size", "lr", "weight_decay"})
        trainer = {**self.trainer("precision"), "threads": section.threads}  # one process pretrains
        made_by = {"make": f"{BACKBONE_STEPS}:make_pretrained"}
        needs, document = {"corpus": scenes}, {**document, "trainer": trainer, **training}
        return Recipe.of("backbones", name, made_by, document, needs=needs, labels=labels)

    def trainer(self, *more: str) -> Document:
        """Return the settings of hardware and arithmetic that can change what is computed, with more of them."""
        return self.params.chosen.trainer.model_dump(include={"threads", "accelerator", "arithmetic", *more})

    def features(self, pixels: Recipe, backbone: Recipe) -> Recipe:
        """Return the recipe of a backbone's features of the pixels of a data set."""
        title, document = f"{pixels.needs['data'].name} by {backbone.name}", {"trainer": self.trainer()}
        made_by = {"make": "recompose.backbones.features:make_features"}
        return _made_of("features", title, made_by, document, pixels=pixels, backbone=backbone)

    def grids(self, data: Recipe, backbone: Recipe, pictures: str, *, size: int, layer: str) -> Recipe:
        """Return the recipe of the images of a data set as grids of regions: the outputs of a layer of a convolutional
        backbone for images of ``size`` x ``size`` pixels, in the order of ``pictures``, as for ``pixels``.
        """
        title = f"{data.name} by {backbone.name}"
        made_by = {"make": "recompose.backbones.grids:make_grids", "pictures": pictures}
        document = {"size": size, "layer": layer, "trainer": self.trainer()}
        return _made_of("grids", title, made_by, document, data=data, backbone=backbone)

    def pixels(self, data: Recipe, pictures: str, size: int) -> Recipe:
        """Return the recipe of the pictures of a data set as inputs of towers, squares of ``size`` pixels.

        Args:
            data: the data set.
            pictures: the function, ``module:name``, that returns the pictures of its index in their order.
            size: of the squares.
        """
        made_by = {"make": "recompose.backbones.pixels:make_pixels", "pictures": pictures}
        return _made_of("pixels", f"{data.name} at {size} pixels", made_by, {"size": size}, data=data)

    def grids_from_file(self, data: Recipe, grids: GivenGrids, pictures: str) -> Recipe:
        """Return the recipe of ready-made grids of the images of a data set, in an HDF5 file in data/archives."""
        made_by = {"make": "recompose.backbones.grids:copy_grids", "pictures": pictures}
        return _made_of("grids", f"{data.name} from {grids.file}", made_by, grids.model_dump(), data=data)


def _made_of(kind: str, title: str, made_by: dict[str, str], document: Document, **needs: Recipe) -> Recipe:
    """Return the recipe of what is made of these: it has their labels, and the track of the first."""
    labels = {label: value for need in needs.values() for label, value in need.labels.items()}
    track = next(iter(needs.values())).track
    return Recipe.of(kind, title, made_by, document, needs=needs, track=track, labels=labels)


def _file(file: Archive | Asset) -> Document:
    return {"weights": {file.file: file.sha256}}


def _published(section: Released | Classifier, name: str) -> Document:
    """Return the labels and the sources of a published backbone."""
    tag = None if isinstance(section, Classifier) else section.weights.tag
    sources = {"architecture": section.architecture, "urls": section.weights.urls, "tag": tag}
    return {"labels": {"backbone": name}, "sources": sources}


def _architecture(name: str) -> Any:
    """Return the content of an architecture file of this project, or the name of an architecture of open_clip."""
    path = ARCHITECTURES / f"{name}.json"
    return {"name": name, **json.loads(path.read_text())} if path.exists() else name
