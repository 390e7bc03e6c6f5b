"""The common parts of tracks' sections: data sets, and methods whose settings may differ between data sets."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field, PrivateAttr, ValidationError, create_model

from recompose.errors import ParamsError
from recompose.files import Document
from recompose.params.documents import Place, Written, merged
from recompose.params.method import MethodSettings
from recompose.params.mistakes import Problem, as_error, problems_of, unknown_name
from recompose.params.sections import Backbone, Clip, Distinct, Name, Names, Section, Seed

Seeds = Annotated[list[Seed], Field(min_length=1), Distinct]


def methods_section(methods: Mapping[str, type[MethodSettings]]) -> type[Names]:
    """Return the schema of a section with the settings of these methods, each under its name."""
    entries: dict[str, Any] = {
        name.replace("-", "_"): (settings.section(), Field(alias=name, description=settings.__doc__))
        for name, settings in methods.items()
    }
    return create_model("Methods", __base__=Names, __doc__="The methods and their settings.", **entries)


class TrackSection(Section):
    """A track's data sets and methods."""

    datasets: dict[Name, Any] = Field(description="The data sets to choose from, under names of your own.")
    methods: Any = Field(description="The methods and their settings.")
    _settings: dict[tuple[str, str, str], MethodSettings] = PrivateAttr(default_factory=dict)

    def settings(self, method: str, dataset: str, changes: Document | None = None) -> MethodSettings:
        """Return the settings of a method on a data set, with those of its training and scoring, and optional changes.

        They are the section as it is validated; where settings differ, those alone are validated, once.

        Raises:
            ParamsError: the method does not exist, or the changes do not fit its section.
        """
        source = Written({}, f"a variant of {method}")
        if problems := unknown_name((method,), method, self.methods.names()):
            raise as_error(problems, source)
        key = (method, dataset, repr(changes or {}))  # a digest would refuse numbers and keys that the schema reports
        if key not in self._settings:
            settings: Any = self.methods.of(method)
            differing = merged(settings.per_dataset.get(dataset, {}), changes or {})
            if "per_dataset" in differing:
                message = "only params.yaml has settings of data sets"
                raise as_error([Problem(("per_dataset",), message, "unknown-key")], source)
            if differing:
                document = merged(settings, differing)
                try:
                    settings = type(settings).model_validate(document)
                except ValidationError as error:
                    raise as_error(problems_of(error, document), source) from None
            self._settings[key] = settings
        return self._settings[key]

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of settings for unknown data sets, or that do not fit the method's section."""
        for method in self.methods.names():
            for dataset in self.methods.of(method).per_dataset:
                place = ("methods", method, "per_dataset", dataset)
                yield from unknown_name(place, dataset, self.datasets)
                yield from self.settings_problems(place, method, dataset)

    def settings_problems(
        self, place: Place, method: str, dataset: str, changes: Document | None = None
    ) -> Iterator[Problem]:
        """Yield the problems of settings that are written at a place."""
        try:
            self.settings(method, dataset, changes)
        except ParamsError as error:
            yield from (problem.inside(*place) for problem in error.problems)


class TrackChoice(Section):
    """A profile's choices from a track."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="Data sets of the runs.")
    backbone: str = Field(description="Backbone of the methods.")
    methods: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="The methods that are run.")
    seeds: Seeds = Field(description="Seeds of the runs of methods.")
    variant_seeds: Seeds | None = Field(description="Seeds of ablations and sweeps; null: these are not run.")
    interpretation_seeds: Seeds | None = Field(
        default=None,
        description="Seeds of other interpretations of what a paper leaves open; null: those of ablations.",
    )
    repeat_variants: bool = Field(
        default=True,
        description="Run variants that papers mark `every_seed` with all seeds of methods; otherwise with those of "
        "ablations, unless they are rows of a paper's headline table.",
    )
    papers: Annotated[list[str], Field(min_length=1), Distinct] | None = Field(
        default=None,
        description="Papers whose artifacts are made, with the variants that they declare; null: all of the track.",
    )
    leave_out: Annotated[list[str], Distinct] = Field(
        default=[], description="Variants of papers that are not run, such as inner points of sweeps."
    )

    def unknown(self, section: TrackSection) -> Iterator[Problem]:
        """Yield the problems of data sets and methods that do not exist."""
        for number, name in enumerate(self.datasets):
            yield from unknown_name(("datasets", number), name, section.datasets)
        for number, name in enumerate(self.methods):
            yield from unknown_name(("methods", number), name, section.methods.names())

    def no_clips(self, keys: Iterable[str], backbones: Mapping[str, Backbone]) -> Iterator[Problem]:
        """Yield the problems of backbones under these keys that do not exist, or are no CLIPs; null is none."""
        clips = [name for name, section in backbones.items() if isinstance(section, Clip)]
        for key in keys:
            name = getattr(self, key)
            if name in backbones and name not in clips:
                yield Problem((key,), f"'{name}' has no text tower; allowed: {', '.join(clips)}")
            elif name is not None:
                yield from unknown_name((key,), name, clips)
