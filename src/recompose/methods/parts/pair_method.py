"""What all methods share that compare an image with the texts of state-object pairs."""

from abc import ABC, abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from recompose.backbones.clip import Backbone
from recompose.backbones.words import readable


class PairMethod(nn.Module, ABC):
    """A frozen image tower, texts of pairs, and scores: cosines times CLIP's factor.

    E is the width of the joint space. A pair is given by the index of its state and the index of its object.
    """

    def __init__(self, backbone: Backbone) -> None:
        super().__init__()
        self.backbone = backbone.requires_grad_(False)

    def train(self, mode: bool = True) -> "PairMethod":
        """Switch to training; the frozen towers stay as they are."""
        super().train(mode)
        self.backbone.eval()
        return self

    @abstractmethod
    def encode_pairs(self, pairs: Tensor) -> Tensor:
        """Text embeddings [pairs, E], of unit length, of pairs [pairs, 2]."""

    def score(self, images: Tensor, texts: Tensor) -> Tensor:
        """Scores [images, pairs] of image embeddings [images, E], of any length, and texts of unit length [pairs, E].

        In 32 bits also where towers compute in fewer: cosines times 100 in 16 bits would tie pairs that differ.
        """
        with torch.autocast(images.device.type, enabled=False):
            return self.backbone.logit_scale.float() * normalize(images.float(), dim=-1) @ texts.float().T

    def loss(self, images: Tensor, targets: Tensor, pairs: Tensor) -> Tensor:
        """The cross-entropy over ``pairs`` [pairs, 2] of image embeddings [images, E] with labels ``targets`` [images]."""
        return cross_entropy(self.score(images, self.encode_pairs(pairs)), targets)


@torch.no_grad()
def mean_token_embeddings(backbone: Backbone, names: list[str]) -> Tensor:
    """The mean of the token embeddings [names, D] of each name, its start and end of text left out."""
    ids = backbone.tokens([readable(name) for name in names])
    end = ids.argmax(dim=-1)
    return torch.stack([backbone.embed_tokens(row[1:stop]).mean(dim=0) for row, stop in zip(ids, end, strict=True)])
