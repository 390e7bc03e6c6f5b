"""MSCI: texts cross-attend to local and to global features of the image, stage by stage (Wang et al., 2025).

The paper's equations in their order; what the three paths share is in ``three_path``, and papers/msci/notes.md has more
departures of the released code.

| equation | here | released code, ltpwy/MSCI at 04cea14 |
|---|---|---|
| 1, 2 | ``MSCI.layers`` | blocks' outputs first go through CLIP's projection |
| 3, 4 | ``Aggregator`` | a single layer is not aggregated |
| 5, 6 | ``MSCI.attend`` | several heads, with normalised tokens; one for all paths |
| 7, 8 | ``MSCI.attend`` | the softmax of Eq. 7 is of t1, not of t |
| 9 | ``MSCI.attend`` | two vectors for all pairs and paths |
| 10 | ``ThreePath.wholes``, ``ThreePath.log_totals`` | |
| 11, 12 | ``ThreePath.compare`` | |
| 13 to 16 | ``ThreePath.loss`` | over the pairs of training |
| 17 | ``ThreePath.score`` | the pair's logit in place of its probability |
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import Interaction, Projected
from recompose.tracks.czsl.methods.settings import MsciSettings
from recompose.tracks.czsl.methods.three_path import ThreePath, Views


class Aggregator(nn.Module):
    """An aggregator of the tokens of several layers (Eqs. 1 to 4): concatenation, a linear map, layer normalisation,
    ReLU, dropout.
    """

    def __init__(self, layers: int, width: int, dropout: float) -> None:
        super().__init__()
        self.map = nn.Sequential(nn.Linear(layers * width, width), nn.LayerNorm(width), nn.ReLU(), nn.Dropout(dropout))

    def forward(self, layers: list[Tensor]) -> Tensor:
        """Return features [images, tokens, E] of tokens [images, tokens, E] of each layer."""
        return self.map(torch.cat(layers, dim=-1))


class MSCI(ThreePath):
    """Three paths whose texts interact first with low, then with high features; the paths share all of it."""

    settings_class = MsciSettings
    settings: MsciSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: MsciSettings) -> None:
        super().__init__(backbone, states, objects, settings)
        aggregated, dropout, width = settings.aggregated, settings.interaction_dropout, backbone.width
        if aggregated > backbone.depth:
            raise ArgumentError("aggregated", f"is {aggregated}, and the image tower has {backbone.depth} blocks")
        self.of_pair = self._disentangler() if settings.pair_head else nn.Identity()
        used = {"both": ("low", "high"), "low": ("low",), "high": ("high",)}[settings.stages]
        learned = used if settings.aggregation == "learned" else ()
        self.aggregators = nn.ModuleDict({name: Aggregator(aggregated, width, dropout) for name in learned})
        self.norms = nn.ModuleDict({name: nn.LayerNorm(width) for name in used})
        self.interactions = nn.ModuleDict({name: Interaction(width, settings.heads, dropout) for name in used})
        counted = [name for name in used if name == used[-1] or settings.fusion_of_stages == "dynamic"]
        self.shares = nn.ParameterDict({name: torch.full((width,), settings.share) for name in counted})

    def layers(self) -> list[list[int]]:
        """Return the first and the last blocks of the image tower, for the chosen stages."""
        depth, count = self.backbone.depth, self.settings.aggregated
        first, last = list(range(count)), list(range(depth - count, depth))
        if self.settings.aggregation == "ends":
            first, last = first[:1], last[-1:]
        return [{"low": first, "high": last}[name] for name in self.norms]

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Return low and high features [images, tokens, E], normalised for the interactions."""
        features = zip(self.norms.items(), groups, strict=True)
        return tuple(norm(self._aggregate(name, layers)) for (name, norm), layers in features)

    def _aggregate(self, name: str, layers: list[Tensor]) -> Tensor:
        if self.settings.aggregation == "learned":
            return self.aggregators[name](layers)
        return torch.stack(layers).mean(dim=0)

    def attend(self, texts: Tensor, projected: tuple[Any, ...]) -> Tensor:
        """Return t + lambda 1 * t 1 + lambda 2 * t 2 [images, P, E] (Eqs. 5 to 9).

        The second stage continues from the first.
        """
        stage = final = texts
        interactions: Iterable[tuple[str, Any]] = self.interactions.items()
        for (name, interaction), features in zip(interactions, projected, strict=True):
            stage = stage + interaction.attention(stage, features)  # Eq. 5, then Eq. 7
            stage = stage + interaction.feed_forward(stage)  # Eq. 6, then Eq. 8
            if name in self.shares:
                final = final + self.shares[name] * stage  # Eq. 9
        return final

    def encode_images(self, inputs: Tensor) -> Views:
        """Return the views of the plain three paths, with a disentangler for pairs if the settings have one. Tokens are
        projected once for all paths, which share the interactions.
        """
        views = super().encode_images(inputs)
        return Views(self.of_pair(views.pair), views.state, views.object, self.project(views.tokens))

    def project(self, tokens: tuple[Any, ...]) -> tuple[Projected, ...]:
        """Return low and high features, projected for the interactions."""
        interactions: Iterable[Any] = self.interactions.values()
        return tuple(interaction.project(features) for interaction, features in zip(interactions, tokens, strict=True))
