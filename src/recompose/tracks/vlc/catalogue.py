"""The track's methods with their settings, and the forms of corpora and suites that it reads, without importing
either.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from recompose.params.sections import Archive, Count, Name, Positive, Precision, Section, Seed, Share, Weight
from recompose.tracks.catalogue import DataAdapter, Method

Fraction = Annotated[float, Field(ge=0, le=1)]
Steps = Annotated[int, Field(ge=0)]


class Training(Section):
    """How a method is trained; its last epoch is the one that is evaluated."""

    lr: Positive = Field(description="Learning rate at its highest, from which a cosine falls to zero.")
    weight_decay: Weight = Field(description="Weight decay; gains, biases and the factor of cosines have none.")
    warmup_steps: Steps = Field(description="Steps in which the learning rate rises.")
    batch_size: Count = Field(description="Images that are contrasted with each other.")
    chunk: Count | None = Field(
        default=None,
        description="Images that are encoded at once, for little memory: gradients are those of the whole batch; null: "
        "all of it.",
    )
    epochs: Count = Field(description="Passes over the images.")
    precision: Precision | None = Field(
        default=None, description="Number format of its training, as Lightning calls it; null: the trainer's."
    )


class Lora(Section):
    """Low-rank adaptation."""

    lr: Positive = Field(description="Learning rate at its highest, in place of that of all weights.")
    rank: Count = Field(description="Of each change of a weight.")
    alpha: Positive = Field(description="A change counts alpha / rank.")


class ClipScoring(Section):
    """How CLIP is evaluated."""

    activation: Literal["own", "other"] = Field(
        description="What it runs with: the GELU that it was pretrained with, or the other one, as a checkpoint does "
        "that is loaded without saying so."
    )


class Scoring(ClipScoring):
    """How a trained method is evaluated; other values train nothing anew."""

    alpha: Fraction = Field(
        description="WiSE-FT: the share of the trained weights, the others are those before training; of LoRA the "
        "factor of both parts of a change."
    )


class ClipSettings(Section):
    """CLIP as it was pretrained."""

    scoring: ClipScoring = Field(description="How it is evaluated.")
    per_dataset: dict[Name, dict[str, Any]] = Field(default={}, description="Data set -> settings that differ there.")


class TunedSettings(Section):
    """A CLIP that is tuned on images and their captions."""

    tuning: Literal["full", "lora"] = Field(description="All weights are tuned, or low-rank changes of them.")
    lora: Lora = Field(description="The changes, where they are what is tuned.")
    training: Training = Field(description="How it is trained.")
    scoring: Scoring = Field(description="How it is evaluated.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


NegativeName = Literal["negclip", "replace", "bigram_shuffle"]


class FscClipSettings(TunedSettings):
    """FSC-CLIP: hard negatives, told globally and locally, with focus and smoothing."""

    negatives: list[NegativeName] = Field(min_length=1, description="What is made of each caption, anew in each step.")
    global_weight: Weight = Field(description="lambda_g, of the loss of hard negatives between embeddings.")
    local_weight: Weight = Field(description="lambda_l, of the loss of hard negatives between patches and words.")
    gamma: Weight = Field(description="Of the focal weight (Eq. 9); at 0 it is 1.")
    beta: Share = Field(description="Share of the label that all captions have equally (Eq. 10).")
    missing: Literal["zero", "excluded"] = Field(
        description="A negative that could not be made has a logit of 0 beside the others, as released; or none."
    )
    weights: Literal["minmax", "sparse", "softmax"] = Field(
        description="How patches are weighted for a word: scaled from 0 to 1 (Eq. 6), the same without those below "
        "1 / patches, or a softmax."
    )


class CeClipSettings(TunedSettings):
    """CE-CLIP: hard negatives ranked below captions, by thresholds that grow, and contrasted with them."""

    negatives: list[NegativeName] = Field(min_length=1, description="What is made of each caption, anew in each step.")
    rank_weight: Weight = Field(description="Of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="The most by which a caption is to lead.")
    intra_modal_target: Literal["first", "own"] = Field(
        description="What each row of the contrast of captions takes for its own: `first`, the first column of the "
        "batch, as released; `own`, the logit of its own image, as in 2d07821."
    )


class AttentionSettings(Section):
    """What of attribution by attention the paper leaves open."""

    row: Literal["eot", "last"] = Field(
        description="Whose attention it is: of the end of text, or of the last position."
    )
    layers: Literal["mean", "last"] = Field(description="Of all layers, or of the last one alone.")
    heads: Literal["mean", "sum"] = Field(description="How heads are joined.")


class GradcamSettings(Section):
    """What of attribution by GradCAM the paper leaves open."""

    heads: Literal["mean", "sum"] = Field(description="How heads are joined: the text says one, Eq. 7 the other.")
    clamp: Literal["each", "joined", "none"] = Field(
        description="Where negative parts become 0: in each head, where heads are joined, or nowhere."
    )
    layers: Literal["all", "last"] = Field(description="Of all layers, or of the last one alone.")


class GradientSettings(Section):
    """What of attribution by gradients the paper leaves open."""

    support: Literal["text", "context"] = Field(description="What the softmax is over: the text, or padding, too.")


class PerturbationSettings(Section):
    """How concepts of captions are replaced."""

    count: Count = Field(description="How often each concept of a caption is, in a step.")
    objects: Count = Field(description="How many objects they are replaced by: the most frequent of the corpus.")
    attributes: Count = Field(description="The same of attributes.")
    relations: Count = Field(description="The same of relations.")


class AttributionWeights(Section):
    """lambda, of the loss of attribution, where it is told in one way or another: scores are of different sizes."""

    attention: Weight = Field(description="By attention.")
    gradcam: Weight = Field(description="By GradCAM.")
    perturbation: Weight = Field(description="By perturbation.")
    gradient: Weight = Field(description="By gradients.")


class CeClipLosses(Section):
    """The losses that CE-CLIP has besides NegCLIP's."""

    rank_weight: Weight = Field(description="Of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="The most by which a caption is to lead.")
    intra_modal_target: Literal["first", "own"] = Field(description="See ce-clip.")


class ClipCaeSettings(TunedSettings):
    """CLIP-CAE: relations and attributes of captions are to count for as much as objects."""

    attribution: Literal["none", "attention", "gradcam", "gradient", "perturbation"] = Field(
        description="How what a token counts for is told; none: L_ITC alone."
    )
    attention: AttentionSettings = Field(description="Where it is told by attention.")
    gradcam: GradcamSettings = Field(description="Where it is told by GradCAM.")
    gradient: GradientSettings = Field(description="Where it is told by gradients.")
    perturbation: PerturbationSettings = Field(description="Where it is told by perturbation.")
    attribution_weights: AttributionWeights = Field(description="lambda of each way.")
    margin: Weight = Field(description="epsilon, by which composition is to count for more than objects.")
    itc_weight: Weight = Field(description="Of the contrast of images with captions; 0: the loss of attribution alone.")
    determiners: bool = Field(description="Whether determiners and numerals are attributes.")
    negatives: list[NegativeName] = Field(description="What is made of each caption, anew in each step; may be none.")
    negative_loss: Literal["negclip", "ce-clip"] = Field(
        description="Whose losses negatives are in, where there are some."
    )
    ce_clip: CeClipLosses = Field(description="Those of CE-CLIP.")


WAYS = ("attention", "gradcam", "perturbation", "gradient")  # of attribution


def active_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A method's settings without those of ways of tuning, of attribution, and of losses, that are not its own: what
    changes in them trains nothing anew.

    Example:
        >>> weights = {"attention": 1.0, "gradcam": 2.0}
        >>> active_settings({"attribution": "gradcam", "attention": {}, "attribution_weights": weights, "margin": 0.0})
        {'attribution': 'gradcam', 'attribution_weights': {'gradcam': 2.0}, 'margin': 0.0}
    """
    others = [way for way in WAYS if way != settings.get("attribution")]
    if settings.get("tuning") == "full":
        others.append("lora")
    if not (settings.get("negatives") and settings.get("negative_loss") == "ce-clip"):
        others.append("ce_clip")
    own = {name: value for name, value in settings.items() if name not in others}
    if "attribution_weights" in own:
        weights = own["attribution_weights"]
        own["attribution_weights"] = {way: weight for way, weight in weights.items() if way not in others}
    return own


_IN = "recompose.tracks.vlc.methods"
METHODS = {
    "clip": Method(f"{_IN}.clip:CLIP", ClipSettings, needs_seed=False),
    "clip-ft": Method(f"{_IN}.clip_ft:ClipFt", TunedSettings),
    "negclip": Method(f"{_IN}.negclip:NegClip", TunedSettings),
    "ce-clip": Method(f"{_IN}.ce_clip:CeClip", CeClipSettings),
    "fsc-clip": Method(f"{_IN}.fsc_clip:FscClip", FscClipSettings),
    "clip-cae": Method(f"{_IN}.clip_cae:ClipCae", ClipCaeSettings),
}
UNTRAINED = "clip"


class ShapesCaptions(Section):
    """A drawn corpus of images and captions."""

    adapter: Literal["shapes-captions"] = Field(description="What draws and reads it.")
    seed: Seed = Field(description="Of the drawing of world 0; a run's seed is the number of its world, and is added.")
    corpus: Literal["shapes-coco", "shapes-cc3m", "shapes-laion"] = Field(description="What it shows, and how.")
    images: Count = Field(description="How many are drawn.")


class ShapesSuites(Section):
    """Drawn suites, all of held-out scenes."""

    adapter: Literal["shapes-suites"] = Field(description="What draws and reads them.")
    seed: Seed = Field(description="Of the drawing of world 0; a run's seed is the number of its world, and is added.")
    share: Annotated[float, Field(ge=0.6, le=1, description="Of the items that each suite has at its full size.")]


class Corpus(Section):
    """A published corpus of images and captions."""

    adapter: Literal["negclip-list", "caption-list"] = Field(description="What reads it: the form of its list.")
    archives: list[Archive] = Field(description="Files that are downloaded and unpacked; the others are put there.")
    model: Archive = Field(description="The spaCy model that tells words, their kinds and heads.")
    lexicon: Archive = Field(description="WordNet's files.")


SuiteForm = Literal[
    "aro",
    "crepe",
    "eqben",
    "imagecode",
    "spec",
    "sugarcrepe",
    "svo_probes",
    "valse",
    "vl_checklist",
    "whatsup",
    "winoground",
    "comvg",
    "colorswap",
    "clip_binding",
    "elevater",
    "coco",
    "flickr30k",
    "coco_counterfactuals",
    "sick",
    "sts_b",
]


class PublishedSuite(Section):
    """A published suite; all lie below one folder, which they share images in."""

    adapter: SuiteForm = Field(description="What reads it: its form.")
    archives: list[Archive] = Field(
        default=[], description="Files that are downloaded and unpacked; the others are put there."
    )


DataSet = Annotated[ShapesCaptions | Corpus, Field(discriminator="adapter")]
SuiteEntry = Annotated[ShapesSuites | PublishedSuite, Field(discriminator="adapter")]


@dataclass(frozen=True)
class CaptionAdapter(DataAdapter):
    """The same, and what it reads."""

    kind: Literal["corpus", "suites"] = "corpus"


_DATA = "recompose.tracks.vlc.data"
_100K = {"train": 100_000}  # as FSC-CLIP's authors chose them
ADAPTERS: dict[str, CaptionAdapter] = {
    "shapes-captions": CaptionAdapter(f"{_DATA}.shapes_captions", ShapesCaptions, synthetic=True),
    "shapes-suites": CaptionAdapter(f"{_DATA}.shapes_suites", ShapesSuites, synthetic=True, kind="suites"),
    "negclip-list": CaptionAdapter(f"{_DATA}.negclip_list", Corpus, companions=(f"{_DATA}.analysis",), sizes=_100K),
    "caption-list": CaptionAdapter(f"{_DATA}.caption_list", Corpus, companions=(f"{_DATA}.analysis",), sizes=_100K),
    **{form: CaptionAdapter(f"{_DATA}.formats.{form}", PublishedSuite, kind="suites") for form in get_args(SuiteForm)},
}
