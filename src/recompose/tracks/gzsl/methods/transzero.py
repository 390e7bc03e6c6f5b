"""TransZero: attributes that attend to regions (Chen et al., 2022; shiming-chen/TransZero at 7c10cdb)."""

from torch import Tensor
from torch.nn.functional import mse_loss

from recompose.tracks.building import Settings
from recompose.tracks.gzsl.losses import Among
from recompose.tracks.gzsl.methods.parts.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.parts.visual_grounding import VisualGrounding


class TransZero(CalibratedMethod):
    """The visual grounding transformer, trained with cross-entropy, self-calibration and a regression to attributes.

    Args:
        space: the classes.
        channels: of regions.
        grounding: ``normalise_words``, and the settings of the transformer.
        cross_entropy: the classes that compete in it.
        regression_weight: of the mean squared distance to the class's attributes.
        calibration: ``weight`` and ``mask``.
    """

    def __init__(
        self,
        space: ClassSpace,
        channels: int,
        *,
        grounding: Settings,
        cross_entropy: Among,
        regression_weight: float,
        calibration: Settings,
    ) -> None:
        transformer = dict(grounding)
        normalise_words = transformer.pop("normalise_words")
        super().__init__(space, normalise_words=normalise_words, cross_entropy=cross_entropy, calibration=calibration)
        self.weights["regression"] = regression_weight
        self.vgt = VisualGrounding(channels, space.words.shape[1], **transformer)

    def attributes(self, grids: Tensor) -> Tensor:
        """Return images' attribute scores [B, A]."""
        return self.vgt(unit_regions(grids), self.words())[0]

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss``, and its parts ``cross_entropy``, ``calibration`` and ``regression``."""
        attributes = self.attributes(grids)
        parts = self.classification(self.class_scores(attributes), targets)
        parts["regression"] = mse_loss(attributes, self.signatures[targets])
        return self.add_total(parts)

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores of images."""
        return Prediction(self.class_scores(self.attributes(grids)))

    def attention(self, grids: Tensor) -> Tensor:
        """Return the attention of attributes to regions [images, attributes, regions]; each row sums to 1."""
        return self.vgt.attention(unit_regions(grids), self.words())

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes]."""
        return {"fused": self.attributes(grids)}
