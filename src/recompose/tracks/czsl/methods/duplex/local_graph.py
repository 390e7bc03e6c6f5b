"""Duplex's label-conditioned graph of a mini-batch: messages of its images to the prototypes of pairs, unseen ones
included (Eqs. 12 to 16).

The graph is sparse by construction. Messages to the prototype of (m, n) come from three kinds of nodes. Those of the
first two kinds are the same for all prototypes of a state, or an object: they are computed once for each state and
object of the batch and then distributed. So the cost is that of the candidates and of the couples of images that
compose one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from recompose.tracks.czsl.methods.duplex.settings import Edges

# from the positions [K] of images that give the state and [K] that give the object to counterfactual features [K, E]
# (Eq. 11)
Compose = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Factors:
    """The states, or the objects, of a batch: labels [B], features [B, E] of unit length, and posteriors [B, names],
    both in 32 bits.
    """

    labels: Tensor
    features: Tensor
    posteriors: Tensor

    @property
    def own_posterior(self) -> Tensor:
        """The posterior [B] of each image's own label."""
        return self.posteriors.gather(1, self.labels[:, None]).squeeze(1)


def candidates(states: Tensor, objects: Tensor, allowed: Tensor) -> Tensor:
    """Return the pairs [C, 2] of states and objects of a batch that are among the target pairs (Eqs. 12 and 13).

    Labels are [B] each, the target pairs [S, O].
    """
    rows, columns = states.unique(), objects.unique()
    row, column = allowed[rows][:, columns].nonzero(as_tuple=True)
    return torch.stack([rows[row], columns[column]], dim=1)


def aggregate(pairs: Tensor, states: Factors, objects: Factors, compose: Compose, edges: Edges) -> Tensor:
    """Return refined prototypes [C, E] of the candidates: the degree-normalised sum of their messages (Eqs. 14 to 16).

    Args:
        pairs: [C, 2], from ``candidates``.
        states, objects: the batch's factors.
        compose: the features of couples of images.
        edges: ``posteriors`` as Eq. 15 prints it, every image sends its state to the prototypes of every candidate
            state, weighted by its posterior; ``labels``, only to those of its own state.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    with torch.autocast(pairs.device.type, enabled=False):  # sums over thousands of couples lose precision in 16 bits
        message, degree = _distribute(pairs[:, 0], states, edges)
        of_objects, by_objects = _distribute(pairs[:, 1], objects, edges)
        weight = states.own_posterior[first] * objects.own_posterior[second]
        message = (message + of_objects).index_add(0, place, weight[:, None] * composed)
        degree = (degree + by_objects).index_add(0, place, weight)
        return message / degree.clamp_min(torch.finfo(degree.dtype).tiny)[:, None]


def compose_alone(pairs: Tensor, states: Factors, objects: Factors, compose: Compose) -> Tensor:
    """Return the candidates [C, E] without a graph: the mean of the features that couples of images compose for each
    candidate (Eq. 11), with equal weights.

    Args:
        pairs: [C, 2], from ``candidates``.
        states, objects: the batch's factors; posteriors are not used.
        compose: the features of couples of images.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    sums = composed.new_zeros(len(pairs), composed.shape[1]).index_add(0, place, composed)
    return sums / torch.bincount(place, minlength=len(pairs))[:, None]


def _distribute(names: Tensor, factors: Factors, edges: Edges) -> tuple[Tensor, Tensor]:
    """Return the messages [C, E] that candidates get through their state, or object, and their weight [C]: equal parts
    of the batch's messages to that name.
    """
    present, place, shares = names.unique(return_inverse=True, return_counts=True)
    weights = factors.posteriors[:, present]
    if edges == "labels":
        weights = weights * one_hot(factors.labels, factors.posteriors.shape[1])[:, present]
    weights = weights / shares
    return (weights.T @ factors.features)[place], weights.sum(dim=0)[place]


def _couples(pairs: Tensor, states: Tensor, objects: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return the positions [K] of images that give a state, [K] that give an object, and [K] of the candidate that they
    compose.
    """
    table = torch.full((int(states.max()) + 1, int(objects.max()) + 1), -1, device=pairs.device)
    table[pairs[:, 0], pairs[:, 1]] = torch.arange(len(pairs), device=pairs.device)
    made = table[states[:, None], objects[None, :]]
    first, second = (made >= 0).nonzero(as_tuple=True)
    return first, second, made[first, second]
