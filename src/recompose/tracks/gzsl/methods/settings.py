"""The settings of the methods, in the order of the catalogue; those that several methods share come first."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field, ValidationInfo, field_validator

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


class SelectionOfBias(Section):
    """The choice of the bias for a closed form, by images that it was not solved with."""

    selection: Literal["validation"] = Field(description="It is chosen on seen classes that the solution leaves out.")


class EszslSettings(PooledSettings):
    """ESZSL: a bilinear map in closed form."""

    training_class: ClassVar = SelectionOfBias

    feature_weight: Positive = Field(description="gamma, the ridge on the side of features.")
    class_weight: Positive = Field(description="lambda, the ridge on the side of classes.")
    labels: Literal["one-hot", "signed"] = Field(
        description="1 for an image's class and 0 for the others; or -1 for the others, as in the paper."
    )


class AleSettings(BilinearSettings):
    """ALE: a bilinear map whose violations count by the rank that they give the image's class."""


class DeviseSettings(BilinearSettings):
    """DeViSE: a bilinear map for which all violations count."""


class SjeSettings(BilinearSettings):
    """SJE: a bilinear map for which the largest violation counts."""


class DazleSettings(CalibratedSettings):
    """DAZLE: dense attention of attributes to regions, and attention over attributes."""

    normalise_words: bool = Field(description="Whether vectors of attributes are scaled to unit length at each step.")
    attribute_attention: bool = Field(
        description="Whether attributes are weighted for each image; in the released code for SUN they are not."
    )


class TranszeroSettings(CalibratedSettings):
    """TransZero: attributes that attend to regions."""

    grounding: Grounding = Field(description="The transformer.")
    regression_weight: Weight = Field(description="Weight of the squared distance to the class's attributes.")


class TranszeroPlusSettings(CalibratedSettings):
    """TransZero++: attributes that attend to regions, and regions that attend to attributes."""

    grounding: PairedGrounding = Field(description="The transformers.")
    vgt_weight: Annotated[float, Field(ge=0, le=1)] = Field(
        description="Share of the first transformer in an image's scores; the second has the rest."
    )
    agt_loss_weight: Weight = Field(description="Weight of the second transformer's losses.")
    regression_weight: Weight = Field(description="Weight of the squared distance to the class's attributes.")
    attribute_agreement: Weight = Field(
        description="Weight of the squared distance between the attribute scores of both transformers."
    )
    class_agreement: Weight = Field(
        description="Weight of the squared distance between the class scores of both transformers."
    )


class CrestCalibration(Calibration):
    """CREST's form of the loss."""

    form: CalibrationForm = Field(
        description="`transzero`: the log of the batch's mean of the unseen classes' summed probability; `crest`: the "
        "mean of their summed log-probabilities, as Eq. 16 is printed."
    )


class Components(Section):
    """The components of CREST. Without one of the transformers, its part of memory or contrast is absent, too."""

    vgt: bool = Field(description="The visual grounding transformer: attributes attend to regions.")
    agt: bool = Field(description="The attribute grounding transformer: regions attend to attributes.")
    evidence: bool = Field(description="The losses of evidence (EDL).")
    contrast: bool = Field(description="Contrastive learning of images (VICL).")
    memory: bool = Field(description="The memory of attribute patterns, and its losses (DIGS).")

    @field_validator("agt")
    @classmethod
    def _one_transformer(cls, agt: bool, earlier: ValidationInfo) -> bool:
        if not agt and not earlier.data.get("vgt", True):
            raise ValueError("vgt or agt has to be true")
        return agt


class Evidence(Section):
    """Evidential learning."""

    weight: Weight = Field(description="lambda_EDL, its weight in the loss.")
    conflict_weight: Weight = Field(description="gamma, the weight of the two views' conflict.")
    annealing: Count = Field(
        description="xi, the epochs until the divergence from the uniform distribution has its full weight."
    )
    classes: CompetingClasses = Field(description="The classes of evidence in training.")
    reduction: Literal["mean", "sum"] = Field(
        description="The losses of both views and of their fusion are averaged (RCML's code) or summed (Eq. 15)."
    )


class Contrast(Section):
    """Contrastive learning of images."""

    weight: Weight = Field(description="Weight of its loss.")
    temperature: Positive = Field(description="tau, the divisor of cosines.")
    threshold: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="Cosine from which an image of the same class is the positive; otherwise the most similar image "
        "of the batch is."
    )


class Memory(Section):
    """The bank of attribute patterns."""

    patterns: Annotated[int, Field(ge=2)] = Field(description="phi, the number of patterns.")
    width: Count = Field(description="d, their width.")
    queries: Literal["regions", "images"] = Field(
        description="One query for each region, or for the mean of each image's regions."
    )
    margin: Weight = Field(description="Margin by which the nearest pattern should be nearer than the second.")
    separation_weight: Weight = Field(description="Weight of the triplet loss (Eq. 6).")
    compactness_weight: Weight = Field(description="Weight of the distance to the nearest pattern (Eq. 7).")
    distance: PatternDistance = Field(
        description="`released`: means over queries and components of distances (Eq. 6) and squares (Eq. 7), as "
        "in MegaCRN's code; `mean`: of squared distances over queries; `sum`: their sums, as printed."
    )
    trained: bool = Field(description="Whether these losses train patterns, too; in MegaCRN's code only queries.")


class CrestSettings(CalibratedSettings):
    """CREST: grounding in both directions, fused as evidence."""

    components: Components = Field(description="Its components.")
    grounding: PairedGrounding = Field(description="The transformers.")
    agt_weight: Annotated[float, Field(ge=0, le=1)] = Field(
        description="mu, AGT's share of the attribute scores of an image; VGT has the remaining share."
    )
    calibration: CrestCalibration = Field(description="The loss that preserves probability for unseen classes.")
    evidence: Evidence = Field(description="Evidential learning.")
    contrast: Contrast = Field(description="Contrastive learning of images.")
    memory: Memory = Field(description="The bank of attribute patterns.")
