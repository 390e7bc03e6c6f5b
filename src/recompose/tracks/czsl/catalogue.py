"""The track's methods with their settings, and its data sets, without importing either."""

from typing import Annotated, Literal

from pydantic import Field

from recompose.params.sections import Archive, Section, Seed
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

    adapter: Literal["mit-states", "ut-zappos", "cgqa"] = Field(
        description="The reader: the data set whose format it has."
    )
    archives: list[Archive] = Field(
        min_length=1,
        description="The archives that it is unpacked from; none is downloaded if the data set is already in `data/`.",
    )


DataSet = Annotated[ShapesPairs | PublishedPairs, Field(discriminator="adapter")]


ADAPTERS = {
    "shapes-pairs": DataAdapter("recompose.tracks.czsl.data.shapes_pairs", ShapesPairs, synthetic=True),
    "mit-states": DataAdapter(
        "recompose.tracks.czsl.data.mit_states", PublishedPairs, sizes={"train": 30338, "val": 10420, "test": 12995}
    ),
    "ut-zappos": DataAdapter(
        "recompose.tracks.czsl.data.ut_zappos", PublishedPairs, sizes={"train": 22998, "val": 3214, "test": 2914}
    ),
    "cgqa": DataAdapter(
        "recompose.tracks.czsl.data.cgqa", PublishedPairs, sizes={"train": 26920, "val": 7280, "test": 5098}
    ),
}
