"""Methods whose features of an image are the mean of its regions, as in the published features of 2048 channels."""

from torch import Tensor
from torch.nn.functional import normalize

from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, GridMethod, Prediction
from recompose.tracks.gzsl.methods.parts.settings import PooledSettings


class PooledMethod(GridMethod):
    """A method with scores x^T W z^c, of an image's features x and a class's attributes z^c."""

    W: Tensor  # [channels, attributes]

    def __init__(self, space: ClassSpace, settings: PooledSettings) -> None:
        super().__init__(space)
        self.normalise = settings.normalise

    def pool(self, grids: Tensor) -> Tensor:
        """Return features [images, channels] of grids [images, regions, channels]."""
        features = grids.mean(dim=1)
        return normalize(features, dim=-1) if self.normalise else features

    def scores(self, features: Tensor) -> Tensor:
        """Return scores [images, classes] of features [images, channels]."""
        return features @ self.W @ self.signatures.T

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores of images."""
        return Prediction(self.scores(self.pool(grids)))

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes]."""
        return {"fused": self.pool(grids) @ self.W}
