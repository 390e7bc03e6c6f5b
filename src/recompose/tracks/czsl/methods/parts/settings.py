"""Settings that several methods share: of training, of scoring, and of three paths."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints, ValidationInfo, field_validator

from recompose.params.method import MethodSettings
from recompose.params.sections import Count, Positive, Section, Share, TrainingPrecision, Weight

Template = Annotated[str, StringConstraints(pattern=r"^[^{}]*\{state\} \{object\}$")]
Fraction = Annotated[float, Field(ge=0, le=1)]
TwoWeights = Annotated[list[Weight], Field(min_length=2, max_length=2)]
ThreeWeights = Annotated[list[Weight], Field(min_length=3, max_length=3)]
FourWeights = Annotated[list[Weight], Field(min_length=4, max_length=4)]
FusionForm = Literal["probabilities", "logits"]
ImageTower = Literal["adapters", "lora", "frozen"]
End = Literal["relu", "linear"]
Start = Literal["random", "residual", "residual-zero"]


class PairTrainingSettings(Section):
    """The training of a method."""

    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient as Adam has it.")
    batch_size: Count = Field(description="Images of a batch.")
    accumulate: Count = Field(description="Batches whose gradients make one step.")
    epochs: Count = Field(description="Passes over the images of training.")
    precision: TrainingPrecision = None


class AugmentedTraining(PairTrainingSettings):
    """The training of a method that may augment images in each epoch."""

    halve_every: Count = Field(description="Epochs after which the learning rate is halved.")
    augment: bool = Field(description="Flip, tilt and rotate images of training.")


class PairSelection(Section):
    """The score that chooses the epoch in validation; `scoring` is for testing."""

    fusion: FusionForm = Field(description="The pair's part of the score: its probability, or its logit.")
    weights: TwoWeights = Field(description="Weights of the pair as a whole and of p(state) p(object).")


class ThreePathTraining(AugmentedTraining):
    """The training of a three-path method."""

    selection: PairSelection = Field(description="The score with which validation chooses the epoch.")


class ThreePathScoring(Section):
    """The fusion of the paths into one score; other values apply to a trained model without training it again."""

    fusion: FusionForm = Field(
        description="The pair's part of its score: its probability, as in the papers, or its logit."
    )
    closed: TwoWeights = Field(
        description="In the closed world, the weights of the pair as a whole and of p(state) p(object)."
    )
    open: TwoWeights = Field(description="The same in the open world.")


class TrainedPairSettings(MethodSettings):
    """A method that is trained."""

    training_class: ClassVar[type[Section]] = PairTrainingSettings

    prompt: Template = Field(description="The text of a pair, where training begins.")


class ThreePathSettings(TrainedPairSettings):
    """Three paths from an image to a pair: as a whole, by its state, by its object."""

    training_class: ClassVar[type[Section]] = ThreePathTraining
    scoring_class: ClassVar[type[Section]] = ThreePathScoring

    prompts: Literal["soft", "fixed"] = Field(
        description="Contexts and words are learned, or stay those of the template and the names."
    )
    attribute_dropout: Share = Field(description="Dropout rate of the vectors of states and objects.")
    image_tower: ImageTower = Field(description="The tuned parts of the image tower.")
    adapter_bottleneck: Count = Field(description="Width within an adapter; the rank of LoRA.")
    adapter_dropout: Share = Field(description="Dropout rate in adapters.")
    disentangler_layers: Count = Field(description="Layers of each disentangler.")
    disentangler_dropout: Share = Field(description="Dropout rate in the disentanglers.")
    disentangler_end: End = Field(
        description="The last layer of a disentangler is like the others, or only a linear map."
    )
    disentangler_start: Start = Field(
        description="Its output replaces the image's embedding, or is added to it, or is added and begins at zero."
    )
    loss_weights: ThreeWeights = Field(description="Weights of the losses of pair, state and object.")

    @field_validator("disentangler_start")
    @classmethod
    def _can_leave_zero(cls, start: str, earlier: ValidationInfo) -> str:
        if start == "residual-zero" and earlier.data.get("disentangler_end") == "relu":
            raise ValueError("residual-zero needs disentangler_end: linear, as no gradient passes a ReLU at zero")
        return start
