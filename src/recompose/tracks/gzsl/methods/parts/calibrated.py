"""The common base of DAZLE, TransZero and CREST: trained words, and self-calibration."""

from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import add

from torch import Tensor
from torch.nn.functional import normalize

from recompose.tracks.gzsl.losses import cross_entropy, self_calibration
from recompose.tracks.gzsl.methods.parts.attribute_words import AttributeWords
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, GridMethod
from recompose.tracks.gzsl.methods.parts.settings import CalibratedSettings


class CalibratedMethod(GridMethod):
    """A method whose scores of classes are a . z^c, from an image's attribute scores a.

    Args:
        space: the classes.
        normalise_words: whether vectors of attributes keep unit length.
        settings: the classes of the cross-entropy, self-calibration, and the treatment of negative attributes.
    """

    def __init__(self, space: ClassSpace, normalise_words: bool, settings: CalibratedSettings) -> None:
        if settings.negative_attributes == "zero":  # train_awa2.py:26 of TransZero at 7c10cdb and of TransZero++
            space = replace(space, signatures=normalize(space.signatures.clamp(min=0), dim=1))
        super().__init__(space)
        self.words = AttributeWords(space.words, normalised=normalise_words)
        self.settings = settings
        self.weights = {"cross_entropy": 1.0, "calibration": settings.calibration.weight}

    def class_scores(self, attributes: Tensor) -> Tensor:
        """Return scores [B, classes] from images' attribute scores [B, A]."""
        return attributes @ self.signatures.T

    def classification(self, scores: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Return ``cross_entropy``, and ``calibration`` if it has a weight."""
        parts = {"cross_entropy": cross_entropy(scores, targets, self.seen, self.settings.cross_entropy)}
        if self.settings.calibration.weight:
            parts["calibration"] = self.calibration(scores)
        return parts

    def calibration(self, scores: Tensor) -> Tensor:
        """Return the loss of self-calibration, without its weight."""
        return self_calibration(scores, self.seen, self.settings.calibration.mask)

    def add_total(self, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the parts, and ``loss``, their weighted sum."""
        return {"loss": reduce(add, (self.weights[name] * part for name, part in parts.items())), **parts}


def unit_regions(grids: Tensor) -> Tensor:
    """Return grids [B, R, channels] whose regions have unit length, as in the released code."""
    return normalize(grids, dim=-1)
