"""Duplex's label-conditioned graph of a mini-batch: what its images say of pairs, of the unseen ones among them, too
(Eqs. 12 to 16).

It is sparse by construction. Messages into the prototype of (m, n) come from three kinds of nodes, and those of the
first two are the same for all prototypes of a state, or an object: they are gathered once for each state and object of
the batch and then shared out. So the cost is that of the candidates and of the couples of images that make one.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

Edges = Literal["posteriors", "labels"]
# of positions [K] of images that give the state and [K] that give the object, counterfactual features [K, E] (Eq. 11)
Compose = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Factors:
    """What a batch knows of states, or of objects: labels [B], features [B, E] of unit length, and posteriors [B,
    names], both in 32 bits.
    """

    labels: Tensor
    features: Tensor
    posteriors: Tensor

    @property
    def own(self) -> Tensor:
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
        states, objects: what the batch knows.
        compose: what couples of them make.
        edges: ``posteriors`` as Eq. 15 prints it, every image sends its state to the prototypes of every candidate
            state, as much as it believes in it; ``labels``, only to those of its own state.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    with torch.autocast(pairs.device.type, enabled=False):  # sums over thousands of couples, which 16 bits would lose
        message, degree = _shared_out(pairs[:, 0], states, edges)
        of_objects, by_objects = _shared_out(pairs[:, 1], objects, edges)
        weight = states.own[first] * objects.own[second]
        message = (message + of_objects).index_add(0, place, weight[:, None] * composed)
        degree = (degree + by_objects).index_add(0, place, weight)
        return message / degree.clamp_min(torch.finfo(degree.dtype).tiny)[:, None]


def compose_alone(pairs: Tensor, states: Factors, objects: Factors, compose: Compose) -> Tensor:
    """Return the candidates [C, E] without a graph: the mean of the features that couples of images compose for each of
    them (Eq. 11), all counting alike.

    Args:
        pairs: [C, 2], from ``candidates``.
        states, objects: what the batch knows; posteriors are not asked.
        compose: what couples of them make.
    """
    first, second, place = _couples(pairs, states.labels, objects.labels)
    composed = compose(first, second).float()
    sums = composed.new_zeros(len(pairs), composed.shape[1]).index_add(0, place, composed)
    return sums / torch.bincount(place, minlength=len(pairs))[:, None]


def _shared_out(names: Tensor, factors: Factors, edges: Edges) -> tuple[Tensor, Tensor]:
    """Return the messages [C, E] that candidates get by their state, or object, and their weight [C]: equal parts of
    what the batch sends to that name.
    """
    present, place, shares = names.unique(return_inverse=True, return_counts=True)
    weights = factors.posteriors[:, present]
    if edges == "labels":
        weights = weights * one_hot(factors.labels, factors.posteriors.shape[1])[:, present]
    weights = weights / shares
    return (weights.T @ factors.features)[place], weights.sum(dim=0)[place]


def _couples(pairs: Tensor, states: Tensor, objects: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return positions [K] of images that give a state, [K] that give an object, and [K] of the candidate that they
    make.
    """
    table = torch.full((int(states.max()) + 1, int(objects.max()) + 1), -1, device=pairs.device)
    table[pairs[:, 0], pairs[:, 1]] = torch.arange(len(pairs), device=pairs.device)
    made = table[states[:, None], objects[None, :]]
    first, second = (made >= 0).nonzero(as_tuple=True)
    return first, second, made[first, second]
