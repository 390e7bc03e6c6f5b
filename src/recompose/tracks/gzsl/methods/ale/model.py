"""ALE: a bilinear map by a weighted ranking of classes (Akata et al., 2016)."""

import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.ale.settings import AleSettings
from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear


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
