"""The track's methods with their settings, and its formats of corpora and suites; imports neither."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args

from pydantic import Field

from recompose.params.sections import Archive, Count, FileName, Name, Positive, Precision, Section, Seed, Share, Weight
from recompose.tracks.catalogue import DataAdapter, Method
from recompose.tracks.vlc.suites.catalogue import SuiteForm

Fraction = Annotated[float, Field(ge=0, le=1)]
Steps = Annotated[int, Field(ge=0)]


class CaptionTrainingSettings(Section):
    """The training of a method; its last epoch is evaluated."""

    lr: Positive = Field(description="Highest learning rate, from which a cosine falls to zero.")
    weight_decay: Weight = Field(description="Weight decay; gains, biases and the factor of cosines have none.")
    warmup_steps: Steps = Field(description="Steps in which the learning rate rises.")
    batch_size: Count = Field(description="Images that are contrasted with each other.")
    chunk: Count | None = Field(
        default=None,
        description="Images encoded at once, to save memory: gradients are those of the whole batch; null: a whole "
        "batch.",
    )
    epochs: Count = Field(description="Passes over the images.")
    precision: Precision | None = Field(
        default=None, description="Precision of this training, as Lightning names it; null: the trainer's."
    )


class Lora(Section):
    """Low-rank adaptation."""

    lr: Positive = Field(description="Highest learning rate, in place of that of all weights.")
    rank: Count = Field(description="Rank of the change of a weight.")
    alpha: Positive = Field(description="A change is scaled by alpha / rank.")


class ClipScoring(Section):
    """The evaluation of CLIP."""

    activation: Literal["own", "other"] = Field(
        description="`own`: the GELU that the model was pretrained with; `other`: the other one, as when a checkpoint "
        "is loaded with the wrong activation."
    )


class CaptionScoring(ClipScoring):
    """The evaluation of a trained method; a change of it retrains nothing."""

    alpha: Fraction = Field(
        description="WiSE-FT: the share of the trained weights, against those before training; for LoRA the factor of "
        "both parts of a change."
    )


class UntunedClipSettings(Section):
    """A pretrained CLIP."""

    scoring: ClipScoring = Field(description="Its evaluation.")
    per_dataset: dict[Name, dict[str, Any]] = Field(default={}, description="Data set -> settings that differ there.")


class TunedSettings(Section):
    """A CLIP tuned on images and their captions."""

    tuning: Literal["full", "lora"] = Field(description="`full`: tune all weights; `lora`: low-rank changes of them.")
    lora: Lora = Field(description="The low-rank changes.")
    training: CaptionTrainingSettings = Field(description="Its training.")
    scoring: CaptionScoring = Field(description="Its evaluation.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


NegativeName = Literal["negclip", "replace", "bigram_shuffle"]


class FscClipSettings(TunedSettings):
    """FSC-CLIP: global and local losses of hard negatives, with focus and smoothing."""

    negatives: list[NegativeName] = Field(min_length=1, description="Hard negatives of each caption, new in each step.")
    global_weight: Weight = Field(description="lambda_g, of the loss of hard negatives between embeddings.")
    local_weight: Weight = Field(description="lambda_l, of the loss of hard negatives between patches and words.")
    gamma: Weight = Field(description="Exponent of the focal weight (Eq. 9); 0: all weigh 1.")
    beta: Share = Field(description="Share of the label that is spread over all captions (Eq. 10).")
    missing: Literal["zero", "excluded"] = Field(
        description="A negative that could not be made: `zero` gives it a logit of 0, as released; `excluded`, none."
    )
    weights: Literal["minmax", "sparse", "softmax"] = Field(
        description="Weights of patches for a word: `minmax` scales them from 0 to 1 (Eq. 6), `sparse` also drops "
        "those below 1 / patches, `softmax` takes a softmax."
    )


class CeClipSettings(TunedSettings):
    """CE-CLIP: hard negatives ranked below captions, by growing thresholds, and contrasted with them."""

    negatives: list[NegativeName] = Field(min_length=1, description="Hard negatives of each caption, new in each step.")
    rank_weight: Weight = Field(description="Weight of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Weight of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="Upper limit of the margin by which a caption leads.")
    intra_modal_target: Literal["first", "own"] = Field(
        description="Target of each row of the contrast of captions: `first`, the first column of the batch, as "
        "released; `own`, the logit of its own image, as in 2d07821."
    )


class AttentionSettings(Section):
    """Choices that the paper leaves open in attribution by attention."""

    row: Literal["eot", "last"] = Field(description="Row of the attention: the end of text, or the last position.")
    layers: Literal["mean", "last"] = Field(description="The mean over all layers, or the last layer.")
    heads: Literal["mean", "sum"] = Field(description="Reduction over heads.")


class GradcamSettings(Section):
    """Choices that the paper leaves open in attribution by GradCAM."""

    heads: Literal["mean", "sum"] = Field(description="Reduction over heads: `mean` in the text, `sum` in Eq. 7.")
    clamp: Literal["each", "joined", "none"] = Field(
        description="Negative parts become 0 in each head, after the reduction over heads, or never."
    )
    layers: Literal["all", "last"] = Field(description="All layers, or the last layer.")


class GradientSettings(Section):
    """Choices that the paper leaves open in attribution by gradients."""

    support: Literal["text", "context"] = Field(description="Support of the softmax: the text, or padding, too.")


class PerturbationSettings(Section):
    """Replacement of the concepts of captions."""

    count: Count = Field(description="Replacements of each concept of a caption in a step.")
    objects: Count = Field(description="Candidates for objects: the most frequent ones of the corpus.")
    attributes: Count = Field(description="Candidates for attributes.")
    relations: Count = Field(description="Candidates for relations.")


class AttributionWeights(Section):
    """Weights lambda of the loss of attribution, one a method: their scores differ in scale."""

    attention: Weight = Field(description="lambda for attention.")
    gradcam: Weight = Field(description="lambda for GradCAM.")
    perturbation: Weight = Field(description="lambda for perturbation.")
    gradient: Weight = Field(description="lambda for gradients.")


class CeClipLosses(Section):
    """CE-CLIP's losses besides NegCLIP's."""

    rank_weight: Weight = Field(description="Weight of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Weight of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="Upper limit of the margin by which a caption leads.")
    intra_modal_target: Literal["first", "own"] = Field(description="See ce-clip.")


class ClipCaeSettings(TunedSettings):
    """CLIP-CAE: attribution to relations and attributes of captions is raised to that of objects."""

    attribution: Literal["none", "attention", "gradcam", "gradient", "perturbation"] = Field(
        description="Method of attribution to tokens; none: L_ITC alone."
    )
    attention: AttentionSettings = Field(description="Settings of attention.")
    gradcam: GradcamSettings = Field(description="Settings of GradCAM.")
    gradient: GradientSettings = Field(description="Settings of gradients.")
    perturbation: PerturbationSettings = Field(description="Settings of perturbation.")
    attribution_weights: AttributionWeights = Field(description="lambda of each method of attribution.")
    margin: Weight = Field(description="epsilon, the margin by which composition exceeds objects.")
    itc_weight: Weight = Field(
        description="Weight of the contrast of images with captions; 0: the loss of attribution alone."
    )
    determiners: bool = Field(description="true: determiners and numerals are attributes.")
    negatives: list[NegativeName] = Field(description="Hard negatives of each caption, new in each step; may be empty.")
    negative_loss: Literal["negclip", "ce-clip"] = Field(description="The method whose losses take the negatives.")
    ce_clip: CeClipLosses = Field(description="Settings of CE-CLIP's losses.")


ATTRIBUTION_METHODS = ("attention", "gradcam", "perturbation", "gradient")


def active_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return a method's settings without those of tuning, attribution and losses that it does not use.

    A change of unused settings retrains nothing.

    Example:
        >>> weights = {"attention": 1.0, "gradcam": 2.0}
        >>> active_settings({"attribution": "gradcam", "attention": {}, "attribution_weights": weights, "margin": 0.0})
        {'attribution': 'gradcam', 'attribution_weights': {'gradcam': 2.0}, 'margin': 0.0}
    """
    unused = [method for method in ATTRIBUTION_METHODS if method != settings.get("attribution")]
    if settings.get("tuning") == "full":
        unused.append("lora")
    if not (settings.get("negatives") and settings.get("negative_loss") == "ce-clip"):
        unused.append("ce_clip")
    active = {name: value for name, value in settings.items() if name not in unused}
    if "attribution_weights" in active:
        weights = active["attribution_weights"]
        active["attribution_weights"] = {name: weight for name, weight in weights.items() if name not in unused}
    return active


_METHODS = "recompose.tracks.vlc.methods"
METHODS = {
    "clip": Method(f"{_METHODS}.clip:UntunedCLIP", UntunedClipSettings, needs_seed=False),
    "clip-ft": Method(f"{_METHODS}.clip_ft:ClipFt", TunedSettings),
    "negclip": Method(f"{_METHODS}.negclip:NegClip", TunedSettings),
    "ce-clip": Method(f"{_METHODS}.ce_clip:CeClip", CeClipSettings),
    "fsc-clip": Method(f"{_METHODS}.fsc_clip:FscClip", FscClipSettings),
    "clip-cae": Method(f"{_METHODS}.clip_cae:ClipCae", ClipCaeSettings),
}
UNTRAINED = "clip"


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
    share: Annotated[float, Field(ge=0.6, le=1, description="Share of each suite's items at full size.")]


class Corpus(Section):
    """A published corpus of images and captions."""

    adapter: Literal["negclip-list", "caption-list"] = Field(description="The reader: the format of its list.")
    archives: list[Archive] = Field(description="Files to download and unpack; add others manually.")
    model: Archive = Field(description="The spaCy model that parses captions.")
    lexicon: Archive = Field(description="WordNet's files.")


class PublishedSuite(Section):
    """A suite in the form of a published one; all are below one folder, in which they share images.

    An entry with the name of its adapter is the published suite itself. An entry with another name is a suite of your
    own: its sub-tasks and metrics bear that name, and each is scored as in the published suite.
    """

    adapter: SuiteForm = Field(description="The reader: the form of the suite's files.")
    folder: FileName | None = Field(
        default=None,
        description="Folder of its files in data/vlc, as of its own images in data/vlc/images; null: its name.",
    )
    archives: list[Archive] = Field(default=[], description="Files to download and unpack; add others manually.")


DataSet = Annotated[ShapesCaptions | Corpus, Field(discriminator="adapter")]
SuiteEntry = Annotated[ShapesSuites | PublishedSuite, Field(discriminator="adapter")]


@dataclass(frozen=True)
class CaptionAdapter(DataAdapter):
    """An adapter of the track, with the kind of data that it reads."""

    kind: Literal["corpus", "suites"] = "corpus"


_DATA = "recompose.tracks.vlc.data"
_100K = {"train": 100_000}  # as FSC-CLIP's authors chose them
_FORMS = {form: f"{_DATA}.formats.{form}" for form in get_args(SuiteForm)}
ADAPTERS: dict[str, CaptionAdapter] = {
    "shapes-captions": CaptionAdapter(f"{_DATA}.shapes_captions", ShapesCaptions, synthetic=True),
    "shapes-suites": CaptionAdapter(
        f"{_DATA}.shapes_suites", ShapesSuites, synthetic=True, companions=tuple(_FORMS.values()), kind="suites"
    ),
    "negclip-list": CaptionAdapter(f"{_DATA}.negclip_list", Corpus, companions=(f"{_DATA}.analysis",), sizes=_100K),
    "caption-list": CaptionAdapter(f"{_DATA}.caption_list", Corpus, companions=(f"{_DATA}.analysis",), sizes=_100K),
    **{form: CaptionAdapter(module, PublishedSuite, kind="suites") for form, module in _FORMS.items()},
}
