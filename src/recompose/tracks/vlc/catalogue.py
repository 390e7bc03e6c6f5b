"""The track's methods with their settings, and its formats of corpora and suites; imports neither."""

from typing import Annotated, Literal

from pydantic import Field

from recompose.params.sections import Archive, Count, FileName, Section, Seed
from recompose.tracks.catalogue import DataAdapter, Method
from recompose.tracks.vlc.methods import settings
from recompose.tracks.vlc.suites.catalogue import DRAWN as DRAWN_FORMS
from recompose.tracks.vlc.suites.catalogue import FORMS, LIMITED, MODULES

_IN = "recompose.tracks.vlc.methods"
METHODS = {
    "clip": Method(f"{_IN}.clip:UntunedCLIP", settings.UntunedClipSettings, needs_seed=False),
    "clip-ft": Method(f"{_IN}.clip:ClipFt", settings.ClipFtSettings),
    "negclip": Method(f"{_IN}.negclip:NegClip", settings.NegClipSettings),
    "ce-clip": Method(f"{_IN}.negclip:CeClip", settings.CeClipSettings),
    "fsc-clip": Method(f"{_IN}.fsc_clip:FscClip", settings.FscClipSettings),
    "clip-cae": Method(f"{_IN}.clip_cae:ClipCae", settings.ClipCaeSettings),
}
UNTRAINED = "clip"
DRAWN = "shapes-suites"  # the adapter of synthetic suites


class ShapesCaptions(Section):
    """A synthetic corpus of images and captions."""

    adapter: Literal["shapes-captions"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; replicate n adds n.")
    corpus: Literal["shapes-coco", "shapes-cc3m", "shapes-laion"] = Field(
        description="The published corpus that scenes and captions imitate."
    )
    images: Count = Field(description="The number of images.")


class ShapesSuites(Section):
    """Synthetic suites, all of held-out scenes."""

    adapter: Literal["shapes-suites"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; replicate n adds n.")
    share: Annotated[float, Field(ge=0.6, le=4, description="Share of each suite's items at full size.")]


SpacyModel = Annotated[Archive, Field(description="The spaCy model that parses captions.")]
WordNetFiles = Annotated[Archive, Field(description="WordNet's files.")]


class Corpus(Section):
    """A published corpus of images and captions."""

    adapter: Literal["negclip-list", "caption-list"] = Field(description="The reader: the format of its list.")
    archives: list[Archive] = Field(description="Files to download and unpack; add others manually.")
    model: SpacyModel
    lexicon: WordNetFiles


class ParsedCorpus(Section):
    """The base of sections of plugins' corpora that are drawn without parses: captions are parsed as published ones."""

    model: SpacyModel
    lexicon: WordNetFiles


class PublishedSuite(Section):
    """A suite in the form of a published one; all are below one folder, in which they share images.

    An entry with the name of its adapter is the published suite itself. An entry with another name is a suite of your
    own: its sub-tasks and metrics bear that name, and each is scored as in the published suite.
    """

    adapter: Literal[*FORMS] = Field(description="The reader: the form of the suite's files.")  # type: ignore[valid-type]
    folder: FileName | None = Field(
        default=None,
        description="Folder of its files in data/vlc, as of its own images in data/vlc/images; null: its name.",
    )
    archives: list[Archive] = Field(default=[], description="Files to download and unpack; add others manually.")
    items: Count | None = Field(
        default=None, description=f"Largest number of items of a sub-task, of {', '.join(LIMITED)}; null: all."
    )
    items_seed: Seed | None = Field(default=None, description="Seed that draws these items; null: the first ones.")


_DATA = "recompose.tracks.vlc.data"
_DRAWN = tuple(MODULES[form] for form in DRAWN_FORMS)
ADAPTERS: dict[str, DataAdapter] = {
    "shapes-captions": DataAdapter(f"{_DATA}.shapes_captions", ShapesCaptions, synthetic=True),
    DRAWN: DataAdapter(f"{_DATA}.shapes_suites", ShapesSuites, synthetic=True, companions=_DRAWN, kind="suites"),
    "negclip-list": DataAdapter(f"{_DATA}.negclip_list", Corpus, companions=(f"{_DATA}.analysis",)),
    "caption-list": DataAdapter(f"{_DATA}.caption_list", Corpus, companions=(f"{_DATA}.analysis",)),
    **{form: DataAdapter(MODULES[form], PublishedSuite, kind="suites") for form in FORMS},
}
