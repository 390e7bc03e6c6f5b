"""CREST: grounding in both directions, each a view with evidence, and their fusion.

Details that the paper leaves open follow its predecessors: TransZero++ at c045f73 (both transformers), RCML at c9c5ab4
(evidence), MegaCRN at 5158190 (memory), DUET at 1166027 (contrast).
"""

from collections.abc import Mapping
from typing import Any, Literal

from torch import Tensor
from torch.nn.functional import softplus

from recompose.tracks.building import Settings
from recompose.tracks.gzsl.evidential import annealed_loss, evidential_loss, fuse, uncertainty
from recompose.tracks.gzsl.losses import Among, visual_contrast
from recompose.tracks.gzsl.methods.parts.attribute_grounding import AttributeGrounding
from recompose.tracks.gzsl.methods.parts.calibrated import CalibratedMethod, unit_regions
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, Prediction
from recompose.tracks.gzsl.methods.parts.pattern_memory import PatternMemory, Recalled
from recompose.tracks.gzsl.methods.parts.visual_grounding import VisualGrounding


class CREST(CalibratedMethod):
    """A visual grounding transformer (VGT), in which attributes attend to regions, and an attribute grounding
    transformer (AGT), in which regions attend to attributes. An image's attribute scores are f = mu a^A + (1 - mu) a^V,
    or those of the only transformer.

    Args:
        space: the classes.
        channels: of regions.
        components: ``vgt``, ``agt``, ``evidence``, ``contrast`` and ``memory``, whether each of them is used.
        grounding: ``normalise_words``, ``region_scores``, ``region_attributes``, and the settings of both transformers.
        agt_weight: mu.
        cross_entropy: the classes that compete in it.
        calibration: ``weight``, ``mask`` and ``form``.
        evidence: ``weight``, ``conflict_weight``, ``annealing``, ``classes`` and ``reduction``.
        contrast: ``weight``, ``temperature`` and ``threshold``.
        memory: the settings of ``PatternMemory``.
    """

    def __init__(
        self,
        space: ClassSpace,
        channels: int,
        *,
        components: Mapping[str, bool],
        grounding: Settings,
        agt_weight: float,
        cross_entropy: Among,
        calibration: Settings,
        evidence: Settings,
        contrast: Settings,
        memory: Settings,
    ) -> None:
        transformer = dict(grounding)
        normalise_words = transformer.pop("normalise_words")
        maps = {name: transformer.pop(name) for name in ("region_scores", "region_attributes")}
        super().__init__(space, normalise_words=normalise_words, cross_entropy=cross_entropy, calibration=calibration)
        words = space.words.shape[1]
        self.vgt = VisualGrounding(channels, words, **transformer) if components["vgt"] else None
        self.agt = None
        if components["agt"]:
            bank = PatternMemory(transformer["hidden"], **memory) if components["memory"] else None
            self.agt = AttributeGrounding(channels, words, memory=bank, **maps, **transformer)
            self.weights |= bank.weights if bank else {}
        if self.vgt is None and self.agt is None:
            raise ValueError("CREST needs at least one of its transformers")
        self.agt_weight = agt_weight
        self.evidence = _without_weight(evidence) if components["evidence"] else None
        self.contrast = _without_weight(contrast) if components["contrast"] else None
        self.weights |= {"evidence": evidence["weight"], "contrast": contrast["weight"]}

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
        return (1 - self.agt_weight) * views["vgt"] + self.agt_weight * views["agt"]

    def loss(self, grids: Tensor, targets: Tensor, epoch: int) -> dict[str, Tensor]:
        """Return ``loss`` (Eq. 17), and its parts: ``cross_entropy`` and ``calibration`` (Eq. 16), ``evidence`` (Eq.
        15), ``contrast`` (Eqs. 3, 4), ``separation`` and ``compactness`` (Eqs. 6, 7).
        """
        views, features, recalled = self.views(grids)
        parts = self.classification(self.class_scores(self.fuse_views(views)), targets)
        if self.evidence is not None:
            parts["evidence"] = self._evidential(views, targets, epoch + 1, **self.evidence)
        if self.contrast is not None and features is not None:
            parts["contrast"] = visual_contrast(features.mean(dim=1), targets, **self.contrast)
        if self.agt is not None and self.agt.memory is not None and recalled is not None:
            parts |= self.agt.memory.losses(recalled)
        return self.add_total(parts)

    def _evidential(
        self,
        views: Mapping[str, Tensor],
        targets: Tensor,
        epoch: int,
        *,
        conflict_weight: float,
        annealing: int,
        classes: Among,
        reduction: Literal["mean", "sum"],
    ) -> Tensor:
        """Return the mean evidential loss of images; a single view has neither fusion nor conflict."""
        evidence = [softplus(self.class_scores(attributes)) for attributes in views.values()]
        if classes == "seen":
            evidence = [view[:, self.seen] for view in evidence]
            targets = self.seen.cumsum(0)[targets] - 1
        if len(evidence) == 1:
            return annealed_loss(evidence[0] + 1, targets, epoch, annealing).mean()
        options: Any = {"gamma": conflict_weight, "annealing": annealing, "average": reduction == "mean"}
        return evidential_loss(evidence[0], evidence[1], targets, epoch, **options).mean()

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
            ValueError: there is no VGT.
        """
        if self.vgt is None:
            raise ValueError("CREST without its visual grounding transformer has no attention of attributes to regions")
        return self.vgt.attention(unit_regions(grids), self.words())

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes] by ``vgt``, ``agt`` and both, ``fused``."""
        views, _, _ = self.views(grids)
        return views | {"fused": self.fuse_views(views)}


def _without_weight(section: Settings) -> dict[str, Any]:
    """Return a section of settings without its weight."""
    return {name: value for name, value in section.items() if name != "weight"}
