"""ESZSL: a bilinear map in closed form (Romera-Paredes and Torr, 2015)."""

from typing import Literal

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace
from recompose.tracks.gzsl.methods.parts.pooled import PooledMethod


class ESZSL(PooledMethod):
    """The bilinear map V = (X X^T + gamma I)^-1 X Y S^T (S S^T + lambda I)^-1, of features X, labels Y, seen classes S.

    Args:
        space: the classes.
        channels: of regions.
        feature_weight: gamma.
        class_weight: lambda.
        labels: Y is 1 for an image's class and 0 for others, which reproduces the published accuracies
            (mvp18/Popular-ZSL-Algorithms at 2377647: 53.94 on CUB), or ``signed``, -1 for others, as in the paper.
        normalise: whether features are scaled to unit length.
    """

    def __init__(
        self,
        space: ClassSpace,
        channels: int,
        *,
        feature_weight: float,
        class_weight: float,
        labels: Literal["one-hot", "signed"],
        normalise: bool,
    ) -> None:
        super().__init__(space, normalise=normalise)
        self.feature_weight, self.class_weight, self.labels = feature_weight, class_weight, labels
        self.register_buffer("W", torch.zeros(channels, space.signatures.shape[1]))

    def fit(self, features: Tensor, targets: Tensor) -> None:
        """Solve for the map, in 64 bits.

        Args:
            features: [images, channels], from ``pool``.
            targets: [images], indices of seen classes among all.
        """
        x, s = features.double(), self.signatures[self.seen].double()
        y = one_hot(targets, len(self.seen))[:, self.seen].double()
        if self.labels == "signed":
            y = 2 * y - 1
        feature_gram = x.T @ x + self.feature_weight * torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        class_gram = s.T @ s + self.class_weight * torch.eye(s.shape[1], dtype=s.dtype, device=s.device)
        solved = torch.linalg.solve(feature_gram, x.T @ y @ s)
        self.W.copy_(torch.linalg.solve(class_gram, solved.T).T)
