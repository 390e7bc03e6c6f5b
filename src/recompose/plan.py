"""A plan is a graph of recipes: what has to exist, and what each thing is made from.

Pure functions of params.yaml and of the sources; nothing here touches data or results. A recipe is what determines a
content; its digest is the content's name on disk. Kinds of recipes are called by the folder of ``results/`` that holds
what they determine.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType
from typing import Any

from recompose.digest import digest, short
from recompose.fingerprint import ROOT, fingerprint
from recompose.params import Bundled, Classifier, GivenGrids, Params, Released

GRIDS = "recompose.backbones.grids"
CORPORA = {  # what pretrains backbones here: name -> the module that draws it
    "shapes-scenes": "recompose.synthetic.scenes",
    "shapes-sentences": "recompose.synthetic.sentences",
}
ARCHITECTURES = ROOT / "backbones" / "architectures"
NOTHING: Mapping[str, Any] = MappingProxyType({})


def identity(kind: str, document: Mapping[str, Any], needs: Mapping[str, str], code: Mapping[str, str]) -> str:
    """The digest of a recipe; of what it needs the digests count."""
    return digest({"kind": kind, "document": dict(document), "needs": dict(needs), "code": dict(code)})


@dataclass(frozen=True, eq=False)
class Recipe:
    """What determines a content: a document of plain values, what it is made from, and the code that makes it."""

    kind: str
    name: str  # as people call it; two names may mean one recipe
    document: Mapping[str, Any]
    needs: Mapping[str, "Recipe"] = field(default_factory=dict)  # role -> recipe
    code: Mapping[str, str] = field(default_factory=dict)  # module -> digest, see fingerprint
    track: str = ""  # whose it is; backbones are everybody's
    labels: Mapping[str, Any] = field(
        default_factory=dict
    )  # method, dataset, seed and so on, for people: no part of its identity

    @cached_property
    def digest(self) -> str:
        """The digest of all that determines the content."""
        needs = {role: recipe.digest for role, recipe in self.needs.items()}
        return identity(self.kind, self.document, needs, self.code)

    @property
    def folder(self) -> str:
        """The name of its folder."""
        return short(self.digest)

    @property
    def key(self) -> str:
        """How it is called wherever kinds meet: ``<kind>/<folder>``, its place below results/."""
        return f"{self.kind}/{self.folder}"

    def description(self) -> dict[str, Any]:
        """The recipe as plain values, as records and lineages hold it."""
        return {
            "kind": self.kind,
            "name": self.name,
            "track": self.track,
            "labels": dict(self.labels),
            "digest": self.digest,
            "document": dict(self.document),
            "needs": {role: {"kind": need.kind, "digest": need.digest} for role, need in self.needs.items()},
            "code": dict(self.code),
        }


@dataclass(frozen=True, eq=False)
class NamedRecipe(Recipe):
    """A recipe of which only kind and digest are known: another one names it."""

    known_digest: str = ""

    @property
    def digest(self) -> str:
        """The digest that it was named by."""
        return self.known_digest


def recipe_of(description: Mapping[str, Any], others: Mapping[str, Recipe] = NOTHING) -> Recipe:
    """The recipe that a description tells of; what it needs is taken from others by key, where they have it."""
    needs = {role: _named(need, others) for role, need in description["needs"].items()}
    parts = {name: description[name] for name in ("kind", "name", "document", "code", "track", "labels")}
    return Recipe(needs=needs, **parts)


def _named(need: Mapping[str, str], others: Mapping[str, Recipe]) -> Recipe:
    key = f"{need['kind']}/{short(need['digest'])}"
    return others.get(key) or NamedRecipe(need["kind"], "", NOTHING, known_digest=need["digest"])


def described_identity(description: Mapping[str, Any]) -> str:
    """The digest that a description should have."""
    needs = {role: need["digest"] for role, need in description["needs"].items()}
    return identity(description["kind"], description["document"], needs, description["code"])


def closure(recipes: Iterable[Recipe]) -> Iterator[Recipe]:
    """These recipes and everything that they need, each once, what is needed before what needs it."""
    given: set[str] = set()

    def walk(recipe: Recipe) -> Iterator[Recipe]:
        if recipe.digest in given:
            return
        for need in recipe.needs.values():
            yield from walk(need)
        given.add(recipe.digest)
        yield recipe

    for recipe in recipes:
        yield from walk(recipe)


@dataclass(frozen=True)
class TrackPlan:
    """What the chosen profile needs of one track.

    ``evaluations`` are those of each method or variant on each benchmark, by seed; several names may share some.
    """

    benchmarks: Mapping[str, Recipe]  # name -> its data
    evaluations: Mapping[tuple[str, str], tuple[Recipe, ...]]
    methods: tuple[str, ...]  # the profile's own, without variants


@dataclass(frozen=True)
class Plan:
    """Everything that the chosen profile needs."""

    tracks: Mapping[str, TrackPlan]

    @cached_property
    def recipes(self) -> tuple[Recipe, ...]:
        """All of it, each once, what is needed before what needs it."""
        roots = (
            recipe
            for track in self.tracks.values()
            for recipes in (track.benchmarks.values(), *track.evaluations.values())
            for recipe in recipes
        )
        return tuple(closure(roots))

    @cached_property
    def by_key(self) -> dict[str, Recipe]:
        """All of it: key -> recipe."""
        return {recipe.key: recipe for recipe in self.recipes}

    def of(self, kind: str) -> list[Recipe]:
        """The recipes of a kind."""
        return [recipe for recipe in self.recipes if recipe.kind == kind]

    def benchmarks(self, track: str) -> list[str]:
        """The benchmarks of a track; none where the profile has nothing of it."""
        return list(self.tracks[track].benchmarks) if track in self.tracks else []

    def evaluations(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        """The evaluations of a method or a variant on a benchmark, by seed; none where they are not asked for."""
        return list(self.tracks[track].evaluations.get((name, benchmark), ())) if track in self.tracks else []

    def of_names(self, track: str, names: Iterable[str]) -> list[Recipe]:
        """The evaluations of some methods or variants on all benchmarks."""
        wanted = set(names)
        planned = self.tracks[track].evaluations.items() if track in self.tracks else ()
        return [recipe for (name, _), recipes in planned if name in wanted for recipe in recipes]


@dataclass(frozen=True)
class Planner:
    """Makes the recipes that tracks share: backbones, the corpora that these are pretrained on, and what they make of
    images: features and grids.
    """

    params: Params
    _backbones: dict[str, Recipe] = field(default_factory=dict)

    def backbone(self, name: str) -> Recipe:
        """The recipe of a backbone, pretrained here or by others."""
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
        document: dict[str, Any] = {
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
        """The recipe of what a backbone makes of the pixels of a data set."""
        return Recipe(
            "features",
            f"{pixels.needs['data'].name} by {backbone.name}",
            {},
            {"pixels": pixels, "backbone": backbone},
            fingerprint(["recompose.backbones.features"]),
            pixels.track,
            {**pixels.labels, **backbone.labels},
        )

    def grids(self, data: Recipe, backbone: Recipe, *, size: int, layer: str) -> Recipe:
        """The recipe of the images of a data set as grids of regions: what a layer of a convolutional backbone gives
        where they are ``size`` x ``size`` pixels.
        """
        return Recipe(
            "grids",
            f"{data.name} by {backbone.name}",
            {"size": size, "layer": layer},
            {"data": data, "backbone": backbone},
            fingerprint([GRIDS]),
            data.track,
            {**data.labels, **backbone.labels},
        )

    def pixels(self, data: Recipe, size: int) -> Recipe:
        """The recipe of the pictures of a data set as towers see them, squares of ``size`` pixels."""
        needs, code = {"data": data}, fingerprint(["recompose.backbones.pixels"])
        return Recipe("pixels", f"{data.name} at {size} pixels", {"size": size}, needs, code, data.track, data.labels)

    def given_grids(self, data: Recipe, given: GivenGrids) -> Recipe:
        """The recipe of grids that somebody has made of the images of a data set, in an HDF5 file in data/archives."""
        needs, code = {"data": data}, fingerprint([GRIDS])
        document = given.model_dump()
        return Recipe("grids", f"{data.name} from {given.file}", document, needs, code, data.track, data.labels)


def _architecture(name: str) -> Any:
    """The content of our own architecture's file; the name of one that open_clip declares."""
    path = ARCHITECTURES / f"{name}.json"
    return {"name": name, **json.loads(path.read_text())} if path.exists() else name
