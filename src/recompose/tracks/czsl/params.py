"""What the track adds to params.yaml: its section, and what a profile chooses of it."""

from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints, create_model

from recompose.errors import ParamsError
from recompose.params.merging import merged
from recompose.params.mistakes import Problem, mistakes_in, told, unknown_name
from recompose.params.schema import TrackForm
from recompose.params.sections import Archive, Distinct, Name, Names, Section, Seed
from recompose.tracks.czsl.catalogue import METHODS, DataSet

NamePrompt = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{name\}$")]
MethodName = Annotated[str, Field(json_schema_extra={"enum": list(METHODS)})]
Seeds = Annotated[list[Seed], Field(min_length=1), Distinct]


class Feasibility(Section):
    """How near a pair's state and object are to ones that training shows together."""

    vectors: Literal["backbone", "glove"] = Field(
        description="What tells how near: texts of the backbone, or word vectors as in the released code."
    )
    prompt: NamePrompt = Field(description="The text of a state or an object alone, for the backbone.")
    glove: Archive = Field(description="The word vectors.")


def _methods() -> type[Names]:
    entries: dict[str, Any] = {
        name.replace("-", "_"): (method.settings, Field(description=method.settings.__doc__))
        for name, method in METHODS.items()
    }
    return create_model("Methods", __base__=Names, __doc__="The methods and their settings.", **entries)


Methods = _methods()


class Czsl(Section):
    """Compositional zero-shot learning: pairs of a state and an object, some of which training does not show."""

    datasets: dict[Name, DataSet] = Field(description="The data sets to choose from, under names of your own.")
    methods: Methods = Field(description="The methods and their settings.")  # type: ignore[valid-type]
    feasibility: Feasibility = Field(description="Which pairs the calibrated open world holds.")

    def settings(self, method: str, dataset: str, changed: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The settings of a method on a data set, as plain nested values, some of them changed.

        Raises:
            ParamsError: there is no such method, or the changes do not fit into its section.
        """
        if problems := unknown_name((method,), method, METHODS):
            raise ParamsError(told("a variant is of no method:", problems))
        whole, partial = self._parts(method)
        settings = merged(whole, partial.get(dataset, {}), changed or {})
        if problems := _unfit(method, settings):
            raise ParamsError(told(f"a variant of {method} does not fit its settings:", problems))
        return settings

    def _parts(self, method: str) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
        """A method's settings in general, and those that differ on some data sets."""
        whole: dict[str, Any] = self.methods.of(method).model_dump(by_alias=True)  # type: ignore[attr-defined]
        return whole, whole.pop("per_dataset", {})

    def problems(self) -> Iterator[Problem]:
        """Settings of data sets that do not exist, or that do not fit into the method's section."""
        for method in METHODS:
            whole, partial = self._parts(method)
            for dataset, differing in partial.items():
                place = ("methods", method, "per_dataset", dataset)
                yield from unknown_name(place, dataset, self.datasets)
                yield from (problem.inside(*place) for problem in _unfit(method, merged(whole, differing)))


def _unfit(method: str, settings: dict[str, Any]) -> list[Problem]:
    """In what settings, which are those of one data set, do not fit a method."""
    nested = [Problem(("per_dataset",), "these are settings of one data set")] if "per_dataset" in settings else []
    return nested or mistakes_in(settings, METHODS[method].settings)


class CzslChoice(Section):
    """What a profile takes of compositional zero-shot learning."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = Field(
        description="The data sets that methods run on."
    )
    backbone: str = Field(description="The CLIP that methods build on.")
    other_backbone: str | None = Field(description="Another one, for the tables that compare backbones; null: none.")
    methods: Annotated[list[MethodName], Field(min_length=1), Distinct] = Field(description="The methods that are run.")
    seeds: Seeds = Field(description="Of the runs of methods.")
    variant_seeds: Seeds = Field(description="Of ablations and sweeps.")

    def problems(self, section: Czsl, backbones: Collection[str]) -> Iterator[Problem]:
        """Names of things that do not exist."""
        for number, name in enumerate(self.datasets):
            yield from unknown_name(("datasets", number), name, section.datasets)
        for number, name in enumerate(self.methods):
            yield from unknown_name(("methods", number), name, METHODS)
        yield from unknown_name(("backbone",), self.backbone, backbones)
        if self.other_backbone is not None:
            yield from unknown_name(("other_backbone",), self.other_backbone, backbones)


def _problems(section: Czsl, choice: CzslChoice | None, backbones: Collection[str]) -> Iterator[Problem]:
    return section.problems() if choice is None else choice.problems(section, backbones)


FORM = TrackForm(Czsl, CzslChoice, _problems)
