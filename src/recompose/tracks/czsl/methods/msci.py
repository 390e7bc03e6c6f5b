"""MSCI: texts cross-attend to local and to global features of the image, stage by stage (Wang et al., 2025)."""

from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.parts.attention import Interaction, Projected
from recompose.tracks.czsl.methods.parts.three_path import ThreePath, Views

Aggregation = Literal["learned", "ends", "mean"]


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
    """Three paths whose texts interact first with low, then with high features; the paths share all of it.

    Args:
        aggregated: N = M, the number of first and of last blocks that are aggregated.
        aggregation: ``learned`` as in Eqs. 1 to 4; of Table 4, ``ends`` (the first and the last block alone, without
            Agg a) and ``mean`` (of each group, without Agg b).
        stages: ``both``; of Table 4, ``high`` (without Ms a) or ``low`` (without Ms b) alone.
        fusion_of_stages: ``dynamic`` as in Eq. 9; of Table 4, ``last`` drops the first stage's share (without Df).
        heads: of the cross-attentions.
        interaction_dropout: in aggregators and interactions.
        pair_head: whether the pair's embedding has a disentangler, too, as in the text; the released code has none.
        share: the initial lambda 1 and lambda 2.
    """

    def __init__(
        self,
        backbone: Backbone,
        states: list[str],
        objects: list[str],
        *,
        aggregated: int,
        aggregation: Aggregation,
        stages: Literal["both", "low", "high"],
        fusion_of_stages: Literal["dynamic", "last"],
        heads: int,
        interaction_dropout: float,
        pair_head: bool,
        share: float,
        **three_path: Any,
    ) -> None:
        super().__init__(backbone, states, objects, **three_path)
        if not 1 <= aggregated <= backbone.depth:
            raise ValueError(f"aggregated is {aggregated}, and the image tower has {backbone.depth} blocks")
        width = backbone.width
        self.aggregated, self.aggregation = aggregated, aggregation
        self.stages, self.fusion_of_stages = stages, fusion_of_stages
        self.of_pair = self._disentangler() if pair_head else nn.Identity()
        used = {"both": ("low", "high"), "low": ("low",), "high": ("high",)}[stages]
        learned = used if aggregation == "learned" else ()
        self.aggregators = nn.ModuleDict({name: Aggregator(aggregated, width, interaction_dropout) for name in learned})
        self.norms = nn.ModuleDict({name: nn.LayerNorm(width) for name in used})
        self.interactions = nn.ModuleDict({name: Interaction(width, heads, interaction_dropout) for name in used})
        counted = [name for name in used if name == used[-1] or fusion_of_stages == "dynamic"]
        self.shares = nn.ParameterDict({name: torch.full((width,), share) for name in counted})

    def layers(self) -> list[list[int]]:
        """Return the first and the last blocks of the image tower, for the chosen stages."""
        depth, count = self.backbone.depth, self.aggregated
        first, last = list(range(count)), list(range(depth - count, depth))
        if self.aggregation == "ends":
            first, last = first[:1], last[-1:]
        return [{"low": first, "high": last}[name] for name in self.norms]

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Return low and high features [images, tokens, E], normalised for the interactions."""
        features = zip(self.norms.items(), groups, strict=True)
        return tuple(norm(self._aggregate(name, layers)) for (name, norm), layers in features)

    def _aggregate(self, name: str, layers: list[Tensor]) -> Tensor:
        if self.aggregation == "learned":
            return self.aggregators[name](layers)
        return torch.stack(layers).mean(dim=0)

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

    def attend(self, texts: Tensor, projected: tuple[Any, ...]) -> Tensor:
        """Return t + lambda 1 * t 1 + lambda 2 * t 2 [images, P, E] (Eqs. 5 to 9).

        The second stage continues from the first.
        """
        stage = final = texts
        for (name, interaction), features in zip(self.interactions.items(), projected, strict=True):
            stage = interaction(stage, features)
            if name in self.shares:
                final = final + self.shares[name] * stage
        return final
