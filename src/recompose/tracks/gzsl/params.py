"""The track's part of params.yaml: its section, and a profile's choices."""

from collections.abc import Collection, Iterator

from pydantic import Field

from recompose.params.mistakes import Problem, unknown_name
from recompose.params.sections import Count, Section
from recompose.params.track import TrackChoice, TrackSection


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
