"""The schema of the whole params.yaml, and the parameters that are read from it."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Discriminator, Field, Tag, create_model

from recompose.files import Document
from recompose.params.mistakes import Problem
from recompose.params.sections import (
    Backbone,
    Bundled,
    Classifier,
    Name,
    Pretrained,
    Released,
    Section,
    Trainer,
)

S = TypeVar("S", bound=Section)
C = TypeVar("C", bound=Section)


@dataclass(frozen=True)
class TrackForm(Generic[S, C]):
    """The sections that a track adds to params.yaml.

    ``problems(section, None, backbones)`` returns the problems of the section that the schema cannot find, and
    ``problems(section, choice, backbones)`` those of a profile's choice, such as names of data sets that do not exist.
    The place of a problem is the path of keys within the section or the choice. ``backbones`` are all backbones by
    name.
    """

    section: type[S]
    choice: type[C]
    problems: Callable[[S, C | None, Mapping[str, Backbone]], Iterable[Problem]]


Forms = Mapping[str, TrackForm[Any, Any]]


@dataclass(frozen=True)
class Profile:
    """The extent of a workflow and its budget."""

    trainer: Trainer
    tracks: dict[str, Section]  # the choices from each track that the profile has
    based_on: str | None = None
    override: Document = field(default_factory=dict)


@dataclass(frozen=True)
class Params:
    """The parameters of params.yaml, with the overrides of the chosen profile."""

    profile: str
    profiles: dict[str, Profile]
    backbones: dict[str, Backbone]
    tracks: dict[str, Section]

    @property
    def chosen(self) -> Profile:
        """The chosen profile."""
        return self.profiles[self.profile]


def _backbone_kind(value: Any) -> str:
    """Return the name of an entry's section; ``.pth`` files are torchvision's weights, never those of CLIPs."""
    if not isinstance(value, Mapping):
        return type(value).__name__
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


class ProfileSection(Section):
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


class ParamsFile(Section):
    """All parameters of the workflow."""

    profile: Name = Field(description="The name of the chosen profile.")
    profiles: dict[Name, Any] = Field(description="The profiles to choose from, under names of your own.")
    backbones: dict[Name, BackboneEntry] = Field(description="The backbones to choose from, under names of your own.")
    plugins: list[str] = Field(
        default=[],
        description="Folders of plugins, relative to this file. Installed plugins need no entry.",
    )


def file_schema(tracks: Forms) -> type[ParamsFile]:
    """Return the schema of params.yaml with the sections of these tracks."""
    choices: Document = {
        name: (
            form.choice | None,
            Field(default=None, description=f"Choices from the track {name}; null: the track is left out."),
        )
        for name, form in tracks.items()
    }
    profile = create_model("Profile", __base__=ProfileSection, __doc__=ProfileSection.__doc__, **choices)
    sections: Document = {
        name: (form.section, Field(description=f"The track {name}.")) for name, form in tracks.items()
    }
    profiles = ParamsFile.model_fields["profiles"].description
    sections["profiles"] = (dict[Name, profile], Field(description=profiles))  # type: ignore[valid-type]
    return create_model("Params", __base__=ParamsFile, __doc__=ParamsFile.__doc__, **sections)


def params_of(file: ParamsFile, tracks: Forms) -> Params:
    """Return the parameters of a valid file."""
    return Params(
        profile=file.profile,
        profiles={name: _profile_of(section, tracks) for name, section in file.profiles.items()},
        backbones=file.backbones,
        tracks={name: getattr(file, name) for name in tracks},
    )


def _profile_of(section: ProfileSection, tracks: Forms) -> Profile:
    chosen = {name: choice for name in tracks if (choice := getattr(section, name)) is not None}
    return Profile(section.trainer, chosen, section.based_on, section.override)
