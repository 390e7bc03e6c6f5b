"""The settings that several methods share."""

from typing import ClassVar, Literal

from pydantic import Field

from recompose.params.method import MethodSettings
from recompose.params.sections import Count, Positive, Section, Share, TrainingPrecision, Weight

CompetingClasses = Literal["all", "seen"]
CalibrationMask = Literal["signed", "unseen"]
CalibrationForm = Literal["transzero", "crest"]
PatternDistance = Literal["released", "mean", "sum"]


class ClassTrainingSettings(Section):
    """The training of a method."""

    selection: Literal["validation", "test-as-released"] = Field(
        description="`validation`: the epoch and the bias are chosen on seen classes that training leaves out; "
        "`test-as-released`: the test chooses, the best H and the best ACC from different epochs."
    )
    optimizer: Literal["adam", "rmsprop", "sgd"] = Field(description="The optimizer.")
    momentum: Share = Field(description="Momentum of rmsprop and sgd.")
    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient.")
    batch_size: Count = Field(description="Images of a batch.")
    balanced: bool = Field(
        default=False,
        description="Draw batches with equally many images of each class, with replacement, instead of shuffling all.",
    )
    epochs: Count = Field(description="Passes over the images of training; with validation, the maximum.")
    precision: TrainingPrecision = None


class ClassScoring(Section):
    """The bias of a trained method's scores; other values need no new training."""

    bias: float = Field(
        description="Added to the scores of unseen classes; a mask of +1 on unseen and -1 on seen classes is 2."
    )


class PooledSettings(MethodSettings):
    """A method on the mean of an image's regions."""

    scoring_class: ClassVar = ClassScoring

    normalisation: Literal["length", "standard", "none"] = Field(
        description="Of features: `length`, each image's have unit length; `standard`, each channel has mean 0 and "
        "variance 1 over the images of training."
    )


class BilinearSettings(PooledSettings):
    """A bilinear map, trained with a ranking loss."""

    training_class: ClassVar = ClassTrainingSettings

    margin: Positive = Field(description="Margin by which the score of an image's class should exceed the others.")
    violations: Literal["all", "one"] = Field(
        description="The violations of the margin that count for an image: `all`, by the method's formula; `one`, as "
        "in mvp18/Popular-ZSL-Algorithms, with a batch_size of 1."
    )


class Calibration(Section):
    """The loss that preserves some probability for unseen classes."""

    weight: Weight = Field(description="lambda_CAL, its weight in the loss.")
    mask: CalibrationMask = Field(
        description="The mask added to scores within this loss: `signed`, 1 for unseen classes and -1 for seen ones, "
        "as in TransZero; `unseen`, 1 only for unseen classes, as printed in CREST."
    )


class CalibratedSettings(MethodSettings):
    """A method with trained words and self-calibration."""

    training_class: ClassVar = ClassTrainingSettings
    scoring_class: ClassVar = ClassScoring

    negative_attributes: Literal["keep", "zero"] = Field(
        default="keep", description="Negative strengths of a class's attributes, which AWA2 has, stay or become zero."
    )
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    calibration: Calibration = Field(description="The loss that preserves probability for unseen classes.")


class Grounding(Section):
    """The transformers between attributes and regions."""

    hidden: Count = Field(description="Width of their tokens.")
    feed_forward: Count = Field(description="Width within their feed-forward layers.")
    dropout: Share = Field(description="Dropout rate in encoder and decoder.")
    geometry: bool = Field(
        description="Whether self-attention of regions depends on their relative positions, as in TransZero and "
        "TransZero++; the grid has to be square."
    )
    self_attention: bool = Field(description="Whether the decoder's queries first attend to themselves.")
    normalise_words: bool = Field(description="Whether vectors of attributes are scaled to unit length at each step.")


class PairedGrounding(Grounding):
    """The transformers in both directions, with the map from regions to attributes of the second one."""

    region_scores: Literal["zeros", "normal"] = Field(
        description="Initial values of the map from regions to their scores."
    )
    region_attributes: Literal["diagonal", "full"] = Field(
        description="The map between regions and attributes (W4): its diagonal, as in TransZero++'s released code, "
        "or all of it, as in the paper."
    )
