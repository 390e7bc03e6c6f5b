"""The track's methods with their settings, and its data sets, without importing either."""

from typing import Annotated, Literal

from pydantic import Field

from recompose.params.sections import Archive, Count, Section, Seed
from recompose.tracks.catalogue import DataAdapter, Method
from recompose.tracks.czsl.methods.settings import (
    ChanceSettings,
    CoopSettings,
    CsoSettings,
    CspSettings,
    DfspSettings,
    DuplexSettings,
    GipcolSettings,
    MsciSettings,
    TroikaSettings,
    ZeroShotSettings,
)

_IN = "recompose.tracks.czsl.methods"
METHODS = {
    "chance": Method(f"{_IN}.chance:Chance", ChanceSettings, needs_backbone=False),
    "clip": Method(f"{_IN}.clip_coop_csp:CLIP", ZeroShotSettings, needs_seed=False),
    "coop": Method(f"{_IN}.clip_coop_csp:CoOp", CoopSettings),
    "csp": Method(f"{_IN}.clip_coop_csp:CSP", CspSettings),
    "gipcol": Method(f"{_IN}.gipcol:GIPCOL", GipcolSettings),
    "dfsp": Method(f"{_IN}.dfsp:DFSP", DfspSettings),
    "c-s-o": Method(f"{_IN}.three_path:CSO", CsoSettings),
    "troika": Method(f"{_IN}.troika:Troika", TroikaSettings),
    "msci": Method(f"{_IN}.msci:MSCI", MsciSettings),
    "duplex": Method(f"{_IN}.duplex:Duplex", DuplexSettings),
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
