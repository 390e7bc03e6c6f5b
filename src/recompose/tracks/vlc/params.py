"""The track's part of params.yaml: its section, and the choice that a profile makes from it."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any

from pydantic import Field

from recompose.params.mistakes import Problem, unknown_name
from recompose.params.sections import Backbone, Count, Distinct, Name
from recompose.params.track import TrackChoice, TrackSection
from recompose.tracks.vlc.catalogue import DRAWN, PublishedSuite
from recompose.tracks.vlc.suites.catalogue import DRAWN as DRAWN_FORMS
from recompose.tracks.vlc.suites.catalogue import LIMITED, RESERVED

IMAGES = "images"  # the folder of the images of all published suites


class Vlc(TrackSection):
    """Vision-language compositionality: images, and captions that differ in composition."""

    datasets: dict[Name, Any] = Field(description="The corpora to train on, under names of your own.")
    suites: dict[Name, Any] = Field(description="The suites to evaluate on, under names of your own.")

    def problems(self) -> Iterator[Problem]:
        """Yield the problems of settings, and suites of your own under names that other scores have."""
        yield from super().problems()
        published = {name: entry for name, entry in self.suites.items() if isinstance(entry, PublishedSuite)}
        for name, entry in published.items():
            if name != entry.adapter and name in RESERVED:
                yield Problem(("suites", name), "published suites or their means have this name: choose another")
            if (entry.folder or name) == IMAGES:
                yield Problem(("suites", name, "folder"), f"the images of all suites are in {IMAGES}: choose another")
            if entry.items and entry.adapter not in LIMITED:
                yield Problem(("suites", name, "items"), f"only {', '.join(LIMITED)} can be limited: remove it")
            if entry.items_seed is not None and not entry.items:
                yield Problem(("suites", name, "items_seed"), "it draws a number of items: set items, or remove it")


class VlcChoice(TrackChoice):
    """A profile's choice of corpora, suites, backbones and methods."""

    datasets: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="The corpora to train on.")
    suites: Annotated[list[str], Field(min_length=1), Distinct] = Field(description="The suites to evaluate on.")
    image_size: Count = Field(description="Height and width of the CLIPs' images, in pixels.")
    backbone: str = Field(description="The CLIP that is tuned.")
    other_backbone: str | None = Field(
        default=None,
        description="A CLIP of another architecture, for the table that compares architectures; null: none.",
    )
    other_pretraining: str | None = Field(
        default=None,
        description="A CLIP pretrained on other data, for the table that compares pretraining; null: none.",
    )

    def backbones(self) -> Mapping[str, str | None]:
        """Return the CLIPs by the names that variants use."""
        return {"main": self.backbone, "other": self.other_backbone, "other-pretraining": self.other_pretraining}

    def problems(self, section: Vlc, backbones: Mapping[str, Backbone]) -> Iterator[Problem]:
        """Yield unknown names, and backbones that are not CLIPs."""
        yield from self.unknown(section)
        for number, name in enumerate(self.suites):
            yield from unknown_name(("suites", number), name, section.suites)
        yield from self._overlapping_suites(section)
        yield from self.no_clips(("backbone", "other_backbone", "other_pretraining"), backbones)

    def _overlapping_suites(self, section: Vlc) -> Iterator[Problem]:
        """Yield suites whose sub-tasks have the names of an earlier suite's: their scores would overwrite each other.

        A synthetic suite has sub-tasks of all published suites of the papers.
        """
        earlier: list[str] = []
        for number, name in enumerate(self.suites):
            adapter = section.suites[name].adapter if name in section.suites else ""
            if (adapter == name and adapter in DRAWN_FORMS) or adapter == DRAWN:
                if earlier and DRAWN in (adapter, *earlier):
                    yield Problem(("suites", number), f"its sub-tasks have the names of another suite's: {adapter}")
                earlier.append(adapter)
