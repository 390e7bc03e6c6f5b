"""The settings of CLIP-CAE."""

from typing import Literal, Self

from pydantic import Field, model_validator

from recompose.params.sections import Count, Section, Weight
from recompose.tracks.vlc.methods.parts.settings import CeClipLosses, NegativeName, TunedSettings

OUTSIDE_FINGERPRINTS = True  # documents hold the values


Determiners = Literal["none", "all-but-the", "all"]


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
