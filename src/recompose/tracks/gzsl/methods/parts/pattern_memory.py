"""A memory of attribute patterns that refine features (CREST, Eqs. 5 to 7; MegaCRN at 5158190)."""

from typing import Literal, NamedTuple

import torch
from torch import Tensor, nn

from recompose.tracks.gzsl.losses import Distance, compactness, nearest_patterns, triplet


class Recalled(NamedTuple):
    """The memory's addition to features, and the queries."""

    values: Tensor  # [B, R, h], or [B, 1, h] for queries of images
    queries: Tensor  # [B, R, d], or [B, 1, d]


class PatternMemory(nn.Module):
    """A bank of patterns, to which queries from features attend with a softmax.

    Args:
        hidden: width of features.
        patterns: their number.
        width: of patterns.
        queries: one for each of the ``regions``, or for the mean of each of the ``images``.
        margin: of the triplet loss.
        separation_weight: of the triplet loss.
        compactness_weight: of the distance to the nearest pattern.
        distance: the distance and the reduction of the losses; see ``losses.triplet``.
        trained: whether the losses train patterns, too, not only queries.
    """

    def __init__(
        self,
        hidden: int,
        *,
        patterns: int,
        width: int,
        queries: Literal["regions", "images"],
        margin: float,
        separation_weight: float,
        compactness_weight: float,
        distance: Distance,
        trained: bool,
    ) -> None:
        super().__init__()
        self.patterns = nn.Parameter(nn.init.xavier_normal_(torch.empty(patterns, width)))
        self.ask, self.answer = nn.Linear(hidden, width), nn.Linear(width, hidden, bias=False)
        for layer in (self.ask, self.answer):
            nn.init.xavier_normal_(layer.weight)
        nn.init.zeros_(self.ask.bias)
        self.queries, self.margin, self.distance, self.trained = queries, margin, distance, trained
        self.weights = {"separation": separation_weight, "compactness": compactness_weight}

    def forward(self, features: Tensor) -> Recalled:
        """Return the recalled values for features [B, R, h] (Eq. 5)."""
        queries = self.ask(features if self.queries == "regions" else features.mean(dim=1, keepdim=True))
        attended = (queries @ self.patterns.T).softmax(dim=-1) @ self.patterns
        return Recalled(self.answer(attended), queries)

    def losses(self, recalled: Recalled) -> dict[str, Tensor]:
        """Return ``separation`` (Eq. 6) and ``compactness`` (Eq. 7), without their weights."""
        patterns = self.patterns if self.trained else self.patterns.detach()
        nearest, second = nearest_patterns(recalled.queries, patterns)
        return {
            "separation": triplet(recalled.queries, nearest, second, self.margin, self.distance),
            "compactness": compactness(recalled.queries, nearest, self.distance),
        }
