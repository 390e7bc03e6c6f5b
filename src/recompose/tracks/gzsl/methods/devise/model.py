"""DeViSE: a bilinear map by all violations of a margin (Frome et al., 2013)."""

from torch import Tensor

from recompose.tracks.gzsl.methods.devise.settings import DeviseSettings
from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear, weight_of_class


class DEVISE(Bilinear):
    """The cost of all violations."""

    settings_class = DeviseSettings

    def cost(self, violations: Tensor) -> Tensor:
        return violations.sum(dim=1)

    def weights(self, violations: Tensor, targets: Tensor) -> Tensor:
        """Choose the first violation in the order of classes."""
        return weight_of_class(violations, (violations > 0).int().argmax(dim=1))
