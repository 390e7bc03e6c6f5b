"""The settings of VP-CMJL."""

from collections.abc import Sequence

from pydantic import Field

from recompose.params.sections import Count, Section, Share
from recompose.tracks.czsl.methods.settings import (
    AugmentedTraining,
    ImageTower,
    ThreeWeights,
    TrainedPairSettings,
    TwoWeights,
)


class BranchScoring(Section):
    """The mixture of both branches' logits; other values apply to a trained model without training it again."""

    closed: TwoWeights = Field(description="In the closed world, the weights of visual proxies and of texts.")
    open: TwoWeights = Field(description="The same in the open world.")

    def weights_in(self, world: str) -> Sequence[float]:
        """Return the weights of visual proxies and of texts in a world, closed or open."""
        return {"closed": self.closed, "open": self.open}[world]


class VpCmjlSettings(TrainedPairSettings):
    """VP-CMJL: visual proxies beside texts, and their alignment."""

    training_class = AugmentedTraining
    scoring_class = BranchScoring

    attribute_dropout: Share = Field(description="Dropout rate of the vectors of states and objects.")
    image_tower: ImageTower = Field(description="The tuned parts of the image tower.")
    adapter_bottleneck: Count = Field(description="Width within an adapter; the rank of LoRA.")
    adapter_dropout: Share = Field(description="Dropout rate in adapters.")
    disentangler_dropout: Share = Field(description="Dropout rate in the disentanglers.")
    heads: Count = Field(description="Heads of the attention of images to the texts of states and of objects.")
    loss_weights: ThreeWeights = Field(
        description="Weights of the losses of pairs, of states and objects, and of the alignment of both branches."
    )
    selection: TwoWeights = Field(
        description="Weights of visual proxies and of texts in the score with which validation chooses the epoch."
    )
