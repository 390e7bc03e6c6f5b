"""The track's methods with their settings, its data sets, without importing either, and its part of params.yaml."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from recompose.params.mistakes import Problem
from recompose.params.sections import Archive, Backbone, Count, Section, Seed
from recompose.params.track import TrackChoice, TrackSection
from recompose.tracks.catalogue import DataAdapter, Method
from recompose.tracks.czsl.methods import settings

_IN = "recompose.tracks.czsl.methods"
METHODS = {
    "chance": Method(f"{_IN}.chance:Chance", settings.ChanceSettings, needs_backbone=False),
    "clip": Method(f"{_IN}.clip_coop_csp:CLIP", settings.ZeroShotSettings, needs_seed=False),
    "coop": Method(f"{_IN}.clip_coop_csp:CoOp", settings.CoopSettings),
    "csp": Method(f"{_IN}.clip_coop_csp:CSP", settings.CspSettings),
    "gipcol": Method(f"{_IN}.gipcol:GIPCOL", settings.GipcolSettings),
    "dfsp": Method(f"{_IN}.dfsp:DFSP", settings.DfspSettings),
    "c-s-o": Method(f"{_IN}.three_path:CSO", settings.CsoSettings),
    "troika": Method(f"{_IN}.troika:Troika", settings.TroikaSettings),
    "msci": Method(f"{_IN}.msci:MSCI", settings.MsciSettings),
    "duplex": Method(f"{_IN}.duplex.model:Duplex", settings.DuplexSettings),
}


class PairImages(Section):
    """The number of images of a synthetic data set, per split; every pair of a split is shown at least once."""

    train: Annotated[int, Field(ge=83)] = Field(description="Training images, by a long tail over the pairs.")
    val: Annotated[int, Field(ge=79)] = Field(description="Validation images, the same number of each pair.")
    test: Annotated[int, Field(ge=113)] = Field(description="Test images, the same number of each pair.")


class ShapesPairs(Section):
    """A synthetic data set of state-object pairs."""

    adapter: Literal["shapes-pairs"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; a run's seed is the number of its replicate, and is added.")
    images: PairImages = Field(description="Number of images.")


class PublishedPairs(Section):
    """A published data set, unpacked from archives."""

    adapter: Literal["compositional", "mit-states", "ut-zappos"] = Field(
        description="The form of its archives: that of all these benchmarks, or with the images of another data set."
    )
    archives: list[Archive] = Field(
        min_length=1,
        description="The archives that it is unpacked from; none is downloaded if the data set is already in `data/`.",
    )
    counts: dict[str, Count] | None = Field(
        default=None, description="Its counts as papers print them, which are checked; null: none."
    )


_DATA = "recompose.tracks.czsl.data"
ADAPTERS = {
    "shapes-pairs": DataAdapter(f"{_DATA}.shapes_pairs", ShapesPairs, synthetic=True),
    "compositional": DataAdapter(f"{_DATA}.compositional", PublishedPairs),
    "mit-states": DataAdapter(f"{_DATA}.mit_states", PublishedPairs),
    "ut-zappos": DataAdapter(f"{_DATA}.ut_zappos", PublishedPairs),
}


# the part of params.yaml

NamePrompt = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{name\}$")]


class Feasibility(Section):
    """The measure of how close a state and an object are to those that training shows together."""

    vectors: Literal["backbone", "glove"] = Field(
        description="The vectors: texts of the backbone, or word vectors as in the released code."
    )
    prompt: NamePrompt = Field(description="The text of a state or an object alone, for the backbone.")
    glove: Archive = Field(description="The word vectors.")


class Czsl(TrackSection):
    """Compositional zero-shot learning: pairs of a state and an object, some of which training does not show."""

    feasibility: Feasibility = Field(description="Which pairs the calibrated open world holds.")


class CzslChoice(TrackChoice):
    """A profile's choices for compositional zero-shot learning."""

    image_size: Count = Field(description="Height and width of the images that the CLIPs take, in pixels.")
    backbone: str = Field(description="The CLIP that methods build on.")
    other_backbone: str | None = Field(
        default=None, description="A second CLIP, for the tables that compare backbones; null: none."
    )

    def problems(self, section: Czsl, backbones: Mapping[str, Backbone]) -> Iterator[Problem]:
        """Yield the names of things that do not exist, and of backbones that are not CLIPs."""
        yield from self.unknown(section)
        yield from self.no_clips(("backbone", "other_backbone"), backbones)
