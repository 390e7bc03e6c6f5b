"""The settings of DFSP."""

from typing import Literal

from pydantic import Field

from recompose.params.sections import Share, Weight
from recompose.tracks.czsl.methods.parts.settings import AugmentedTraining, Fraction, TrainedPairSettings


class DfspSettings(TrainedPairSettings):
    """DFSP: decomposed texts fused with images."""

    training_class = AugmentedTraining

    dropout: Share = Field(description="Dropout rate of learned vectors.")
    fusion: Literal["t2i", "i2t", "BiF"] = Field(
        description="`t2i`: images attend to texts; `i2t`: texts attend to images; `BiF`: both."
    )
    fusion_dropout: Share = Field(description="Dropout rate in the fusion.")
    share: Fraction = Field(description="Share of the fused vectors in the result, in both modalities.")
    primitive_weight: Weight = Field(description="Weight of the losses of states and objects.")
    prompt_weight: Weight = Field(description="Weight of the loss of pairs before fusion.")
