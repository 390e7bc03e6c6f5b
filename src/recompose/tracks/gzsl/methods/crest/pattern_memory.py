"""A memory of attribute patterns that refine features (CREST, Eqs. 5 to 7; MegaCRN at 5158190)."""

from typing import NamedTuple

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.losses import compactness, nearest_patterns, triplet
from recompose.tracks.gzsl.methods.crest.settings import Memory


class Recalled(NamedTuple):
    """The memory's addition to features, and the queries."""

    values: Tensor  # [B, R, h], or [B, 1, h] for queries of images
    queries: Tensor  # [B, R, d], or [B, 1, d]


class PatternMemory(nn.Module):
    """A bank of patterns, to which queries from features attend with a softmax.

    Args:
        hidden: width of features.
        settings: the number and width of patterns, the queries, and the losses.
    """

    def __init__(self, hidden: int, settings: Memory) -> None:
        super().__init__()
        width = settings.width
        self.patterns = nn.Parameter(nn.init.xavier_normal_(torch.empty(settings.patterns, width)))
        self.ask, self.answer = nn.Linear(hidden, width), nn.Linear(width, hidden, bias=False)
        for layer in (self.ask, self.answer):
            nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(self.ask.bias)
        self.settings = settings
        self.weights = {"separation": settings.separation_weight, "compactness": settings.compactness_weight}

    def forward(self, features: Tensor) -> Recalled:
        """Return the recalled values for features [B, R, h] (Eq. 5)."""
        queries = self.ask(features if self.settings.queries == "regions" else features.mean(dim=1, keepdim=True))
        attended = (queries @ self.patterns.T).softmax(dim=-1) @ self.patterns
        return Recalled(self.answer(attended), queries)

    def losses(self, recalled: Recalled) -> dict[str, Tensor]:
        """Return ``separation`` (Eq. 6) and ``compactness`` (Eq. 7), without their weights."""
        patterns = self.patterns if self.settings.trained else self.patterns.detach()
        nearest, second = nearest_patterns(recalled.queries, patterns)
        margin, distance = self.settings.margin, self.settings.distance
        return {
            "separation": triplet(recalled.queries, nearest, second, margin, distance),
            "compactness": compactness(recalled.queries, nearest, distance),
        }
