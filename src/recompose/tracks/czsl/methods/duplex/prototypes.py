"""Duplex's visual prototypes: the codebook that has them, and the graphs of mini-batches that refine them.

A graph is sparse by construction. Messages to the prototype of (m, n) come from three kinds of nodes. Those of the
first two kinds are the same for all prototypes of a state, or an object: they are computed once for each state and
object of the batch and then distributed. So the cost is that of the candidates and of the couples of images that
compose one.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

from recompose.tracks.czsl.methods.settings import Edges, UnseenStart

# from the positions [K] of images that give the state and [K] that give the object to counterfactual features [K, E]
# (Eq. 11)
Compose = Callable[[Tensor, Tensor], Tensor]


class Codebook(nn.Module):
    """Prototypes [S, O, E] of unit length, updated in training and stored in checkpoints: a buffer, or a parameter that
    the optimiser changes, too.
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
        """Set the prototypes of seen pairs to the means of their embeddings [images, E]; labels [images, 2].

        A pair without images gets a prediction from the means of its state and its object; if neither has images, it
        stays.

        Args:
            unseen: ``sum``, the sum of the state's and the object's mean, both of unit length; ``centred``, the sum of
                these means less the grand mean, which both contain; ``least-squares``, the prediction of an additive
                model state + object, of the least norm, fitted to the means of seen pairs.
        """
        counts = self.prototypes.shape[:2]
        embeddings = normalize(embeddings.float(), dim=-1)
        pairs = labels[:, 0] * counts[1] + labels[:, 1]
        of_pair = normalize(_sums(embeddings, pairs, counts.numel()), dim=-1).view(self.prototypes.shape)
        has_images = (torch.bincount(pairs, minlength=counts.numel()) > 0).view(counts)
        if unseen == "sum":
            of_state, of_object = _directions(embeddings, labels, counts)
        elif unseen == "centred":
            of_state, of_object = _deviations(embeddings, labels, counts)
        else:
            of_state, of_object = _least_squares(of_pair, has_images)
        means = torch.where(has_images[:, :, None], of_pair, of_state[:, None] + of_object[None])
        is_predicted = (has_images.any(dim=1)[:, None] | has_images.any(dim=0)[None])[:, :, None]
        self.prototypes.copy_(torch.where(is_predicted, normalize(means, dim=-1), self.prototypes))

    def lookup(self, pairs: Tensor) -> Tensor:
        """Return the prototypes [pairs, E] of pairs [pairs, 2]."""
        return self.prototypes[pairs[:, 0], pairs[:, 1]]

    def blend(self, pairs: Tensor, refined: Tensor, momentum: float) -> Tensor:
        """Return prototypes [pairs, E] of these pairs, of unit length, moved towards refined ones (Eqs. 17 and 18)."""
        return normalize(momentum * self.lookup(pairs) + (1 - momentum) * refined, dim=-1)

    @torch.no_grad()
    def write(self, pairs: Tensor, prototypes: Tensor) -> None:
        """Store prototypes [pairs, E] of these pairs; the others stay."""
        self.prototypes[pairs[:, 0], pairs[:, 1]] = prototypes.to(self.prototypes.dtype)


def _directions(embeddings: Tensor, labels: Tensor, counts: torch.Size) -> tuple[Tensor, Tensor]:
    """Return the means of states [S, E] and of objects [O, E] at unit length; zero for names without images."""
    states, objects = (
        normalize(_sums(embeddings, names, count), dim=-1) for names, count in zip(labels.T, counts, strict=True)
    )
    return states, objects


def _deviations(embeddings: Tensor, labels: Tensor, counts: torch.Size) -> tuple[Tensor, Tensor]:
    """Return the deviations of the means of states [S, E] and objects [O, E] from the grand mean, which is added to the
    states' part; names without images have zero deviations.
    """
    grand = embeddings.mean(dim=0)
    parts = []
    for names, count in zip(labels.T, counts, strict=True):
        images = torch.bincount(names, minlength=count)[:, None]
        deviations = _sums(embeddings, names, count) / images.clamp(min=1) - grand
        parts.append(torch.where(images > 0, deviations, torch.zeros_like(deviations)))
    return parts[0] + grand, parts[1]


def _least_squares(of_pair: Tensor, has_images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parts of states [S, E] and of objects [O, E] whose sums are nearest to the means of seen pairs
    [S, O, E].
    """
    states, objects = has_images.nonzero(as_tuple=True)
    state_count, object_count = has_images.shape
    design = torch.cat([one_hot(states, state_count), one_hot(objects, object_count)], dim=1).double()
    parts = (torch.linalg.pinv(design) @ of_pair[has_images].double()).float()
    return parts[:state_count], parts[state_count:]


def _sums(rows: Tensor, groups: Tensor, count: int) -> Tensor:
    """Return the sum [count, E] of the rows [rows, E] of each group; groups are [rows]."""
    return torch.zeros(count, rows.shape[1], device=rows.device).index_add(0, groups, rows)


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
