"""Troika: cross-attention pulls texts towards the last layer's tokens of an image (Huang et al., 2024).

| part | here | released code, bighuang624/Troika at 1f3c546 |
|---|---|---|
| adapters of the image tower | ``image_tower.BlockAdapters`` | the same |
| prompts of three paths | ``paths.PathPrompts`` | the same |
| disentanglers of state and object | ``disentangler.Disentangler`` | the same |
| cross-modal traction | ``Troika.attend``, of ``attention.Interaction`` | the same |
| tokens of each path | ``Troika.gather`` | one layer normalisation, applied anew before each path |
| losses of three paths | ``ThreePath.loss`` | the same |
| fused scores | ``ThreePath.score`` | the pair's logit in place of its probability |
"""

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.attention import Interaction, Projected
from recompose.tracks.czsl.methods.paths import PATHS
from recompose.tracks.czsl.methods.settings import TroikaSettings
from recompose.tracks.czsl.methods.three_path import ThreePath


class Troika(ThreePath):
    """Three paths with a cross-modal traction module, which the paths share: t + lambda * traction(t, tokens).

    With ``token_norms: each-path``, one layer normalisation is applied again before each path, so that tokens are
    normalised once for pairs, twice for states and three times for objects, as in the released code.
    """

    settings_class = TroikaSettings
    settings: TroikaSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: TroikaSettings) -> None:
        super().__init__(backbone, states, objects, settings)
        self.norm = nn.LayerNorm(backbone.width)
        self.interactions = nn.ModuleList(
            Interaction(backbone.width, settings.heads, settings.traction_dropout)
            for _ in range(settings.traction_layers)
        )
        self.traction = nn.Parameter(torch.full((backbone.width,), settings.traction))

    def layers(self) -> list[list[int]]:
        """Return the last block alone."""
        return [[self.backbone.depth - 1]]

    def gather(self, groups: list[list[Tensor]]) -> tuple[Tensor, ...]:
        """Return the last block's tokens [images, tokens, E] for each of the paths, in their order."""
        tokens = [self.norm(groups[0][0])]
        for _ in PATHS[1:]:
            tokens.append(self.norm(tokens[-1]) if self.settings.token_norms == "each-path" else tokens[-1])
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
