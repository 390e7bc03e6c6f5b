"""Troika: texts are pulled towards each image by what its last layer shows (Huang et al., 2024; at 1f3c546)."""

from typing import Any

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.nn.attention import Interaction
from recompose.tracks.czsl.methods.parts.three_path import ThreePath


class Troika(ThreePath):
    """Three paths with a cross-modal traction module, which the paths share: t + lambda * traction(t, tokens).

    Args:
        traction_layers: how many cross-attentions one after another.
        heads: of each.
        traction_dropout: in them.
        traction: what lambda begins as.
    """

    def __init__(
        self,
        backbone: Backbone,
        states: list[str],
        objects: list[str],
        *,
        traction_layers: int,
        heads: int,
        traction_dropout: float,
        traction: float,
        **three_path: Any,
    ) -> None:
        super().__init__(backbone, states, objects, **three_path)
        self.norm = nn.LayerNorm(backbone.width)
        self.interactions = nn.ModuleList(
            Interaction(backbone.width, heads, traction_dropout) for _ in range(traction_layers)
        )
        self.traction = nn.Parameter(torch.full((backbone.width,), traction))

    def layers(self) -> list[list[int]]:
        """The last block alone."""
        return [[self.backbone.depth - 1]]

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Its tokens, normed once (the released code norms them once more for each path)."""
        return (self.norm(groups[0][0]),)

    def cross_attend(self, texts: Tensor, tokens: tuple[Tensor, ...]) -> Tensor:
        """Texts [images, P, E] pulled towards each image."""
        pulled = texts.expand(len(tokens[0]), *texts.shape)
        for interaction in self.interactions:
            pulled = interaction(pulled, tokens[0])
        return texts + self.traction * pulled
