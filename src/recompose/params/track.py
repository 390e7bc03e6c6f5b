"""What the sections of tracks have in common: data sets, and methods with settings that may differ on some of them."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Protocol

from pydantic import Field, create_model

from recompose.errors import ParamsError
from recompose.params.merging import merged
from recompose.params.mistakes import Problem, mistakes_in, told, unknown_name
from recompose.params.sections import Distinct, Name, Names, Section, Seed

Seeds = Annotated[list[Seed], Field(min_length=1), Distinct]


class MethodForm(Protocol):
    """What a section has to know of a method."""

    @property
    def settings(self) -> type[Section]:
        """The schema of its settings."""


def methods_section(methods: Mapping[str, MethodForm]) -> type[Names]:
    """The schema of a section that has the settings of these methods, each under its name."""
    entries: dict[str, Any] = {
        name.replace("-", "_"): (method.settings, Field(description=method.settings.__doc__))
        for name, method in methods.items()
    }
    return create_model("Methods", __base__=Names, __doc__="The methods and their settings.", **entries)


class TrackSection(Section):
    """A track's data sets and methods."""

    known: ClassVar[Mapping[str, MethodForm]]  # the methods that the track has

    datasets: dict[Name, Any] = Field(description="The data sets to choose from, under names of your own.")
    methods: Any = Field(description="The methods and their settings.")

    def settings(self, method: str, dataset: str, changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings of a method on a data set, as plain nested values, some of them changed.

        Raises:
            ParamsError: there is no such method, or the changes do not fit into its section.
        """
        if problems := unknown_name((method,), method, self.known):
            raise ParamsError(told("a variant is of no method:", problems))
        whole, partial = self._parts(method)
        settings = merged(whole, partial.get(dataset, {}), changed or {})
        if problems := self._unfit(method, settings):
            raise ParamsError(told(f"a variant of {method} does not fit its settings:", problems))
        return settings

    def _parts(self, method: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """A method's settings in general, and those that differ on some data sets."""
        whole: dict[str, Any] = self.methods.of(method).model_dump(by_alias=True)
        return whole, whole.pop("per_dataset", {})

    def _unfit(self, method: str, settings: dict[str, Any]) -> list[Problem]:
        """In what settings, which are those of one data set, do not fit a method."""
        nested = [Problem(("per_dataset",), "these are settings of one data set")] if "per_dataset" in settings else []
        return nested or mistakes_in(settings, self.known[method].settings)

    def problems(self) -> Iterator[Problem]:
        """Settings of data sets that do not exist, or that do not fit into the method's section."""
        for method in self.known:
            whole, partial = self._parts(method)
            for dataset, differing in partial.items():
                place = ("methods", method, "per_dataset", dataset)
                yield from unknown_name(place, dataset, self.datasets)
                yield from (problem.inside(*place) for problem in self._unfit(method, merged(whole, differing)))


class TrackChoice(Section):
    """What a profile takes of a track."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = Field(
        description="The data sets that methods run on."
    )
    backbone: str = Field(description="The backbone that methods build on.")
    methods: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="The methods that are run.")
    seeds: Seeds = Field(description="Of the runs of methods.")
    variant_seeds: Seeds = Field(description="Of ablations and sweeps.")
    interpretation_seeds: Seeds | None = Field(
        default=None,
        description="Of other readings of what a paper leaves open, as far as methods are run with them; those of "
        "ablations where there are none.",
    )
    repeat_variants: bool = Field(
        default=True,
        description="Whether variants that papers mark `every_seed` run with all seeds of methods; else with those of "
        "ablations.",
    )
    leave_out: Annotated[list[str], Distinct] = Field(
        default=[], description="Variants of papers that are not run, such as points of sweeps between their ends."
    )

    def unknown(self, section: TrackSection) -> Iterator[Problem]:
        """Names of data sets and methods that do not exist."""
        for number, name in enumerate(self.datasets):
            yield from unknown_name(("datasets", number), name, section.datasets)
        for number, name in enumerate(self.methods):
            yield from unknown_name(("methods", number), name, section.known)
