"""A bilinear map between features and attributes with three ranking losses: ALE (Akata et al., 2016), DeViSE (Frome et
al., 2013), SJE (Akata et al., 2015), compared as in Xian et al. (2019).
"""

from abc import abstractmethod

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot

from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace
from recompose.tracks.gzsl.methods.parts.pooled import PooledMethod
from recompose.tracks.gzsl.methods.parts.settings import BilinearSettings


class Bilinear(PooledMethod):
    """A bilinear map by which the score of an image's class should exceed those of other seen classes by a margin."""

    def __init__(self, space: ClassSpace, channels: int, settings: BilinearSettings) -> None:
        super().__init__(space, settings)
        self.margin = settings.margin
        self.W = nn.Parameter(nn.init.xavier_normal_(torch.empty(channels, space.signatures.shape[1])))

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the mean over images of the cost of their violations."""
        scores = self.scores(self.pool(grids))
        lead = scores.gather(1, targets[:, None]) - scores
        competitors = self.seen & ~one_hot(targets, scores.shape[1]).bool()
        return {"loss": self.cost((self.margin - lead).clamp(min=0) * competitors).mean()}

    @abstractmethod
    def cost(self, violations: Tensor) -> Tensor:
        """Return the cost [images] of violations of the margin [images, classes], which are 0 if the margin is kept."""
