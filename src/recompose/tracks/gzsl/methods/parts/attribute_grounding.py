"""The attribute grounding transformer (AGT): regions attend to attributes, and each gets a score."""

from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.methods.parts.grounding import GroundingTransformer
from recompose.tracks.gzsl.methods.parts.settings import PairedGrounding

if TYPE_CHECKING:
    from recompose.tracks.gzsl.methods.crest.pattern_memory import PatternMemory, Recalled


class AttributeGrounding(GroundingTransformer):
    """A grounding transformer whose queries are regions, with the maps of TransZero++'s second half.

    With encoded regions U, the decoder's features F, and regions and attributes G, T at the transformers' width: a
    region's score is r = U W F, and an image's attribute scores are a = E r, where E = T W4 G^T.

    Args:
        channels: of regions.
        words: width of the vectors of attributes.
        memory: CREST's memory, which is added to the features, or None.
        settings: those of the transformer, and of its maps: only W4's diagonal, as in the released code, whose sum
            repeats an index (TransZero++ at c045f73), or all of it, as in its paper.
    """

    def __init__(self, channels: int, words: int, memory: "PatternMemory | None", settings: PairedGrounding) -> None:
        super().__init__(channels, words, settings)
        square = settings.hidden, settings.hidden
        self.W = nn.Parameter(torch.zeros(square) if settings.region_scores == "zeros" else torch.randn(square))
        self.W4 = nn.Parameter(torch.randn(square[:1] if settings.region_attributes == "diagonal" else square))
        self.memory = memory

    def forward(self, grids: Tensor, words: Tensor) -> "tuple[Tensor, Recalled | None]":
        """Return images' attribute scores [B, A], and the memory's recall.

        Args:
            grids: [B, R, channels].
            words: [A, width].
        """
        regions, encoded, attributes = self.embed(grids, words)
        features, recalled = self.decoder(encoded, attributes), None
        if self.memory is not None:
            recalled = self.memory(features)
            features = features + recalled.values
        scores = (encoded @ self.W * features).sum(dim=-1)  # r [B, R]
        weighted_regions = (scores[:, None] @ regions).squeeze(1)  # r^T G [B, h], in place of E, which is [B, A, R]
        return (
            weighted_regions * self.W4 if self.W4.dim() == 1 else weighted_regions @ self.W4
        ) @ attributes.T, recalled
