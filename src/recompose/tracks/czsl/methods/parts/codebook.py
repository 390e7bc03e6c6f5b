"""The global codebook of visual prototypes, one for every state with every object (Duplex, Eq. 10)."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

Initial = Literal["means", "random"]


class Codebook(nn.Module):
    """Prototypes [S, O, E] of unit length: a buffer, written to in training and kept in checkpoints.

    Several processes of one run keep what the first of them writes.
    """

    prototypes: Tensor

    def __init__(self, states: int, objects: int, width: int) -> None:
        super().__init__()
        self.register_buffer("prototypes", normalize(torch.randn(states, objects, width), dim=-1))

    def begin_at_means(self, embeddings: Tensor, labels: Tensor) -> None:
        """Begin at the means of the embeddings [images, E] of each seen pair; labels [images, 2].

        Of a pair that no image shows, at the sum of the means of its state and of its object; where images show neither, it stays.
        """
        count, others, width = self.prototypes.shape
        embeddings = normalize(embeddings.float(), dim=-1)
        states, objects = labels.T
        of_state = normalize(_sums(embeddings, states, count), dim=-1)
        of_object = normalize(_sums(embeddings, objects, others), dim=-1)
        pairs = states * others + objects
        of_pair = _sums(embeddings, pairs, count * others).view(count, others, width)
        shown = torch.bincount(pairs, minlength=count * others).view(count, others, 1) > 0
        means = torch.where(shown, of_pair, of_state[:, None] + of_object[None])
        known = means.norm(dim=-1, keepdim=True) > 0
        self.prototypes.copy_(torch.where(known, normalize(means, dim=-1), self.prototypes))

    def of(self, pairs: Tensor) -> Tensor:
        """The prototypes [pairs, E] of pairs [pairs, 2]."""
        return self.prototypes[pairs[:, 0], pairs[:, 1]]

    def updated(self, pairs: Tensor, refined: Tensor, momentum: float) -> Tensor:
        """Prototypes [pairs, E] of these pairs, of unit length, moved towards refined ones (Eqs. 17 and 18)."""
        return normalize(momentum * self.of(pairs) + (1 - momentum) * refined, dim=-1)

    @torch.no_grad()
    def write(self, pairs: Tensor, prototypes: Tensor) -> None:
        """Commit prototypes [pairs, E] of these pairs; the others stay."""
        self.prototypes[pairs[:, 0], pairs[:, 1]] = prototypes.to(self.prototypes.dtype)


def _sums(rows: Tensor, groups: Tensor, count: int) -> Tensor:
    """The sum [count, E] of the rows of each group."""
    return torch.zeros(count, rows.shape[1], device=rows.device).index_add(0, groups, rows)
