"""ALE: a bilinear map by a weighted ranking of classes (Akata et al., 2016)."""

import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.ale.settings import AleSettings
from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear, weight_of_class


class ALE(Bilinear):
    """The cost of violations, weighted by the rank r that they give the image's class: 1 + 1/2 + ... + 1/r for their
    mean.
    """

    settings_class = AleSettings

    def cost(self, violations: Tensor) -> Tensor:
        rank = (violations > 0).sum(dim=1)
        steps = 1 / torch.arange(1, violations.shape[1] + 1, device=violations.device)
        weights = torch.cat([steps.new_zeros(1), steps.cumsum(0)])[rank] / rank.clamp(min=1)
        return weights * violations.sum(dim=1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Draw competing classes, with replacement and at most as many as there are, until one violates the margin.

        Of n classes, the one of draw k has the weight of the estimated rank r = n // k: 1 + 1/2 + ... + 1/r.
        """
        classes = self.seen.nonzero()[:, 0]
        count = len(classes) - 1
        draws = torch.randint(count, (len(targets), count), device=targets.device)
        draws += draws >= torch.searchsorted(classes, targets)[:, None]  # all but the target
        violates = violations.gather(1, classes[draws]) > 0
        first = violates.int().argmax(dim=1)
        chosen = classes[draws.gather(1, first[:, None])[:, 0]]
        harmonic = (1 / torch.arange(1, count + 1, dtype=violations.dtype, device=targets.device)).cumsum(0)
        return weight_of_class(violations, chosen, harmonic[count // (first + 1) - 1])
