"""The track's methods with their settings, and the forms of data sets that it reads, without importing either."""

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
    """What a closed form leaves to be chosen by looking at images that it was not solved with: the bias."""

    selection: Literal["validation"] = Field(description="Seen classes that it was then solved without choose it.")


class ClassSelection(Section):
    """What of a training is chosen by looking at images that it does not learn from."""

    selection: Selecting = Field(
        description="`validation`: seen classes that training then does without choose the epoch and the bias; "
        "`test-as-released`: the test chooses, the best H and the best ACC from different epochs."
    )


class ClassTrainingSettings(ClassSelection):
    """How a method is trained."""

    optimizer: Literal["adam", "rmsprop", "sgd"] = Field(description="What makes steps of gradients.")
    momentum: Share = Field(description="Of rmsprop and sgd.")
    lr: Positive = Field(description="Learning rate.")
    weight_decay: Weight = Field(description="Weight decay, coupled with the gradient.")
    batch_size: Count = Field(description="ClassImages of a batch.")
    epochs: Count = Field(description="Passes over the images of training; with selection, the most of them.")
    precision: Precision | None = Field(
        default=None, description="Number format of its training, as Lightning calls it; null: the trainer's."
    )


class ClassScoring(Section):
    """How a trained method's scores are read; other values train nothing anew."""

    bias: float = Field(
        description="Added to the scores of unseen classes; a mask of +1 on unseen and -1 on seen classes is 2."
    )


class MethodSettings(Section):
    """What all methods have."""

    scoring: ClassScoring = Field(description="How its scores are read.")
    per_dataset: dict[Name, dict[str, Any]] = Field(
        default={},
        description="Data set -> settings that differ there; mappings merge, lists and other values replace.",
    )


class TrainedClassSettings(MethodSettings):
    """A method that gradients train."""

    training: ClassTrainingSettings = Field(description="How it is trained.")


class EszslSettings(MethodSettings):
    """ESZSL: a bilinear map in closed form."""

    feature_weight: Positive = Field(description="gamma, the ridge on the side of features.")
    class_weight: Positive = Field(description="lambda, the ridge on the side of classes.")
    labels: Literal["one-hot", "signed"] = Field(
        description="Of an image, 1 for its class and 0 for the others; or -1 for the others, as the paper has it."
    )
    normalise: bool = Field(description="Features are given unit length.")
    training: SelectionOfBias = Field(description="What is chosen.")


class BilinearSettings(TrainedClassSettings):
    """A bilinear map, trained with a ranking loss."""

    margin: Positive = Field(description="By which the score of an image's class is to lead.")
    normalise: bool = Field(description="Features are given unit length.")


class Calibration(Section):
    """The loss that keeps some probability for unseen classes."""

    weight: Weight = Field(description="lambda_CAL, in the loss.")
    mask: Literal["signed", "unseen"] = Field(
        description="What is added to scores within this loss: `signed`, 1 to those of unseen classes and -1 to those "
        "of seen ones, as TransZero has it; `unseen`, 1 to those of unseen classes alone, as CREST prints it."
    )


class CrestCalibration(Calibration):
    """CREST's form of it."""

    form: Literal["transzero", "crest"] = Field(
        description="`transzero`: the log of the batch's mean of the unseen classes' summed probability; `crest`: the "
        "mean of their summed log-probabilities, as Eq. 16 is printed."
    )


CompetingClasses = Literal["all", "seen"]


class DazleSettings(TrainedClassSettings):
    """DAZLE: dense attention of attributes to regions, and attention over attributes."""

    normalise_words: bool = Field(description="Vectors of attributes are given unit length at each step.")
    attribute_attention: bool = Field(description="Attributes are weighed for each image; no: all alike.")
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    calibration: Calibration = Field(description="The loss of unseen classes' probability.")


class Grounding(Section):
    """The transformers between attributes and regions."""

    hidden: Count = Field(description="Width of their tokens.")
    feed_forward: Count = Field(description="Width within their feed-forward layers.")
    dropout: Share = Field(description="In encoder and decoder.")
    geometry: bool = Field(
        description="Self-attention of regions is lowered by how they lie to each other, as TransZero and TransZero++ "
        "have it; the grid has to be square."
    )
    self_attention: bool = Field(description="What asks in the decoder first attends to itself.")
    normalise_words: bool = Field(description="Vectors of attributes are given unit length at each step.")


class TranszeroSettings(TrainedClassSettings):
    """TransZero: attributes attend to regions."""

    grounding: Grounding = Field(description="The transformer.")
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    regression_weight: Weight = Field(description="Of the squared distance to the class's attributes.")
    calibration: Calibration = Field(description="The loss of unseen classes' probability.")


class CrestGrounding(Grounding):
    """The same, with what maps AGT's regions to attributes."""

    region_scores: Literal["zeros", "normal"] = Field(description="What the map of regions to their scores begins as.")
    region_attributes: Literal["diagonal", "full"] = Field(
        description="Of the map between regions and attributes (W4) the diagonal is used, as TransZero++ released it, "
        "or all of it, as its paper writes."
    )


class Components(Section):
    """What of CREST is there; without the one transformer the other's part of memory or contrast goes, too."""

    vgt: bool = Field(description="The visual grounding transformer: attributes attend to regions.")
    agt: bool = Field(description="The attribute grounding transformer: regions attend to attributes.")
    evidence: bool = Field(description="The losses of evidence (EDL).")
    contrast: bool = Field(description="Contrastive learning of images (VICL).")
    memory: bool = Field(description="The memory of attribute patterns, and its losses (DIGS).")

    @field_validator("agt")
    @classmethod
    def _one_transformer(cls, agt: bool, others: ValidationInfo) -> bool:
        if not agt and not others.data.get("vgt", True):
            raise ValueError("vgt or agt has to be there")
        return agt


class Evidence(Section):
    """Evidential learning."""

    weight: Weight = Field(description="lambda_EDL, in the loss.")
    conflict_weight: Weight = Field(description="gamma, of the two views' conflict.")
    annealing: Count = Field(description="xi, the epochs until the divergence from the uniform counts in full.")
    classes: CompetingClasses = Field(description="The classes that evidence is for, in training.")
    reduction: Literal["mean", "sum"] = Field(
        description="The losses of both views and of their fusion are averaged (RCML's code) or summed (Eq. 15)."
    )


class Contrast(Section):
    """Contrastive learning of images."""

    weight: Weight = Field(description="Of its loss.")
    temperature: Positive = Field(description="tau, that cosines are divided by.")
    threshold: Annotated[float, Field(ge=-1, le=1)] = Field(
        description="An image of the same class resembles from this cosine on; where none does, the most similar of "
        "the batch is the positive."
    )


class Memory(Section):
    """The bank of attribute patterns."""

    patterns: Count = Field(description="phi, the number of patterns.")
    width: Count = Field(description="d, their width.")
    queries: Literal["regions", "images"] = Field(
        description="Each region asks, or each image by the mean of its regions."
    )
    margin: Weight = Field(description="By which the nearest pattern is to be nearer than the second.")
    separation_weight: Weight = Field(description="Of the triplet loss (Eq. 6).")
    compactness_weight: Weight = Field(description="Of the distance to the nearest pattern (Eq. 7).")
    distance: Literal["released", "mean", "sum"] = Field(
        description="`released`: means over queries and components of distances (Eq. 6) and squares (Eq. 7), as "
        "MegaCRN's code has them; `mean`: of squared distances over queries; `sum`: their sums, as printed."
    )
    trained: bool = Field(description="These losses move patterns, too; MegaCRN's code: queries alone.")


class CrestSettings(TrainedClassSettings):
    """CREST: grounding in both directions, joined as evidence."""

    components: Components = Field(description="What of it is there.")
    grounding: CrestGrounding = Field(description="The transformers.")
    agt_weight: Fraction = Field(description="mu, AGT's share of the attributes of an image; VGT has the rest.")
    cross_entropy: CompetingClasses = Field(description="The classes that compete in the cross-entropy.")
    calibration: CrestCalibration = Field(description="The loss of unseen classes' probability.")
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
    """Images of a drawn data set, per split; the same number of each class of a split."""

    trainval: Annotated[int, Field(ge=150, multiple_of=30)] = Field(description="Of training, of seen classes.")
    test_seen: Annotated[int, Field(ge=30, multiple_of=30)] = Field(description="Of the test on seen classes.")
    test_unseen: Annotated[int, Field(ge=10, multiple_of=10)] = Field(description="Of the test on unseen classes.")


class ShapesClasses(Section):
    """A drawn data set of classes that attributes describe."""

    adapter: Literal["shapes-classes"] = Field(description="What draws and reads it.")
    seed: Seed = Field(description="Of the drawing of world 0; a run's seed is the number of its world, and is added.")
    images: ClassImages = Field(description="How many are drawn.")


class PublishedClasses(Section):
    """A public data set, unpacked from archives."""

    adapter: Literal["cub", "sun", "awa2"] = Field(description="What reads it: the data set whose form it has.")
    archives: list[Archive] = Field(min_length=1, description="The files that it is unpacked from: images, and splits.")
    word_vectors: Archive = Field(description="The vectors of the attributes' names.")
    grids: GivenGrids | None = Field(
        default=None, description="Grids that somebody has made of its images; null: the profile's backbone makes them."
    )


DataSet = Annotated[ShapesClasses | PublishedClasses, Field(discriminator="adapter")]


ADAPTERS = {
    "shapes-classes": DataAdapter("recompose.tracks.gzsl.data.shapes_classes", ShapesClasses, synthetic=True),
    "cub": DataAdapter("recompose.tracks.gzsl.data.cub", PublishedClasses, sizes={"train": 7057, "test": 4731}),
    "sun": DataAdapter("recompose.tracks.gzsl.data.sun", PublishedClasses, sizes={"train": 10320, "test": 4020}),
    "awa2": DataAdapter("recompose.tracks.gzsl.data.awa2", PublishedClasses, sizes={"train": 23527, "test": 13795}),
}
