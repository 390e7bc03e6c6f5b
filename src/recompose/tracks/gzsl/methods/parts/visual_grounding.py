"""The visual grounding transformer (VGT): attributes attend to regions and get scores in an image."""

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.methods.parts.grounding import GroundingTransformer
from recompose.tracks.gzsl.methods.parts.settings import Grounding


class VisualGrounding(GroundingTransformer):
    """A grounding transformer whose queries are attributes, with the map W1 to scores of attributes.

    It is all of TransZero, and one half of TransZero++ and CREST.
    """

    def __init__(self, channels: int, words: int, settings: Grounding) -> None:
        super().__init__(channels, words, settings)
        self.W1 = nn.Parameter(torch.randn(words, settings.hidden))

    def forward(self, grids: Tensor, words: Tensor) -> tuple[Tensor, Tensor]:
        """Return images' attribute scores a_i = v_i^T W1 F_i [B, A], and the features F [B, A, h].

        Args:
            grids: [B, R, channels].
            words: [A, width], the vectors v.
        """
        _, encoded, attributes = self.embed(grids, words)
        features = self.decoder(attributes, encoded)
        return (features * (words @ self.W1)).sum(dim=-1), features

    def attention(self, grids: Tensor, words: Tensor) -> Tensor:
        """Return the attention of attributes to regions [B, A, R]; each row sums to 1."""
        _, encoded, attributes = self.embed(grids, words)
        return self.decoder.attention(attributes, encoded)
