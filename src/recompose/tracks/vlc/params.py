"""What the track adds to params.yaml: its section, and what a profile chooses of it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from recompose.params.mistakes import Place, Problem, unknown_name
from recompose.params.schema import TrackForm
from recompose.params.sections import Backbone, Clip, Count, Distinct, Name
from recompose.params.track import TrackChoice, TrackSection, methods_section
from recompose.tracks.vlc.catalogue import ADAPTERS, METHODS, DataSet, SuiteEntry

MethodName = Annotated[str, Field(json_schema_extra={"enum": list(METHODS)})]
Methods = methods_section(METHODS)


class Vlc(TrackSection):
    """Vision-language compositionality: images, and captions that differ in how things are put together."""

    method_forms: ClassVar = METHODS

    datasets: dict[Name, DataSet] = Field(description="The corpora to train on, under names of your own.")
    suites: dict[Name, SuiteEntry] = Field(description="What models are evaluated on, under names of your own.")
    methods: Methods = Field(description="The methods and their settings.")  # type: ignore[valid-type]


class VlcChoice(TrackChoice):
    """What a profile takes of vision-language compositionality."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="The corpora to train on.")
    suites: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="What all models are evaluated on.")
    image_size: Count = Field(description="Height and width of the images that the CLIPs take, in pixels.")
    backbone: str = Field(description="The CLIP that is tuned.")
    other_backbone: str | None = Field(description="One of another architecture, for the table of it; null: none.")
    other_pretraining: str | None = Field(
        description="One that was pretrained on other data, for the table of it; null: none."
    )
    methods: Annotated[list[MethodName], Field(min_length=1), Distinct] = Field(description="The methods that are run.")

    def backbones(self) -> Mapping[str, str | None]:
        """The CLIPs, by what variants call them."""
        return {"main": self.backbone, "other": self.other_backbone, "other-pretraining": self.other_pretraining}

    def problems(self, section: Vlc, backbones: Mapping[str, Backbone]) -> Iterator[Problem]:
        """Names of things that do not exist, and of backbones that are no CLIPs."""
        yield from self.unknown(section)
        for number, name in enumerate(self.suites):
            yield from unknown_name(("suites", number), name, section.suites)
        yield from self._asked_twice(section)
        clips = [name for name, backbone in backbones.items() if isinstance(backbone, Clip)]
        for key, chosen in (
            ("backbone", self.backbone),
            ("other_backbone", self.other_backbone),
            ("other_pretraining", self.other_pretraining),
        ):
            place: Place = (key,)
            if chosen is not None:
                yield from unknown_name(place, chosen, clips)

    def _asked_twice(self, section: Vlc) -> Iterator[Problem]:
        """Suites with sub-tasks of the same names: the scores of one would stand for those of both."""
        known = [(number, section.suites[name]) for number, name in enumerate(self.suites) if name in section.suites]
        for place, (number, suite) in enumerate(known):
            for _, other in known[:place]:
                if suite.adapter == other.adapter or ADAPTERS[suite.adapter].drawn or ADAPTERS[other.adapter].drawn:
                    yield Problem(("suites", number), f"has sub-tasks of the same names as another: {suite.adapter}")
                    break


def _problems(section: Vlc, choice: VlcChoice | None, backbones: Mapping[str, Backbone]) -> Iterator[Problem]:
    return section.problems() if choice is None else choice.problems(section, backbones)


FORM = TrackForm(Vlc, VlcChoice, _problems)
