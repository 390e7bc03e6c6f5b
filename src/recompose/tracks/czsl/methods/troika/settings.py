"""The settings of Troika."""

from typing import Literal

from pydantic import Field

from recompose.params.sections import Count, Positive, Share
from recompose.tracks.czsl.methods.parts.settings import ThreePathSettings


class TroikaSettings(ThreePathSettings):
    """Troika: texts that attend to the last layer's tokens."""

    traction_layers: Count = Field(description="Number of successive cross-attentions.")
    heads: Count = Field(description="Heads of each cross-attention.")
    traction_dropout: Share = Field(description="Dropout rate in the cross-attentions.")
    traction: Positive = Field(description="Initial value of lambda.")
    token_norms: Literal["once", "each-path"] = Field(
        description="All paths see the same normalised tokens; or each normalises them again, as in the released code."
    )
