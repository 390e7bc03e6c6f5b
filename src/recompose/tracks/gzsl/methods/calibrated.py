"""The common base of DAZLE, TransZero and CREST: trained words of attributes, cross-entropy, and self-calibration.

Scores are f(x) . z^c [images, classes] of all classes, without a calibration bias: as released, TransZero (7c10cdb) and
TransZero++ (c045f73) add one to them, and subtract it again before the cross-entropy, so that only self-calibration
uses it. Losses are unweighted scalars.
"""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import reduce
from operator import add

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.base import ClassSpace, GridMethod, Prediction
from recompose.tracks.gzsl.methods.settings import (
    CalibratedSettings,
    CalibrationForm,
    CalibrationMask,
    CompetingClasses,
)


class AttributeWords(nn.Module):
    """Vectors of unit length at first, and at each step if they are to be normalised.

    Args:
        words: [attributes, width].
        normalised: whether they keep unit length.
    """

    def __init__(self, words: Tensor, *, normalised: bool) -> None:
        super().__init__()
        self.vectors = nn.Parameter(normalize(words, dim=-1))
        self.normalised = normalised

    def forward(self) -> Tensor:
        """Return [attributes, width]; a zero vector stays zero."""
        return normalize(self.vectors, dim=-1) if self.normalised else self.vectors


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

    def attributes(self, grids: Tensor) -> Tensor:
        """Return images' attribute scores [B, A]."""
        raise NotImplementedError

    def class_scores(self, attributes: Tensor) -> Tensor:
        """Return scores [B, classes] from images' attribute scores [B, A]."""
        return attributes @ self.signatures.T

    def predict(self, grids: Tensor) -> Prediction:
        """Return scores of images."""
        return Prediction(self.class_scores(self.attributes(grids)))

    def embeddings(self, grids: Tensor) -> dict[str, Tensor]:
        """Return images' attribute scores [images, attributes]."""
        return {"fused": self.attributes(grids)}

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


def cross_entropy(scores: Tensor, targets: Tensor, seen: Tensor, among: CompetingClasses = "all") -> Tensor:
    """Return the cross-entropy of the softmax over classes.

    Args:
        scores: [images, classes], without a bias.
        targets: [images], indices of seen classes.
        seen: [classes] bool.
        among: the classes of the softmax: ``all``, as TransZero released it (``is_conservative``), or ``seen``, as
            Eq. 16 of CREST prints it.

    Raises:
        ArgumentError: a target is an unseen class, which training must not show.

    Example:
        >>> seen = torch.tensor([True, False])
        >>> cross_entropy(torch.zeros(1, 2), torch.tensor([0]), seen)
        tensor(0.6931)
        >>> cross_entropy(torch.zeros(1, 2), torch.tensor([0]), seen, among="seen")
        tensor(0.)
    """
    leaked = ~seen[targets]
    if leaked.any():
        image = int(leaked.int().argmax())
        fault = f"show an unseen class in {int(leaked.sum())} images, first image {image}: {int(targets[image])}"
        raise ArgumentError("targets", fault, code="unseen-class")
    if among == "seen":
        scores = scores.masked_fill(~seen, -torch.inf)
    return nn.functional.cross_entropy(scores, targets)


def calibration_mask(seen: Tensor, mask: CalibrationMask = "signed") -> Tensor:
    """Return the mask [classes] that self-calibration adds to scores: ``signed``, 1 for unseen classes and -1 for seen
    ones, as TransZero released it; ``unseen``, 1 only for unseen classes, as Eqs. 16 and 18 of CREST print it.

    Added to the scores of a prediction, they are biases of 2 and of 1.

    Example:
        >>> seen = torch.tensor([True, False])
        >>> calibration_mask(seen).tolist(), calibration_mask(seen, "unseen").tolist()
        ([-1.0, 1.0], [0.0, 1.0])
    """
    unseen = (~seen).float()
    return 2 * unseen - 1 if mask == "signed" else unseen


def self_calibration(
    scores: Tensor, seen: Tensor, mask: CalibrationMask = "signed", form: CalibrationForm = "transzero"
) -> Tensor:
    """Return the loss that keeps the probability of unseen classes up while training shows only seen ones.

    With p_ic, the softmax over all classes of a score plus its mask, N images and the unseen classes U:

    - ``transzero``: -log(1/N sum_i sum_{c in U} p_ic), as TransZero released it. Here it is computed from logarithms,
    so that it stays finite if all p_ic vanish.

    - ``crest``: -1/N sum_i sum_{c in U} log p_ic, Eq. 16 of CREST. It grows with the number of unseen classes, and is
    least if all of these are equally likely in every image.

    Args:
        scores: [images, classes], without a bias.
        seen: [classes] bool.
        mask: the mask added to them, see ``calibration_mask``.
        form: one of the two forms.

    Raises:
        ArgumentError: there is no unseen class.

    Example:
        >>> scores, seen = torch.zeros(1, 3), torch.tensor([True, False, False])
        >>> self_calibration(scores, seen), self_calibration(scores, seen, mask="unseen", form="crest")
        (tensor(0.0655), tensor(1.7240))
    """
    if seen.all():
        raise ArgumentError("seen", "has no unseen class, and self-calibration needs one", code="no-unseen-class")
    logs = log_softmax(scores + calibration_mask(seen, mask).to(scores.dtype), dim=1)
    if form == "crest":
        return -logs.masked_fill(seen, 0).sum(dim=1).mean()
    # [images], the logarithm of the probability of unseen classes
    masses = logs.masked_fill(seen, -torch.inf).logsumexp(dim=1)
    return math.log(len(masses)) - masses.logsumexp(dim=0)
