"""SJE: a bilinear map by the largest violation of a margin (Akata et al., 2015)."""

import torch
from torch import Tensor

from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear, weight_of_class
from recompose.tracks.gzsl.methods.sje.settings import SjeSettings


class SJE(Bilinear):
    """The cost of the largest violation."""

    settings_class = SjeSettings

    def cost(self, violations: Tensor) -> Tensor:
        return violations.amax(dim=1)

    def compared(self, embedded: Tensor) -> Tensor:
        """Standardise each image's embedding, for the choice alone."""
        deviation = embedded.std(dim=1, correction=0, keepdim=True)
        return (embedded - embedded.mean(dim=1, keepdim=True)) / torch.where(deviation > 0, deviation, 1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Choose the largest violation, of equal ones the first."""
        return weight_of_class(violations, violations.argmax(dim=1))
