"""ESZSL: a bilinear map in closed form (Romera-Paredes and Torr, 2015)."""

import torch
from torch import Tensor
from torch.nn.functional import one_hot

from recompose.tracks.gzsl.methods.base import ClassSpace, PooledMethod
from recompose.tracks.gzsl.methods.settings import EszslSettings


class ESZSL(PooledMethod):
    """The bilinear map V = (X X^T + gamma I)^-1 X Y S^T (S S^T + lambda I)^-1, of features X, labels Y, seen classes S.

    gamma is the weight of features, lambda that of classes. Labels of 1 and 0 reproduce the published accuracies
    (mvp18/Popular-ZSL-Algorithms at 2377647: 53.94 on CUB); in the paper they are 1 and -1.
    """

    settings_class = EszslSettings

    def __init__(self, space: ClassSpace, channels: int, settings: EszslSettings) -> None:
        super().__init__(space, channels, settings)
        self.settings = settings
        self.register_buffer("W", torch.zeros(channels, space.signatures.shape[1]))

    def fit(self, features: Tensor, targets: Tensor) -> None:
        """Solve for the map, in 64 bits.

        Args:
            features: [images, channels], from ``pool``.
            targets: [images], indices of seen classes among all.
        """
        x, s = features.double(), self.signatures[self.seen].double()
        y = one_hot(targets, len(self.seen))[:, self.seen].double()
        if self.settings.labels == "signed":
            y = 2 * y - 1
        feature_gram = x.T @ x + self.settings.feature_weight * torch.eye(x.shape[1], dtype=x.dtype, device=x.device)
        class_gram = s.T @ s + self.settings.class_weight * torch.eye(s.shape[1], dtype=s.dtype, device=s.device)
        solved = torch.linalg.solve(feature_gram, x.T @ y @ s)
        self.W.copy_(torch.linalg.solve(class_gram, solved.T).T)
