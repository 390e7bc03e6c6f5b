"""The settings of CREST."""

from typing import Annotated, Literal

from pydantic import Field, ValidationInfo, field_validator

from recompose.params.sections import Count, Positive, Section, Weight
from recompose.tracks.gzsl.methods.parts.settings import (
    CalibratedSettings,
    Calibration,
    CalibrationForm,
    CompetingClasses,
    PairedGrounding,
    PatternDistance,
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

    patterns: Count = Field(description="phi, the number of patterns.")
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
