"""The global codebook of visual prototypes, one for every state with every object (Duplex, Eq. 10)."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, one_hot

from recompose.tracks.czsl.methods.duplex.settings import UnseenStart


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
        state_count, object_count, width = self.prototypes.shape
        embeddings = normalize(embeddings.float(), dim=-1)
        states, objects = labels.T
        pairs = states * object_count + objects
        of_pair = normalize(_sums(embeddings, pairs, state_count * object_count), dim=-1).view(
            state_count, object_count, width
        )
        has_images = (torch.bincount(pairs, minlength=state_count * object_count) > 0).view(state_count, object_count)
        of_state, of_object = {"sum": _directions, "centred": _centre, "least-squares": _least_squares}[unseen](
            embeddings, labels, of_pair, has_images
        )
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


def _sums(rows: Tensor, groups: Tensor, state_count: int) -> Tensor:
    """Return the sum [count, E] of the rows of each group."""
    return torch.zeros(state_count, rows.shape[1], device=rows.device).index_add(0, groups, rows)


def _directions(embeddings: Tensor, labels: Tensor, of_pair: Tensor, _: Tensor) -> tuple[Tensor, Tensor]:
    """Return the means of states [S, E] and of objects [O, E] at unit length; zero for names without images."""
    state_count, object_count, _width = of_pair.shape
    states, objects = labels.T
    return normalize(_sums(embeddings, states, state_count), dim=-1), normalize(
        _sums(embeddings, objects, object_count), dim=-1
    )


def _centre(embeddings: Tensor, labels: Tensor, of_pair: Tensor, has_images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the deviations of the means of states [S, E] and objects [O, E] from the grand mean, which is added to the
    states' part; names without images have zero deviations.
    """
    grand = embeddings.mean(dim=0)
    parts = []
    for names, state_count in zip(labels.T, of_pair.shape[:2], strict=True):
        images = torch.bincount(names, minlength=state_count)[:, None]
        deviations = _sums(embeddings, names, state_count) / images.clamp(min=1) - grand
        parts.append(torch.where(images > 0, deviations, torch.zeros_like(deviations)))
    return parts[0] + grand, parts[1]


def _least_squares(_: Tensor, __: Tensor, of_pair: Tensor, has_images: Tensor) -> tuple[Tensor, Tensor]:
    """Return the parts of states [S, E] and of objects [O, E] whose sums are nearest to the means of seen pairs."""
    states, objects = has_images.nonzero(as_tuple=True)
    state_count, object_count, _width = of_pair.shape
    design = torch.cat([one_hot(states, state_count), one_hot(objects, object_count)], dim=1).double()
    parts = (torch.linalg.pinv(design) @ of_pair[has_images].double()).float()
    return parts[:state_count], parts[state_count:]
