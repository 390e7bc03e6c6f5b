"""The track's methods with their settings, and its data sets, without importing either."""

from typing import Annotated, Any, Literal

from pydantic import Field, ValidationInfo, field_validator

from recompose.params.sections import (
    Archive,
    Count,
    GivenGrids,
    Name,
    Positive,
    Precision,
    Section,
    Seed,
    Share,
    Weight,
)
from recompose.tracks.catalogue import DataAdapter, Method

Fraction = Annotated[float, Field(ge=0, le=1)]
Selecting = Literal["validation", "test-as-released"]


class SelectionOfBias(Section):
    """The choice of the bias for a closed form, by images that it was not solved with."""

    selection: Literal["validation"] = Field(description="It is chosen on seen classes that the solution leaves out.")


class ClassSelection(Section):
    """The choice of an epoch and a bias, by images that a training does not learn from."""

    selection: Selecting = Field(
        description="`validation`: the epoch and the bias are chosen on seen classes that training leaves out; "
        "`test-as-released`: the test chooses, the best H and the best ACC from different epochs."
    )


class ClassTrainingSettings(ClassSelection):
    """The training of a method."""

    optimizer: Literal["adam", "rmsprop", "sgd"] = Field(description="The optimizer.")
    momentum: Share = Field(description="Momentum of rmsprop and sgd.")
    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient.")
    batch_size: Count = Field(description="ClassImages of a batch.")
    epochs: Count = Field(description="Passes over the images of training; with validation, the maximum.")
    precision: Precision | None = Field(
        default=None, description="Number format of its training, as Lightning calls it; null: the trainer's."
    )


class ClassScoring(Section):
    """The bias of a trained method's scores; other values need no new training."""

    bias: float = Field(
        description="Added to the scores of unseen classes; a mask of +1 on unseen and -1 on seen classes is 2."
    )


class MethodSettings(Section):
    """The settings of all methods."""

    scoring: ClassScoring = Field(description="The bias of its scores.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


class TrainedClassSettings(MethodSettings):
    """A method that is trained by gradients."""

    training: ClassTrainingSettings = Field(description="Its training.")


class EszslSettings(MethodSettings):
    """ESZSL: a bilinear map in closed form."""

    feature_weight: Positive = Field(description="gamma, the ridge on the side of features.")
    class_weight: Positive = Field(description="lambda, the ridge on the side of classes.")
    labels: Literal["one-hot", "signed"] = Field(
        description="1 for an image's class and 0 for the others; or -1 for the others, as in the paper."
    )
    normalise: bool = Field(description="Whether features are scaled to unit length.")
    training: SelectionOfBias = Field(description="The choice of the bias.")


class BilinearSettings(TrainedClassSettings):
    """A bilinear map, trained with a ranking loss."""

    margin: Positive = Field(description="Margin by which the score of an image's class should exceed the others.")
    normalise: bool = Field(description="Whether features are scaled to unit length.")


class Calibration(Section):
    """The loss that preserves some probability for unseen classes."""

    weight: Weight = Field(description="lambda_CAL, its weight in the loss.")
    mask: Literal["signed", "unseen"] = Field(
        description="The mask added to scores within this loss: `signed`, 1 for unseen classes and -1 for seen ones, "
        "as in TransZero; `unseen`, 1 only for unseen classes, as printed in CREST."
    )


class CrestCalibration(Calibration):
    """CREST's form of the loss."""

    form: Literal["transzero", "crest"] = Field(
        description="`transzero`: the log of the batch's mean of the unseen classes' summed probability; `crest`: the "
        "mean of their summed log-probabilities, as Eq. 16 is printed."
    )


CompetingClasses = Literal["all", "seen"]


class DazleSettings(TrainedClassSettings):
    """DAZLE: dense attention of attributes to regions, and attention over attributes."""

    normalise_words: bool = Field(description="Whether vectors of attributes are scaled to unit length at each step.")
    attribute_attention: bool = Field(description="Whether attributes are weighted for each image.")
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


class TranszeroSettings(TrainedClassSettings):
    """TransZero: attributes that attend to regions."""

    grounding: Grounding = Field(description="The transformer.")
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    regression_weight: Weight = Field(description="Weight of the squared distance to the class's attributes.")
    calibration: Calibration = Field(description="The loss that preserves probability for unseen classes.")


class CrestGrounding(Grounding):
    """The transformers of CREST, with the map from AGT's regions to attributes."""

    region_scores: Literal["zeros", "normal"] = Field(
        description="Initial values of the map from regions to their scores."
    )
    region_attributes: Literal["diagonal", "full"] = Field(
        description="The map between regions and attributes (W4): its diagonal, as in TransZero++'s released code, "
        "or all of it, as in the paper."
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

    patterns: Count = Field(description="phi, the number of patterns.")
    width: Count = Field(description="d, their width.")
    queries: Literal["regions", "images"] = Field(
        description="One query for each region, or for the mean of each image's regions."
    )
    margin: Weight = Field(description="Margin by which the nearest pattern should be nearer than the second.")
    separation_weight: Weight = Field(description="Weight of the triplet loss (Eq. 6).")
    compactness_weight: Weight = Field(description="Weight of the distance to the nearest pattern (Eq. 7).")
    distance: Literal["released", "mean", "sum"] = Field(
        description="`released`: means over queries and components of distances (Eq. 6) and squares (Eq. 7), as "
        "in MegaCRN's code; `mean`: of squared distances over queries; `sum`: their sums, as printed."
    )
    trained: bool = Field(description="Whether these losses train patterns, too; in MegaCRN's code only queries.")


class CrestSettings(TrainedClassSettings):
    """CREST: grounding in both directions, fused as evidence."""

    components: Components = Field(description="Its components.")
    grounding: CrestGrounding = Field(description="The transformers.")
    agt_weight: Fraction = Field(
        description="mu, AGT's share of the attribute scores of an image; VGT has the remaining share."
    )
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    calibration: CrestCalibration = Field(description="The loss that preserves probability for unseen classes.")
    evidence: Evidence = Field(description="Evidential learning.")
    contrast: Contrast = Field(description="Contrastive learning of images.")
    memory: Memory = Field(description="The bank of attribute patterns.")


_IN = "recompose.tracks.gzsl.methods"
METHODS = {
    "eszsl": Method(f"{_IN}.eszsl:ESZSL", EszslSettings),
    "ale": Method(f"{_IN}.bilinear:ALE", BilinearSettings),
    "devise": Method(f"{_IN}.bilinear:DEVISE", BilinearSettings),
    "sje": Method(f"{_IN}.bilinear:SJE", BilinearSettings),
    "dazle": Method(f"{_IN}.dazle:DAZLE", DazleSettings),
    "transzero": Method(f"{_IN}.transzero:TransZero", TranszeroSettings),
    "crest": Method(f"{_IN}.crest:CREST", CrestSettings),
}


class ClassImages(Section):
    """The number of images of a synthetic data set, per split; all classes of a split have the same number."""

    trainval: Annotated[int, Field(ge=150, multiple_of=30)] = Field(description="Training images, of seen classes.")
    test_seen: Annotated[int, Field(ge=30, multiple_of=30)] = Field(description="Test images of seen classes.")
    test_unseen: Annotated[int, Field(ge=10, multiple_of=10)] = Field(description="Test images of unseen classes.")


class ShapesClasses(Section):
    """A synthetic data set of classes that attributes describe."""

    adapter: Literal["shapes-classes"] = Field(description="The generator and reader.")
    seed: Seed = Field(description="Seed of replicate 0; a run's seed is the number of its replicate, and is added.")
    images: ClassImages = Field(description="Number of images.")


class PublishedClasses(Section):
    """A published data set, unpacked from archives."""

    adapter: Literal["cub", "sun", "awa2"] = Field(description="The reader: the data set whose format it has.")
    archives: list[Archive] = Field(
        min_length=1, description="The archives that it is unpacked from: images, and splits."
    )
    word_vectors: Archive = Field(description="The vectors of the attributes' names.")
    grids: GivenGrids | None = Field(
        default=None, description="Precomputed grids of its images; null: the profile's backbone computes them."
    )


DataSet = Annotated[ShapesClasses | PublishedClasses, Field(discriminator="adapter")]


ADAPTERS = {
    "shapes-classes": DataAdapter("recompose.tracks.gzsl.data.shapes_classes", ShapesClasses, synthetic=True),
    "cub": DataAdapter("recompose.tracks.gzsl.data.cub", PublishedClasses, sizes={"train": 7057, "test": 4731}),
    "sun": DataAdapter("recompose.tracks.gzsl.data.sun", PublishedClasses, sizes={"train": 10320, "test": 4020}),
    "awa2": DataAdapter("recompose.tracks.gzsl.data.awa2", PublishedClasses, sizes={"train": 23527, "test": 13795}),
}
