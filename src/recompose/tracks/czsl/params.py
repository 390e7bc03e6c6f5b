"""The track's part of params.yaml: its section, and a profile's choices."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Literal

from pydantic import Field, StringConstraints

from recompose.params.documents import Place
from recompose.params.mistakes import Problem, unknown_name
from recompose.params.sections import Archive, Backbone, Clip, Count, Section
from recompose.params.track import TrackChoice, TrackSection

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
        yield from _no_clip(("backbone",), self.backbone, backbones)
        if self.other_backbone is not None:
            yield from _no_clip(("other_backbone",), self.other_backbone, backbones)


def _no_clip(place: Place, name: str, backbones: Mapping[str, Backbone]) -> list[Problem]:
    """Return the problem of a name that is not a CLIP's."""
    clips = [clip for clip, section in backbones.items() if isinstance(section, Clip)]
    if name in backbones and name not in clips:
        return [Problem(place, f"'{name}' has no text tower; allowed: {', '.join(clips)}")]
    return unknown_name(place, name, clips)
