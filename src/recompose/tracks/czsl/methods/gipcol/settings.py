"""The settings of GIPCOL."""

from pydantic import Field

from recompose.params.sections import Count, Share
from recompose.tracks.czsl.methods.parts.settings import TrainedPairSettings


class GipcolSettings(TrainedPairSettings):
    """GIPCOL: words that pass through a graph."""

    hidden: Count = Field(description="Width of the first convolution.")
    graph_dropout: Share = Field(description="Dropout rate of each convolution's input.")
    dropout: Share = Field(description="Dropout rate of the graph's output.")
