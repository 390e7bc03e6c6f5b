"""The global codebook of visual prototypes, one for every state with every object (Duplex, Eq. 10)."""

from typing import Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

Initial = Literal["means", "random"]
UnseenStart = Literal["sum", "centred", "least-squares"]


class Codebook(nn.Module):
    """Prototypes [S, O, E] of unit length, written to in training and kept in checkpoints: a buffer, or a parameter
    that the optimiser moves, too.
    """

    prototypes: Tensor

    def __init__(self, states: int, objects: int, width: int, *, trained: bool = False) -> None:
        super().__init__()
        prototypes = normalize(torch.randn(states, objects, width), dim=-1)
        if trained:
            self.prototypes = nn.Parameter(prototypes)
        else:
            self.register_buffer("prototypes", prototypes)

    @torch.no_grad()
    def begin_at_means(self, embeddings: Tensor, labels: Tensor, unseen: UnseenStart = "sum") -> None:
        """Begin at the means of the embeddings [images, E] of each seen pair; labels [images, 2].

        Of a pair that no image shows, at what the means of its state and of its object say; where images show neither,
        it stays.

        Args:
            unseen: ``sum``, the sum of the state's and the object's mean, both of unit length; ``centred``, the sum of
                these means less the grand mean, which both hold; ``least-squares``, of an additive model state +
                object, of the least norm, fitted to the means of seen pairs.
        """
        count, others, width = self.prototypes.shape
        embeddings = normalize(embeddings.float(), dim=-1)
        states, objects = labels.T
        pairs = states * others + objects
        of_pair = normalize(_sums(embeddings, pairs, count * others), dim=-1).view(count, others, width)
        shown = (torch.bincount(pairs, minlength=count * others) > 0).view(count, others)
        of_state, of_object = {"sum": _directions, "centred": _centred, "least-squares": _least_squares}[unseen](
            embeddings, labels, of_pair, shown
        )
        means = torch.where(shown[:, :, None], of_pair, of_state[:, None] + of_object[None])
        known = (shown.any(dim=1)[:, None] | shown.any(dim=0)[None])[:, :, None]
        self.prototypes.copy_(torch.where(known, normalize(means, dim=-1), self.prototypes))

    def of(self, pairs: Tensor) -> Tensor:
        """Return the prototypes [pairs, E] of pairs [pairs, 2]."""
        return self.prototypes[pairs[:, 0], pairs[:, 1]]

    def updated(self, pairs: Tensor, refined: Tensor, momentum: float) -> Tensor:
        """Return prototypes [pairs, E] of these pairs, of unit length, moved towards refined ones (Eqs. 17 and 18)."""
        return normalize(momentum * self.of(pairs) + (1 - momentum) * refined, dim=-1)

    @torch.no_grad()
    def write(self, pairs: Tensor, prototypes: Tensor) -> None:
        """Commit prototypes [pairs, E] of these pairs; the others stay."""
        self.prototypes[pairs[:, 0], pairs[:, 1]] = prototypes.to(self.prototypes.dtype)


def _sums(rows: Tensor, groups: Tensor, count: int) -> Tensor:
    """Return the sum [count, E] of the rows of each group."""
    return torch.zeros(count, rows.shape[1], device=rows.device).index_add(0, groups, rows)


def _directions(embeddings: Tensor, labels: Tensor, of_pair: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
    """Return the means of states [S, E] and of objects [O, E] at unit length; zero where images show none."""
    count, others, _width = of_pair.shape
    states, objects = labels.T
    return normalize(_sums(embeddings, states, count), dim=-1), normalize(_sums(embeddings, objects, others), dim=-1)


def _centred(embeddings: Tensor, labels: Tensor, of_pair: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
    """What means of states [S, E], and of objects [O, E], have beyond the grand mean, and to the states' it is
    added; names without images have nothing.
    """
    grand = embeddings.mean(dim=0)
    parts = []
    for names, count in zip(labels.T, of_pair.shape[:2], strict=True):
        images = torch.bincount(names, minlength=count)[:, None]
        beyond = _sums(embeddings, names, count) / images.clamp(min=1) - grand
        parts.append(torch.where(images > 0, beyond, torch.zeros_like(beyond)))
    return parts[0] + grand, parts[1]


def _least_squares(_: Tensor, __: Tensor, of_pair: Tensor, shown: Tensor) -> tuple[Tensor, Tensor]:
    """Return parts of states [S, E] and of objects [O, E], whose sums are nearest to the means of seen pairs."""
    states, objects = shown.nonzero(as_tuple=True)
    count, others, _width = of_pair.shape
    design = torch.cat([one_hot(states, count), one_hot(objects, others)], dim=1).double()
    parts = (torch.linalg.pinv(design) @ of_pair[shown].double()).float()
    return parts[:count], parts[count:]
