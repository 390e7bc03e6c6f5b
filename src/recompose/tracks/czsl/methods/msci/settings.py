"""The settings of MSCI."""

from typing import Literal

from pydantic import Field

from recompose.params.sections import Count, Positive, Share
from recompose.tracks.czsl.methods.parts.settings import ThreePathSettings


class MsciSettings(ThreePathSettings):
    """MSCI: texts attend to low, then to high features."""

    aggregated: Count = Field(description="N = M, the number of first and of last blocks that are aggregated.")
    # of Table 4: ends is "without Agg a", mean "without Agg b"
    aggregation: Literal["learned", "ends", "mean"] = Field(
        description="As in the paper; or only the first and the last block; or the mean of each group."
    )
    # of Table 4: high is "without Ms a", low "without Ms b"
    stages: Literal["both", "low", "high"] = Field(description="The features that texts attend to.")
    # of Table 4: last is "without Df"
    fusion_of_stages: Literal["dynamic", "last"] = Field(description="As in Eq. 9, or without the first stage's share.")
    heads: Count = Field(description="Heads of the cross-attentions.")
    interaction_dropout: Share = Field(description="Dropout rate in aggregators and interactions.")
    pair_head: bool = Field(
        description="Also a disentangler for the pair's embedding, as in the text; the released code has none."
    )
    share: Positive = Field(description="Initial value of lambda 1 and lambda 2.")
