"""The track's part of params.yaml: its section, and a profile's choices."""

from collections.abc import Collection, Iterator
from typing import Annotated, ClassVar

from pydantic import Field

from recompose.params.mistakes import Problem, unknown_name
from recompose.params.schema import TrackForm
from recompose.params.sections import Count, Distinct, Name, Section
from recompose.params.track import TrackChoice, TrackSection, methods_section
from recompose.tracks.gzsl.catalogue import METHODS, DataSet

MethodName = Annotated[str, Field(json_schema_extra=lambda schema: schema.update(enum=list(METHODS)))]
Methods = methods_section(METHODS)


class Grids(Section):
    """The computation of grids of regions from images."""

    size: Count = Field(description="Height and width of the crop that the backbone sees, in pixels.")
    layer: str = Field(description="The stage of the backbone whose output is the grid.")


class Gzsl(TrackSection):
    """Zero-shot learning with attributes: classes that attributes describe, some of which training does not show."""

    method_forms: ClassVar = METHODS

    datasets: dict[Name, DataSet] = Field(description="The data sets to choose from, under names of your own.")
    methods: Methods = Field(description="The methods and their settings.")  # type: ignore[valid-type]


class GzslChoice(TrackChoice):
    """A profile's choices for zero-shot learning with attributes."""

    backbone: str = Field(description="The convolutional network whose grids of regions methods build on.")
    grids: Grids = Field(description="The computation of grids of regions from images.")
    methods: Annotated[list[MethodName], Field(min_length=1), Distinct] = Field(description="The methods that are run.")

    def problems(self, section: Gzsl, backbones: Collection[str]) -> Iterator[Problem]:
        """Yield the names of things that do not exist."""
        yield from self.unknown(section)
        yield from unknown_name(("backbone",), self.backbone, backbones)


FORM = TrackForm(Gzsl, GzslChoice)
