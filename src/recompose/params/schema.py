"""The schema of params.yaml as a whole, and what it is read into."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Generic, TypeVar

from pydantic import Discriminator, Field, Tag, create_model

from recompose.params.mistakes import Place
from recompose.params.sections import Backbone, Bundled, Classifier, Name, Pretrained, Released, Section, Trainer

S = TypeVar("S", bound=Section)
C = TypeVar("C", bound=Section)


@dataclass(frozen=True)
class TrackForm(Generic[S, C]):
    """What a track adds to params.yaml.

    ``problems(section, None, backbones)`` gives what is wrong in the section that the schema cannot see, and
    ``problems(section, choice, backbones)`` what is wrong in a profile's choice, such as names of data sets that do
    not exist. A problem is a place and a message; the place is that of the keys within the section, or within the
    choice. ``backbones`` are those that there are, by name.
    """

    section: type[S]
    choice: type[C]
    problems: Callable[[S, C | None, Mapping[str, Backbone]], Iterable[tuple[Place, str]]]


Forms = Mapping[str, TrackForm[Any, Any]]


@dataclass(frozen=True)
class Profile:
    """What a workflow covers and how much it spends."""

    trainer: Trainer
    tracks: dict[str, Section]  # what it chooses of each track; of a track that it leaves out, nothing
    based_on: str | None = None
    override: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Params:
    """params.yaml with the overrides of the chosen profile carried out."""

    profile: str
    profiles: dict[str, Profile]
    backbones: dict[str, Backbone]
    tracks: dict[str, Section]

    @property
    def chosen(self) -> Profile:
        """The profile in force."""
        return self.profiles[self.profile]


def _kind_of_backbone(value: Any) -> str:
    """Which section an entry is, read or yet to be: a CLIP's weights are no ``.pth`` file, and torchvision's are."""
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
    Discriminator(_kind_of_backbone),
]


class ProfileSection(Section):
    """What a workflow covers and how much it spends."""

    based_on: Name | None = Field(
        default=None,
        description="Another profile, on top of which this one stands: mappings merge, lists and other values replace.",
    )
    trainer: Trainer = Field(description="How training runs on the hardware at hand.")
    override: dict[str, Any] = Field(
        default={},
        description="Values in place of those of the sections outside the profiles, each under its dotted place.",
    )


class File(Section):
    """Every knob of the workflow."""

    profile: Name = Field(description="The name of the profile in force.")
    profiles: dict[Name, Any] = Field(description="The profiles to choose from, under names of your own.")
    backbones: dict[Name, BackboneEntry] = Field(description="The backbones to choose from, under names of your own.")


def file_schema(tracks: Forms) -> type[File]:
    """The schema of params.yaml with the sections of these tracks."""
    choices: dict[str, Any] = {
        name: (
            form.choice | None,
            Field(default=None, description=f"What the profile takes of the track {name}; null: nothing."),
        )
        for name, form in tracks.items()
    }
    profile = create_model("Profile", __base__=ProfileSection, __doc__=ProfileSection.__doc__, **choices)
    sections: dict[str, Any] = {
        name: (form.section, Field(description=f"The track {name}.")) for name, form in tracks.items()
    }
    profiles = File.model_fields["profiles"].description
    sections["profiles"] = (dict[Name, profile], Field(description=profiles))  # type: ignore[valid-type]
    return create_model("Params", __base__=File, __doc__=File.__doc__, **sections)


def params_of(file: File, tracks: Forms) -> Params:
    """What a valid file says."""
    return Params(
        profile=file.profile,
        profiles={name: _profile_of(section, tracks) for name, section in file.profiles.items()},
        backbones=file.backbones,
        tracks={name: getattr(file, name) for name in tracks},
    )


def _profile_of(section: ProfileSection, tracks: Forms) -> Profile:
    chosen = {name: choice for name in tracks if (choice := getattr(section, name)) is not None}
    return Profile(section.trainer, chosen, section.based_on, section.override)
