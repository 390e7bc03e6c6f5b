"""TransZero: attributes attend to regions (Chen et al., 2022). TransZero++: regions attend to attributes, too, and both
transformers teach each other (Chen et al., 2023).

| part | here | released code |
|---|---|---|
| relative positions of regions | ``grounding.relations`` | TransZero at 7c10cdb |
| encoder and decoder | ``grounding.Encoder``, ``grounding.Decoder`` | TransZero at 7c10cdb |
| attributes to regions, and their scores | ``grounding.VisualGrounding`` | TransZero at 7c10cdb |
| regions to attributes, and their scores | ``grounding.AttributeGrounding`` | TransZero++ at c045f73 |
| cross-entropy | ``calibrated.cross_entropy`` | TransZero at 7c10cdb |
| self-calibration | ``calibrated.self_calibration`` | TransZero at 7c10cdb |
| TransZero's loss, with the regression to attributes | ``TransZero.loss`` | TransZero at 7c10cdb |
| TransZero++'s loss, with both agreements | ``TransZeroPlus.loss`` | TransZero++ at c045f73, ``train_cub.py:49`` |
| TransZero++'s scores | ``TransZeroPlus.fuse_views`` | TransZero++ at c045f73 |

Repositories: shiming-chen/TransZero and shiming-chen/TransZero_pp.
"""

from torch import Tensor
from torch.nn.functional import mse_loss

from recompose.tracks.gzsl.methods.base import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.calibrated import unit_regions
from recompose.tracks.gzsl.methods.grounding import AttributeGrounding, GroundedMethod, VisualGrounding
from recompose.tracks.gzsl.methods.settings import TranszeroPlusSettings, TranszeroSettings


class TransZero(GroundedMethod):
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


class TransZeroPlus(GroundedMethod):
    """Two transformers: attributes that attend to regions (``vgt``), and regions that attend to attributes (``agt``).

    Each has TransZero's three losses, and both agree in attribute scores and in class scores.
    """

    settings_class = TranszeroPlusSettings
    settings: TranszeroPlusSettings

    def __init__(self, space: ClassSpace, channels: int, settings: TranszeroPlusSettings) -> None:
        super().__init__(space, settings.grounding.normalise_words, settings)
        words = space.words.shape[1]
        self.vgt = VisualGrounding(channels, words, settings.grounding)
        self.agt = AttributeGrounding(channels, words, settings.grounding)
        losses = {**self.weights, "regression": settings.regression_weight}
        self.weights = {
            **{f"vgt_{name}": weight for name, weight in losses.items()},
            **{f"agt_{name}": settings.agt_loss_weight * weight for name, weight in losses.items()},
            "attribute_agreement": settings.attribute_agreement,
            "class_agreement": settings.class_agreement,
        }

    def views(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [B, A] by each transformer."""
        regions, words = unit_regions(grids), self.words()
        return {"vgt": self.vgt(regions, words)[0], "agt": self.agt(regions, words)}

    def fuse_views(self, views: dict[str, Tensor]) -> Tensor:
        """Return the attribute scores [B, A] of both transformers, weighted."""
        return self.settings.vgt_weight * views["vgt"] + (1 - self.settings.vgt_weight) * views["agt"]

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss``, and its parts: for each transformer ``cross_entropy``, ``calibration`` and ``regression``
        after its name, and the agreements.
        """
        views = self.views(grids)
        scores = {view: self.class_scores(attributes) for view, attributes in views.items()}
        parts: dict[str, Tensor] = {}
        for view, attributes in views.items():
            losses = self.classification(scores[view], targets)
            losses["regression"] = mse_loss(attributes, self.signatures[targets])
            parts |= {f"{view}_{name}": loss for name, loss in losses.items()}
        parts["attribute_agreement"] = mse_loss(views["vgt"], views["agt"])
        parts["class_agreement"] = mse_loss(scores["vgt"], scores["agt"])
        return self.add_total(parts)

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores of images, by both transformers and by each."""
        views = self.views(grids)
        paths = {view: self.class_scores(attributes) for view, attributes in views.items()}
        return Prediction(self.class_scores(self.fuse_views(views)), paths)

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes] by each transformer and both, ``fused``."""
        views = self.views(grids)
        return views | {"fused": self.fuse_views(views)}
