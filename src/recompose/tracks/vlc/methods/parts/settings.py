"""The settings that methods share: tuning, training and scoring."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from recompose.params.method import MethodSettings
from recompose.params.sections import Count, Positive, Precision, Section, Weight

OUTSIDE_FINGERPRINTS = True  # documents hold the values


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


class CeClipLosses(Section):
    """CE-CLIP's losses besides NegCLIP's."""

    rank_weight: Weight = Field(description="Weight of the loss that ranks captions above their negatives.")
    contrast_weight: Weight = Field(description="Weight of the loss that contrasts captions with their negatives.")
    threshold: Positive = Field(description="Upper limit of the margin by which a caption leads.")
    intra_modal_target: Literal["first", "own"] = Field(
        description="Target of each row of the contrast of captions: `own`, the logit of its own image, as when the "
        "published checkpoint was trained (8553a11); `first`, the first column of the batch, as since 47cef4e."
    )
