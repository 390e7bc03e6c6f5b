"""The common base of DAZLE, TransZero and CREST: trained words, and self-calibration."""

from collections.abc import Mapping

from torch import Tensor
from torch.nn.functional import normalize

from recompose.tracks.building import Settings
from recompose.tracks.gzsl.losses import Among, cross_entropy, self_calibration
from recompose.tracks.gzsl.methods.parts.attribute_words import AttributeWords
from recompose.tracks.gzsl.methods.parts.grid_method import ClassSpace, GridMethod


class CalibratedMethod(GridMethod):
    """A method whose scores of classes are a . z^c, from an image's attribute scores a.

    Args:
        space: the classes.
        normalise_words: whether vectors of attributes keep unit length.
        cross_entropy: the classes that compete in it.
        calibration: ``weight`` and the settings of ``losses.self_calibration``.
    """

    def __init__(
        self, space: ClassSpace, *, normalise_words: bool, cross_entropy: Among, calibration: Settings
    ) -> None:
        super().__init__(space)
        self.words = AttributeWords(space.words, normalised=normalise_words)
        self.among = cross_entropy
        self.calibration = dict(calibration)
        self.weights = {"cross_entropy": 1.0, "calibration": self.calibration.pop("weight")}

    def class_scores(self, attributes: Tensor) -> Tensor:
        """Return scores [B, classes] from images' attribute scores [B, A]."""
        return attributes @ self.signatures.T

    def classification(self, scores: Tensor, targets: Tensor) -> dict[str, Tensor]:
        """Return ``cross_entropy``, and ``calibration`` if it has a weight."""
        parts = {"cross_entropy": cross_entropy(scores, targets, self.seen, self.among)}
        if self.weights["calibration"]:
            parts["calibration"] = self_calibration(scores, self.seen, **self.calibration)
        return parts

    def add_total(self, parts: Mapping[str, Tensor]) -> dict[str, Tensor]:
        """Return the parts, and ``loss``, their weighted sum."""
        return {"loss": sum(self.weights[name] * part for name, part in parts.items()), **parts}


def unit_regions(grids: Tensor) -> Tensor:
    """Return grids [B, R, channels] whose regions have unit length, as in the released code."""
    return normalize(grids, dim=-1)
