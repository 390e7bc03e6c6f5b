"""SJE: a bilinear map by the largest violation of a margin (Akata et al., 2015)."""

from torch import Tensor

from recompose.tracks.gzsl.methods.parts.bilinear import Bilinear
from recompose.tracks.gzsl.methods.sje.settings import SjeSettings


class SJE(Bilinear):
    """The cost of the largest violation."""

    settings_class = SjeSettings

    def cost(self, violations: Tensor) -> Tensor:
        return violations.amax(dim=1)
