"""Troika: cross-attention pulls texts towards the last layer's tokens of an image (Huang et al., 2024; at 1f3c546)."""

from collections.abc import Iterable
from typing import Any, Literal

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.parts.attention import Interaction, Projected
from recompose.tracks.czsl.methods.parts.three_path import PATHS, ThreePath


class Troika(ThreePath):
    """Three paths with a cross-modal traction module, which the paths share: t + lambda * traction(t, tokens).

    Args:
        traction_layers: the number of successive cross-attentions.
        heads: of each cross-attention.
        traction_dropout: in the cross-attentions.
        traction: the initial lambda.
        token_norms: ``once``, the paths see the same normalised tokens; ``each-path``, one layer normalisation is
            applied again before each path, so that tokens are normalised once for pairs, twice for states and three
            times for objects, as in the released code.
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
        token_norms: Literal["once", "each-path"],
        **three_path: Any,
    ) -> None:
        super().__init__(backbone, states, objects, **three_path)
        self.token_norms = token_norms
        self.norm = nn.LayerNorm(backbone.width)
        self.interactions = nn.ModuleList(
            Interaction(backbone.width, heads, traction_dropout) for _ in range(traction_layers)
        )
        self.traction = nn.Parameter(torch.full((backbone.width,), traction))

    def layers(self) -> list[list[int]]:
        """Return the last block alone."""
        return [[self.backbone.depth - 1]]

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Return the last block's tokens [images, tokens, E] for each of the paths, in their order."""
        tokens = [self.norm(groups[0][0])]
        for _ in PATHS[1:]:
            tokens.append(self.norm(tokens[-1]) if self.token_norms == "each-path" else tokens[-1])
        return tuple(tokens)

    def tokens_of(self, path: str, tokens: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the tokens of one path."""
        return (tokens[PATHS.index(path)],)

    def project(self, tokens: tuple[Any, ...]) -> tuple[Projected, ...]:
        """Return a path's tokens [images, tokens, E], projected for each of the interactions."""
        interactions: Iterable[Any] = self.interactions
        return tuple(interaction.project(tokens[0]) for interaction in interactions)

    def attend(self, texts: Tensor, projected: tuple[Any, ...]) -> Tensor:
        """Return t + lambda * traction(t, tokens), [images, P, E], for texts t [P, E] of unit length."""
        pulled = texts
        for interaction, tokens in zip(self.interactions, projected, strict=True):
            pulled = interaction(pulled, tokens)
        return texts + self.traction * pulled
