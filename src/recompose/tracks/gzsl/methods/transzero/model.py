"""TransZero: attributes that attend to regions (Chen et al., 2022; shiming-chen/TransZero at 7c10cdb)."""

from torch import Tensor
from torch.nn.functional import mse_loss

from recompose.tracks.gzsl.methods.parts.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.parts.visual_grounding import VisualGrounding
from recompose.tracks.gzsl.methods.transzero.settings import TranszeroSettings


class TransZero(CalibratedMethod):
    """The visual grounding transformer, trained with cross-entropy, self-calibration and a regression to attributes."""

    settings_class = TranszeroSettings

    def __init__(self, space: ClassSpace, channels: int, settings: TranszeroSettings) -> None:
        super().__init__(space, settings.grounding.normalise_words, settings)
        self.weights["regression"] = settings.regression_weight
        self.vgt = VisualGrounding(channels, space.words.shape[1], settings.grounding)

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
