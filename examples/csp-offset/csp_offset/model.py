"""CSP with one learned offset for all states and one for all objects, instead of a vector for each word."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TextMethod
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings
from recompose.tracks.czsl.methods.settings import CspSettings


class CspOffset(TextMethod):
    """The token embeddings of the names, each plus one of two learned vectors: for states, or for objects."""

    settings_class = CspSettings

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: CspSettings) -> None:
        super().__init__(backbone)
        self.prompt = SlottedPrompt(backbone, settings.prompt)
        names = mean_token_embeddings(backbone, [*states, *objects])
        self.register_buffer("names", names, persistent=False)  # [S + O, D]
        self.offsets = nn.Parameter(torch.zeros(2, names.shape[1]))
        self.dropout = nn.Dropout(settings.dropout)
        self._objects_from = len(states)

    def encode_pairs(self, pairs: Tensor) -> Tensor:
        """Return the unit embeddings [P, E] of pairs [P, 2] of a state and an object."""
        states = self.dropout(self.names[pairs[:, 0]] + self.offsets[0])
        objects = self.dropout(self.names[pairs[:, 1] + self._objects_from] + self.offsets[1])
        return normalize(self.prompt.encode(self.backbone, self.prompt.context, states, objects), dim=-1)
