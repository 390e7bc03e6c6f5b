"""The common bases of the methods, with their classes and predictions."""

from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.tracks.building import WithSettings
from recompose.tracks.gzsl.methods.settings import PooledSettings


@dataclass(frozen=True)
class ClassSpace:
    """The classes of a method."""

    signatures: Tensor  # [classes, attributes], z^c, rows of unit length
    words: Tensor  # [attributes, width], a vector for each attribute
    seen: Tensor  # [classes] bool, the classes of training


@dataclass(frozen=True)
class Prediction:
    """A method's predictions for images."""

    scores: Tensor  # [images, classes], of all classes, without a calibration bias
    paths: dict[str, Tensor] = field(default_factory=dict)  # path -> the scores of that path alone [images, classes]
    uncertainties: dict[str, Tensor] = field(default_factory=dict)  # view -> [images]


class GridMethod(nn.Module, WithSettings):
    """A method that scores classes by grids of regions [images, regions, channels].

    Methods are constructed by their classes, the channels of a region, and their settings.
    """

    signatures: Tensor  # [classes, attributes]
    seen: Tensor  # [classes] bool

    def __init__(self, space: ClassSpace) -> None:
        super().__init__()
        self.register_buffer("signatures", space.signatures, persistent=False)
        self.register_buffer("seen", space.seen, persistent=False)

    def observe(self, grids: Iterable[Tensor]) -> None:
        """Prepare for training with the grids of all its images, in parts [images, regions, channels]."""

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return the loss of a batch as ``loss``, a scalar, and its parts by their names.

        Args:
            grids: [images, regions, channels].
            targets: [images], indices of seen classes among all.
            epoch: from 0, for annealed losses.
        """
        raise NotImplementedError

    def predict(self, grids: Tensor) -> Prediction:
        """Return the predictions for images; call it in evaluation mode."""
        raise NotImplementedError

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return the vectors of images that figures show, by the names of their spaces, each [images, ...]."""
        raise NotImplementedError

    def attention(self, grids: Tensor) -> Tensor:
        """Return the attention of each attribute to each region [images, attributes, regions], for figures."""
        raise NotImplementedError(f"{type(self).__name__} has no attention of attributes to regions")


class PooledMethod(GridMethod):
    """A method with scores x^T W z^c, of an image's features x and a class's attributes z^c."""

    W: Tensor  # [channels, attributes]
    mean: Tensor  # [channels], of the features of training
    deviation: Tensor  # [channels]

    def __init__(self, space: ClassSpace, channels: int, settings: PooledSettings) -> None:
        super().__init__(space)
        self.normalisation = settings.normalisation
        if self.normalisation == "standard":
            self.register_buffer("mean", torch.zeros(channels))
            self.register_buffer("deviation", torch.ones(channels))

    def observe(self, grids: Iterable[Tensor]) -> None:
        """Compute the mean and the standard deviation of each channel, 1 if it is constant."""
        if self.normalisation == "standard":
            features = torch.cat([part.mean(dim=1) for part in grids]).double()
            deviation = features.std(dim=0, correction=0)
            self.mean.copy_(features.mean(dim=0))
            self.deviation.copy_(torch.where(deviation > 0, deviation, 1))

    def pool(self, grids: Tensor) -> Tensor:
        """Return features [images, channels] of grids [images, regions, channels]."""
        features = grids.mean(dim=1)
        if self.normalisation == "standard":
            return (features - self.mean) / self.deviation
        return normalize(features, dim=-1) if self.normalisation == "length" else features

    def scores(self, features: Tensor) -> Tensor:
        """Return scores [images, classes] of features [images, channels]."""
        return features @ self.W @ self.signatures.T

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores of images."""
        return Prediction(self.scores(self.pool(grids)))

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes]."""
        return {"fused": self.pool(grids) @ self.W}
