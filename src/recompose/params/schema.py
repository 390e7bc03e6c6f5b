"""The schema of the whole params.yaml, and the parameters that are read from it."""

from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import Discriminator, Field, Tag, create_model

from recompose.files import Document
from recompose.params.mistakes import UserFile
from recompose.params.sections import (
    Bundled,
    Classifier,
    Name,
    Pretrained,
    Released,
    Section,
    Trainer,
)


class TrackForm(NamedTuple):
    """The sections that a track adds to params.yaml.

    ``section.problems()`` yields the problems of the section that the schema cannot find, and
    ``choice.problems(section, backbones)`` those of a profile's choice, such as names of data sets that do not exist.
    The place of a problem is the path of keys within the section or the choice. ``backbones`` are all backbones by
    name.
    """

    section: type[Any]
    choice: type[Any]


Forms = Mapping[str, TrackForm]


def _backbone_kind(value: Any) -> str:
    """Return the name of an entry's section; ``.pth`` files are torchvision's weights, never those of CLIPs."""
    if not isinstance(value, Mapping):
        return Pretrained.__name__  # which reports that it is no section
    if "asset" in value:
        return Bundled.__name__
    weights = value.get("weights", {})
    file = weights.get("file") if isinstance(weights, Mapping) else None
    if isinstance(file, str) and file.endswith(".pth"):
        return Classifier.__name__
    return Released.__name__ if "weights" in value else Pretrained.__name__


BackboneEntry = Annotated[
    Annotated[Pretrained, Tag(Pretrained.__name__)]
    | Annotated[Released, Tag(Released.__name__)]
    | Annotated[Bundled, Tag(Bundled.__name__)]
    | Annotated[Classifier, Tag(Classifier.__name__)],
    Discriminator(_backbone_kind),
]


class Profile(Section):
    """The extent of a workflow and its budget."""

    based_on: Name | None = Field(
        default=None,
        description="The profile that this one builds on: mappings merge, lists and other values replace.",
    )
    trainer: Trainer = Field(description="The hardware settings of training.")
    override: Document = Field(
        default={},
        description="Values that replace those of other sections, each under its dotted path.",
    )

    @property
    def tracks(self) -> dict[str, Section]:
        """The choices from each track that the profile has."""
        return {name: value for name, value in self if name not in Profile.model_fields and value is not None}


class Params(UserFile, Section):
    """All parameters of the workflow."""

    profile: Name = Field(description="The name of the chosen profile.")
    profiles: dict[Name, Any] = Field(description="The profiles to choose from, under names of your own.")
    backbones: dict[Name, BackboneEntry] = Field(description="The backbones to choose from, under names of your own.")
    plugins: list[str] = Field(
        default=[],
        description="Folders of plugins, relative to this file. Installed plugins need no entry.",
    )

    @property
    def chosen(self) -> Profile:
        """The chosen profile."""
        profile: Profile = self.profiles[self.profile]
        return profile

    @property
    def tracks(self) -> dict[str, Section]:
        """The section of each track, with the overrides of the chosen profile."""
        return {name: value for name, value in self if name not in Params.model_fields}


def file_schema(tracks: Forms) -> type[Params]:
    """Return the schema of params.yaml with the sections of these tracks."""
    choices: Document = {
        name: (
            form.choice | None,
            Field(default=None, description=f"Choices from the track {name}; null: the track is left out."),
        )
        for name, form in tracks.items()
    }
    profile = create_model("Profile", __base__=Profile, __doc__=Profile.__doc__, **choices)
    sections: Document = {
        name: (form.section, Field(description=f"The track {name}.")) for name, form in tracks.items()
    }
    profiles = Params.model_fields["profiles"].description
    sections["profiles"] = (dict[Name, profile], Field(description=profiles))  # type: ignore[valid-type]
    return create_model("Params", __base__=Params, __doc__=Params.__doc__, **sections)
