"""The track's methods with their settings, its data sets, without importing either, and its part of params.yaml."""

from collections.abc import Collection, Iterator
from typing import Annotated, Literal

from pydantic import Field

from recompose.params.mistakes import Problem, unknown_name
from recompose.params.sections import Archive, Count, GivenGrids, Section, Seed
from recompose.params.track import TrackChoice, TrackSection
from recompose.tracks.catalogue import DataAdapter, Method
from recompose.tracks.gzsl.methods import settings

_IN = "recompose.tracks.gzsl.methods"
METHODS = {
    "eszsl": Method(f"{_IN}.eszsl:ESZSL", settings.EszslSettings),
    "ale": Method(f"{_IN}.ale_devise_sje:ALE", settings.AleSettings),
    "devise": Method(f"{_IN}.ale_devise_sje:DEVISE", settings.DeviseSettings),
    "sje": Method(f"{_IN}.ale_devise_sje:SJE", settings.SjeSettings),
    "dazle": Method(f"{_IN}.dazle:DAZLE", settings.DazleSettings),
    "transzero": Method(f"{_IN}.transzero:TransZero", settings.TranszeroSettings),
    "transzero-pp": Method(f"{_IN}.transzero:TransZeroPlus", settings.TranszeroPlusSettings),
    "crest": Method(f"{_IN}.crest:CREST", settings.CrestSettings),
}


class ClassImages(Section):
    """The number of images of a synthetic data set, per split; all classes of a split have the same number."""

    trainval: Annotated[int, Field(ge=150, multiple_of=30)] = Field(description="Training images, of seen classes.")
    test_seen: Annotated[int, Field(ge=30, multiple_of=30)] = Field(description="Test images of seen classes.")
    test_unseen: Annotated[int, Field(ge=10, multiple_of=10)] = Field(description="Test images of unseen classes.")


class ShapesClasses(Section):
    """A synthetic data set of classes that attributes describe."""

    adapter: Literal["shapes-classes"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; a run's seed is the number of its replicate, and is added.")
    images: ClassImages = Field(description="Number of images.")


class PublishedClasses(Section):
    """A published data set, unpacked from archives."""

    adapter: str = Field(description="The reader.")
    archives: list[Archive] = Field(
        min_length=1, description="The archives that it is unpacked from: images, and splits."
    )
    word_vectors: Archive = Field(description="The vectors of the attributes' names.")
    grids: GivenGrids | None = Field(
        default=None, description="Precomputed grids of its images; null: the profile's backbone computes them."
    )

    @property
    def files(self) -> dict[str, Archive]:
        """The published files that are no archives, by their names in the data set's folder."""
        return {"words": self.word_vectors}


class Xlsa17Classes(PublishedClasses):
    """A published data set of those that xlsa17.zip has the splits of."""

    adapter: Literal["xlsa17"] = Field(description="The reader.")
    folder: str = Field(description="Its folder in xlsa17.zip.")
    image_folder: str = Field(description="The folder of its images in the archives, by the end of its path.")
    attribute_file: str = Field(description="The file with the names of its attributes, by the end of its path.")
    counts: dict[str, Count] | None = Field(
        default=None, description="Its counts as papers print them, which are checked; null: none."
    )

    @property
    def places(self) -> dict[str, str]:
        """The places of its files in the archives."""
        return {"name": self.folder, "images": self.image_folder, "attributes": self.attribute_file}


ADAPTERS = {
    "shapes-classes": DataAdapter("recompose.tracks.gzsl.data.shapes_classes", ShapesClasses, synthetic=True),
    "xlsa17": DataAdapter("recompose.tracks.gzsl.data.xlsa17", Xlsa17Classes),
}


# the part of params.yaml


class Grids(Section):
    """The computation of grids of regions from images."""

    size: Count = Field(description="Height and width of the crop that the backbone sees, in pixels.")
    layer: str = Field(description="The stage of the backbone whose output is the grid.")


class Gzsl(TrackSection):
    """Zero-shot learning with attributes: classes that attributes describe, some of which training does not show."""


class GzslChoice(TrackChoice):
    """A profile's choices for zero-shot learning with attributes."""

    backbone: str = Field(description="The convolutional network whose grids of regions methods build on.")
    grids: Grids = Field(description="The computation of grids of regions from images.")

    def problems(self, section: Gzsl, backbones: Collection[str]) -> Iterator[Problem]:
        """Yield the names of things that do not exist."""
        yield from self.unknown(section)
        yield from unknown_name(("backbone",), self.backbone, backbones)
