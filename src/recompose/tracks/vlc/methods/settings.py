"""The settings of the methods, in the order of the catalogue; those that several methods share come first."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from recompose.params.method import MethodSettings
from recompose.params.sections import Count, Positive, Precision, Section, Share, Weight
from recompose.tracks.vlc.text.concepts import Determiners

NegativeName = Literal["negclip", "replace", "bigram_shuffle"]
Negatives = Annotated[
    list[NegativeName], Field(min_length=1, description="Hard negatives of each caption, new in each step.")
]


class CaptionTrainingSettings(Section):
    """The training of a method; its last epoch is evaluated."""

    lr: Positive = Field(description="Highest learning rate, from which a cosine falls to zero.")
    weight_decay: Weight = Field(description="Weight decay; gains, biases and the factor of cosines have none.")
    warmup_steps: Annotated[int, Field(ge=0)] = Field(description="Steps in which the learning rate rises.")
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

    alpha: Annotated[float, Field(ge=0, le=1)] = Field(
        description="WiSE-FT: the share of the trained weights, against those before training; for LoRA the factor of "
        "both parts of a change."
    )


class TunedSettings(MethodSettings):
    """A CLIP tuned on images and their captions.

    Parts that a method does not use may be None, and are None in the documents of runs: see ``active``.
    """

    training_class: ClassVar = CaptionTrainingSettings
    scoring_class: ClassVar = CaptionScoring

    tuning: Literal["full", "lora"] = Field(description="`full`: tune all weights; `lora`: low-rank changes of them.")
    lora: Lora | None = Field(description="The low-rank changes.")

    @model_validator(mode="after")
    def _check_lora(self) -> Self:
        if self.tuning == "lora" and self.lora is None:
            raise ValueError("tuning is lora, and lora is null: set its rank, alpha and lr")
        return self

    def active(self) -> Self:
        return self if self.tuning == "lora" else self.model_copy(update={"lora": None})


class UntunedClipSettings(MethodSettings):
    """A pretrained CLIP."""

    scoring_class: ClassVar = ClipScoring


class ClipFtSettings(TunedSettings):
    """A CLIP tuned on images and their captions."""


class NegClipSettings(TunedSettings):
    """NegCLIP: images are also contrasted with a hard negative of each caption."""


class CeClipLosses(Section):
    """CE-CLIP's losses besides NegCLIP's."""

    rank_weight: Weight = Field(description="Weight of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Weight of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="Upper limit of the margin by which a caption leads.")
    intra_modal_target: Literal["first", "own"] = Field(
        description="Target of each row of the contrast of captions: `own`, the logit of its own image, as when the "
        "published checkpoint was trained (8553a11); `first`, the first column of the batch, as since 47cef4e."
    )


class CeClipSettings(CeClipLosses, TunedSettings):
    """CE-CLIP: hard negatives ranked below captions, by growing thresholds, and contrasted with them."""

    negatives: Negatives


class FscClipSettings(TunedSettings):
    """FSC-CLIP: global and local losses of hard negatives, with focus and smoothing."""

    negatives: Negatives
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
    derived: Literal["logit", "cosine"] = Field(
        description="The similarity that gradients are taken of: `logit`, as in Eq. 1; `cosine`, without its factor."
    )


class PerturbationSettings(Section):
    """Replacement of the concepts of captions."""

    count: Count = Field(description="Replacements of each concept of a caption in a step.")
    objects: Count = Field(description="Candidates for objects: the most frequent ones of the corpus.")
    attributes: Count = Field(description="Candidates for attributes.")
    relations: Count = Field(description="Candidates for relations.")


class AttributionWeights(Section):
    """Weights lambda of the loss of attribution, one a method: their scores differ in scale. null: it is not used."""

    attention: Weight | None = Field(description="lambda for attention.")
    gradcam: Weight | None = Field(description="lambda for GradCAM.")
    perturbation: Weight | None = Field(description="lambda for perturbation.")
    gradient: Weight | None = Field(description="lambda for gradients.")


class ClipCaeSettings(TunedSettings):
    """CLIP-CAE: attribution to relations and attributes of captions is raised to that of objects."""

    attribution: Literal["none", "attention", "gradcam", "gradient", "perturbation"] = Field(
        description="Method of attribution to tokens; none: L_ITC alone."
    )
    attention: AttentionSettings | None = Field(description="Settings of attention.")
    gradcam: GradcamSettings | None = Field(description="Settings of GradCAM.")
    gradient: GradientSettings | None = Field(description="Settings of gradients.")
    perturbation: PerturbationSettings | None = Field(description="Settings of perturbation.")
    attribution_weights: AttributionWeights = Field(description="lambda of each method of attribution.")
    margin: Weight = Field(description="epsilon, the margin by which composition exceeds objects.")
    itc_weight: Weight = Field(
        description="Weight of the contrast of images with captions; 0: the loss of attribution alone."
    )
    determiners: Determiners = Field(
        description="Determiners that are attributes; unless `none`, numerals are, too. `all-but-the`: as in MACCO, a "
        "later method of the first author."
    )
    negatives: list[NegativeName] = Field(description="Hard negatives of each caption, new in each step; may be empty.")
    negative_source: Literal["rules", "corpus"] | None = Field(
        description="`rules`: negatives are made by the rules of their kinds; `corpus`: one of those that the corpus "
        "lists for the caption is drawn, as NegCLIP's authors and MACCO do."
    )
    negative_loss: Literal["negclip", "ce-clip"] = Field(description="The method whose losses take the negatives.")
    ce_clip: CeClipLosses | None = Field(description="Settings of CE-CLIP's losses.")

    @model_validator(mode="after")
    def _check_active(self) -> Self:
        method = self.attribution
        if method != "none" and None in (getattr(self, method), getattr(self.attribution_weights, method)):
            raise ValueError(f"attribution is {method}: set {method} and attribution_weights.{method}")
        if self._ranks and self.ce_clip is None:
            raise ValueError("negative_loss is ce-clip, and ce_clip is null: set its losses")
        if self.negatives and self.negative_source is None:
            raise ValueError("negatives are used, and negative_source is null: set rules or corpus")
        if self.negative_source == "corpus" and self.negatives not in ([], ["negclip"]):
            raise ValueError("negative_source is corpus, whose negatives are of one kind: set negatives to [negclip]")
        return self

    @property
    def _ranks(self) -> bool:
        return bool(self.negatives) and self.negative_loss == "ce-clip"

    def active(self) -> Self:
        unused = dict.fromkeys(name for name in AttributionWeights.model_fields if name != self.attribution)
        weights = self.attribution_weights.model_copy(update=unused)
        losses = self.ce_clip if self._ranks else None
        source = self.negative_source if self.negatives else None
        update = {**unused, "attribution_weights": weights, "ce_clip": losses, "negative_source": source}
        return super().active().model_copy(update=update)
