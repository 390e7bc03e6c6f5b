"""Methods whose features of an image are the mean of its regions, as in the published features of 2048 channels."""

from collections.abc import Iterable

import torch
from torch import Tensor
from torch.nn.functional import normalize

from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, GridMethod, Prediction
from recompose.tracks.gzsl.methods.parts.settings import PooledSettings


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
