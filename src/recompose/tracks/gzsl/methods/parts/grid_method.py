"""The common base of the track's methods, with their classes and predictions."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import ClassVar

from torch import Tensor, nn

from recompose.params.method import MethodSettings


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


class GridMethod(nn.Module):
    """A method that scores classes by grids of regions [images, regions, channels].

    Methods are constructed by their classes, the channels of a region, and their settings.
    """

    settings_class: ClassVar[type[MethodSettings]]

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
