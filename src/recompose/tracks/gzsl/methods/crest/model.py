"""CREST: grounding in both directions, each a view with evidence, and their fusion.

Details that the paper leaves open follow its predecessors: TransZero++ at c045f73 (both transformers), RCML at c9c5ab4
(evidence), MegaCRN at 5158190 (memory), DUET at 1166027 (contrast).
"""

from collections.abc import Mapping

from torch import Tensor
from torch.nn.functional import softplus

from recompose.tracks.gzsl.evidential import annealed_loss, evidential_loss, fuse, uncertainty
from recompose.tracks.gzsl.losses import self_calibration, visual_contrast
from recompose.tracks.gzsl.methods.crest.pattern_memory import PatternMemory, Recalled
from recompose.tracks.gzsl.methods.crest.settings import CrestSettings
from recompose.tracks.gzsl.methods.parts.attribute_grounding import AttributeGrounding
from recompose.tracks.gzsl.methods.parts.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.parts.visual_grounding import VisualGrounding


class CREST(CalibratedMethod):
    """A visual grounding transformer (VGT), in which attributes attend to regions, and an attribute grounding
    transformer (AGT), in which regions attend to attributes. An image's attribute scores are f = mu a^A + (1 - mu) a^V,
    or those of the only transformer.
    """

    settings_class = CrestSettings
    settings: CrestSettings

    def __init__(self, space: ClassSpace, channels: int, settings: CrestSettings) -> None:
        super().__init__(space, settings.grounding.normalise_words, settings)
        words, components = space.words.shape[1], settings.components
        self.vgt = VisualGrounding(channels, words, settings.grounding) if components.vgt else None
        self.agt = None
        if components.agt:
            bank = PatternMemory(settings.grounding.hidden, settings.memory) if components.memory else None
            self.agt = AttributeGrounding(channels, words, bank, settings.grounding)
            self.weights |= bank.weights if bank else {}
        self.weights |= {"evidence": settings.evidence.weight, "contrast": settings.contrast.weight}

    def views(self, grids: Tensor) -> tuple[dict[str, Tensor], Tensor | None, Recalled | None]:
        """Return images' attribute scores [B, A] by ``vgt`` and ``agt``, VGT's features [B, A, h], and the memory's
        recall.
        """
        regions, words = unit_regions(grids), self.words()
        views, features, recalled = {}, None, None
        if self.vgt is not None:
            views["vgt"], features = self.vgt(regions, words)
        if self.agt is not None:
            views["agt"], recalled = self.agt(regions, words)
        return views, features, recalled

    def fuse_views(self, views: Mapping[str, Tensor]) -> Tensor:
        """Return the fused attribute scores f [B, A]."""
        if len(views) == 1:
            return next(iter(views.values()))
        # no torch.lerp: with mixed precision the views may differ in type
        return (1 - self.settings.agt_weight) * views["vgt"] + self.settings.agt_weight * views["agt"]

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss`` (Eq. 17), and its parts: ``cross_entropy`` and ``calibration`` (Eq. 16), ``evidence`` (Eq.
        15), ``contrast`` (Eqs. 3, 4), ``separation`` and ``compactness`` (Eqs. 6, 7).
        """
        components, contrast = self.settings.components, self.settings.contrast
        views, features, recalled = self.views(grids)
        parts = self.classification(self.class_scores(self.fuse_views(views)), targets)
        if components.evidence:
            parts["evidence"] = self._evidential(views, targets, epoch + 1)
        if components.contrast and features is not None:
            pooled = features.mean(dim=1)
            parts["contrast"] = visual_contrast(pooled, targets, contrast.temperature, contrast.threshold)
        if self.agt is not None and self.agt.memory is not None and recalled is not None:
            parts |= self.agt.memory.losses(recalled)
        return self.add_total(parts)

    def calibration(self, scores: Tensor) -> Tensor:
        """Return the loss of self-calibration in the form that is set, without its weight."""
        return self_calibration(scores, self.seen, self.settings.calibration.mask, self.settings.calibration.form)

    def _evidential(self, views: Mapping[str, Tensor], targets: Tensor, epoch: int) -> Tensor:
        """Return the mean evidential loss of images; a single view has neither fusion nor conflict."""
        settings = self.settings.evidence
        evidence = [softplus(self.class_scores(attributes)) for attributes in views.values()]
        if settings.classes == "seen":
            evidence = [view[:, self.seen] for view in evidence]
            targets = self.seen.cumsum(0)[targets] - 1
        if len(evidence) == 1:
            return annealed_loss(evidence[0] + 1, targets, epoch, settings.annealing).mean()
        return evidential_loss(
            evidence[0],
            evidence[1],
            targets,
            epoch,
            gamma=settings.conflict_weight,
            annealing=settings.annealing,
            average=settings.reduction == "mean",
        ).mean()

    def opinions(self, views: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the evidence of each view for all classes [B, classes], softplus(a . z^c), and of their fusion,
        ``fused``.
        """
        evidence = {view: softplus(self.class_scores(attributes)) for view, attributes in views.items()}
        return evidence | {"fused": fuse(*evidence.values()) if len(evidence) == 2 else next(iter(evidence.values()))}

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores f . z^c (Eq. 18); the paths are those of each view, and the evidence of their fusion."""
        views, _, _ = self.views(grids)
        opinions = self.opinions(views)
        paths = {view: self.class_scores(attributes) for view, attributes in views.items()}
        return Prediction(
            self.class_scores(self.fuse_views(views)),
            paths | {"fused": opinions["fused"]},
            {view: uncertainty(evidence) for view, evidence in opinions.items()},
        )

    def attention(self, grids: Tensor) -> Tensor:
        """Return the attention of VGT's attributes to regions [images, attributes, regions]; each row sums to 1.

        Raises:
            NotImplementedError: there is no VGT.
        """
        if self.vgt is None:
            raise NotImplementedError("without its visual grounding transformer, CREST has no attention to regions")
        return self.vgt.attention(unit_regions(grids), self.words())

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes] by ``vgt``, ``agt`` and both, ``fused``."""
        views, _, _ = self.views(grids)
        return views | {"fused": self.fuse_views(views)}
