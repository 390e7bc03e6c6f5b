"""The settings of GIPCOL."""

from typing import ClassVar

from pydantic import Field

from recompose.params.sections import Count, Positive, Section, Share, Weight
from recompose.tracks.czsl.methods.parts.settings import PairTrainingSettings, TrainedPairSettings


class GipcolTraining(PairTrainingSettings):
    """The training of GIPCOL, whose graph may have a rate and a decay of its own."""

    graph_lr: Positive | None = Field(default=None, description="Learning rate of the graph; null: that of the prompt.")
    graph_weight_decay: Weight | None = Field(
        default=None, description="Weight decay of the graph; null: that of the prompt."
    )


class GipcolSettings(TrainedPairSettings):
    """GIPCOL: words that pass through a graph."""

    training_class: ClassVar[type[Section]] = GipcolTraining

    hidden: Count = Field(description="Width of the first convolution.")
    graph_dropout: Share = Field(description="Dropout rate of each convolution's input.")
    dropout: Share = Field(description="Dropout rate of the graph's output.")
