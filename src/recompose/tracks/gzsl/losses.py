"""The losses of CREST and of TransZero without evidence: cross-entropy, self-calibration, the contrast of images, and
the separation of memory patterns.

Scores are f(x) . z^c [images, classes] of all classes, without a calibration bias: as released, TransZero (7c10cdb) and
TransZero++ (c045f73) add one to them, and subtract it again before the cross-entropy, so that only self-calibration
uses it. Every loss is an unweighted scalar, the mean over images unless stated otherwise.
"""

import math
from typing import Any, get_args

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, mse_loss, normalize, triplet_margin_loss

from recompose.errors import ArgumentError
from recompose.tracks.gzsl.methods.parts.settings import (
    CalibrationForm,
    CalibrationMask,
    CompetingClasses,
    PatternDistance,
)


def cross_entropy(scores: Tensor, targets: Tensor, seen: Tensor, among: CompetingClasses = "all") -> Tensor:
    """Return the cross-entropy of the softmax over classes.

    Args:
        scores: [images, classes], without a bias.
        targets: [images], indices of seen classes.
        seen: [classes] bool.
        among: the classes of the softmax: ``all``, as TransZero released it (``is_conservative``), or ``seen``, as
            Eq. 16 of CREST prints it.

    Raises:
        ArgumentError: shapes do not fit, or a target is not a class, or an unseen class, which training must not show.

    Example:
        >>> seen = torch.tensor([True, False])
        >>> cross_entropy(torch.zeros(1, 2), torch.tensor([0]), seen)
        tensor(0.6931)
        >>> cross_entropy(torch.zeros(1, 2), torch.tensor([0]), seen, among="seen")
        tensor(0.)
    """
    _check_choice("among", among, CompetingClasses)
    _check_classes(scores, seen)
    targets = check_targets(targets, scores)
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
    _check_choice("mask", mask, CalibrationMask)
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
        ArgumentError: shapes do not fit, or there is no unseen class.

    Example:
        >>> scores, seen = torch.zeros(1, 3), torch.tensor([True, False, False])
        >>> self_calibration(scores, seen), self_calibration(scores, seen, mask="unseen", form="crest")
        (tensor(0.0655), tensor(1.7240))
    """
    _check_choice("form", form, CalibrationForm)
    _check_classes(scores, seen)
    if seen.all():
        raise ArgumentError("seen", "has no unseen class, and self-calibration needs one", code="no-unseen-class")
    logs = log_softmax(scores + calibration_mask(seen, mask).to(scores.dtype), dim=1)
    if form == "crest":
        return -logs.masked_fill(seen, 0).sum(dim=1).mean()
    # [images], the logarithm of the probability of unseen classes
    masses = logs.masked_fill(seen, -torch.inf).logsumexp(dim=1)
    return math.log(len(masses)) - masses.logsumexp(dim=0)


def visual_contrast(features: Tensor, targets: Tensor, temperature: float = 0.05, threshold: float = 0.0) -> Tensor:
    """Return the contrast of images in a batch, VICL (CREST, Eqs. 3 and 4): -log of the share of an image's positive
    among the exponentials of cosine similarities over temperature, of its positive and of its negatives.

    The positive is the most similar other image of the same class if its similarity reaches the threshold (an image of
    the class resembles it), else the most similar other image of any class. Negatives are the images of other classes,
    without the positive. An image without negatives, or alone, adds nothing. The choice among equal similarities is
    undefined.

    CREST leaves the temperature, the threshold and the pooling open. The temperature is that of DUET (1166027), whose
    term otherwise differs: its positive is a second image of the class, sampled at random, and other images of the
    class stay in the sum with a similarity of 0.

    Args:
        features: [images, width], one vector for each, of any length.
        targets: [images], their classes.
        temperature: tau.
        threshold: delta, the cosine similarity from which images resemble each other.

    Raises:
        ArgumentError: shapes do not fit, there are no images, or the temperature is not positive.

    Example:
        >>> features = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        >>> visual_contrast(features[:2], torch.tensor([0, 0])).abs()
        tensor(0.)
        >>> visual_contrast(features, torch.tensor([0, 0, 1]), temperature=1.0)
        tensor(0.4399)
    """
    if features.ndim != 2 or targets.shape != features.shape[:1] or not len(targets):
        shapes = f"{tuple(features.shape)} for targets {tuple(targets.shape)}"
        fault = f"are [images, width] of one image or more, with a target each, not {shapes}"
        raise ArgumentError("features", fault, code="wrong-shape")
    if temperature <= 0:
        raise ArgumentError("temperature", f"is {temperature}, not a positive number")
    directions = normalize(features, dim=1)
    similarities = directions @ directions.T
    same = targets[:, None] == targets[None]
    itself = torch.eye(len(targets), dtype=torch.bool, device=targets.device)
    other_images = similarities.detach().masked_fill(itself, -torch.inf)
    resemblance, kin = other_images.masked_fill(~same, -torch.inf).max(dim=1)
    resembles = (resemblance >= threshold) & resemblance.isfinite()
    positive = torch.where(resembles, kin, other_images.argmax(dim=1))[:, None]
    logits = similarities / temperature
    compared = (~same).scatter(1, positive, torch.ones_like(positive, dtype=torch.bool))
    return (logits.masked_fill(~compared, -torch.inf).logsumexp(dim=1) - logits.gather(1, positive)[:, 0]).mean()


def nearest_patterns(queries: Tensor, patterns: Tensor) -> tuple[Tensor, Tensor]:
    """Return the most and the second most similar pattern of each query, by the dot product of the memory's attention
    (CREST, Eq. 5; released with MegaCRN at 5158190): p and n of Eqs. 6 and 7.

    The losses of MegaCRN train only queries: ``triplet`` and ``compactness`` get these patterns detached.

    Args:
        queries: [..., width].
        patterns: [patterns, width], the memory.

    Returns:
        Two tensors of the shape of the queries.

    Raises:
        ArgumentError: the widths differ, or there are fewer than two patterns.

    Example:
        >>> positive, negative = nearest_patterns(torch.tensor([[2.0, 1.0]]), torch.eye(2))
        >>> positive.tolist(), negative.tolist()
        ([[1.0, 0.0]], [[0.0, 1.0]])
    """
    if patterns.ndim != 2 or len(patterns) < 2 or queries.shape[-1:] != patterns.shape[1:]:
        shapes = f"{tuple(patterns.shape)} for queries {tuple(queries.shape)}"
        raise ArgumentError("patterns", f"are [two or more, width of queries], not {shapes}", code="wrong-shape")
    best = (queries @ patterns.T).topk(2, dim=-1).indices
    return patterns[best[..., 0]], patterns[best[..., 1]]


def triplet(
    queries: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0, distance: PatternDistance = "released"
) -> Tensor:
    """Return the hinge of the distances of queries to their pattern and to the second one (CREST, Eq. 6): max(D(q, p) -
    D(q, n) + margin, 0).

    Args:
        queries: [..., width].
        positive: as many, their most similar patterns.
        negative: as many, the second most similar ones.
        margin: lambda; 1.0 as released with MegaCRN.
        distance: ``released``, the mean over queries with D the distance (MegaCRN at 5158190, whose 1e-6 on each
            component is kept); ``mean``, the mean with D its square; ``sum``, the sum of that, as printed, which
            grows with the number of regions times images.

    Raises:
        ArgumentError: the shapes differ.

    Example:
        >>> query, near, far = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.5]]), torch.tensor([[1.0, 1.0]])
        >>> triplet(query, near, far), triplet(query, near, far, distance="sum")
        (tensor(0.5000), tensor(0.2500))
    """
    _check_choice("distance", distance, PatternDistance)
    _check_patterns(queries, positive, negative)
    if distance == "released":
        return triplet_margin_loss(queries, positive, negative, margin=margin)
    nearer = (queries - positive).square().sum(dim=-1) - (queries - negative).square().sum(dim=-1)
    losses = (nearer + margin).relu()
    return losses.mean() if distance == "mean" else losses.sum()


def compactness(queries: Tensor, positive: Tensor, distance: PatternDistance = "released") -> Tensor:
    """Return the squared distance of queries to their pattern (CREST, Eq. 7).

    Args:
        queries: [..., width].
        positive: as many, their most similar patterns.
        distance: ``released``, the mean over queries and components (MegaCRN at 5158190), which is the next one over
            the width; ``mean``, the mean over queries; ``sum``, the sum, as printed.

    Raises:
        ArgumentError: the shapes differ.

    Example:
        >>> query, near = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.5]])
        >>> compactness(query, near), compactness(query, near, distance="mean")
        (tensor(0.1250), tensor(0.2500))
    """
    _check_choice("distance", distance, PatternDistance)
    _check_patterns(queries, positive)
    if distance == "released":
        return mse_loss(queries, positive)
    squares = (queries - positive).square().sum(dim=-1)
    return squares.mean() if distance == "mean" else squares.sum()


def check_targets(targets: Tensor, scores: Tensor) -> Tensor:
    """Return targets [images] as int64, checked to be columns of scores [images, classes].

    Raises:
        ArgumentError: shapes do not fit, or a target is not a class; the message names the first such image.

    Example:
        >>> check_targets(torch.tensor([1], dtype=torch.int32), torch.zeros(1, 2))
        tensor([1])
    """
    if scores.ndim != 2 or targets.shape != scores.shape[:1]:
        shapes = f"{tuple(targets.shape)} for {tuple(scores.shape)}"
        raise ArgumentError("targets", f"are [images] for [images, classes], not {shapes}", code="wrong-shape")
    if targets.dtype.is_floating_point or targets.dtype.is_complex or targets.dtype == torch.bool:
        raise ArgumentError("targets", f"are integers, not {targets.dtype}", code="wrong-type")
    outside = (targets < 0) | (targets >= scores.shape[1])
    if outside.any():
        image = int(outside.int().argmax())
        fault = f"are no class in {int(outside.sum())} images, first in image {image}: {int(targets[image])}"
        raise ArgumentError("targets", f"{fault} is none of the {scores.shape[1]}", code="unknown-class")
    return targets.long()


def _check_classes(scores: Tensor, seen: Tensor) -> None:
    if seen.dtype != torch.bool or scores.ndim != 2 or seen.shape != scores.shape[1:]:
        shapes = f"{seen.dtype} {tuple(seen.shape)} for {tuple(scores.shape)}"
        raise ArgumentError("seen", f"is bool [classes] for scores [images, classes], not {shapes}", code="wrong-shape")


def _check_patterns(queries: Tensor, *patterns: Tensor) -> None:
    for pattern in patterns:
        if pattern.shape != queries.shape:
            shapes = f"{tuple(pattern.shape)} for {tuple(queries.shape)}"
            raise ArgumentError("patterns", f"are one for each query, not {shapes}", code="wrong-shape")


def _check_choice(name: str, choice: str, choices: Any) -> None:
    if choice not in get_args(choices):
        raise ArgumentError(name, f"is {choice!r}, not one of {', '.join(get_args(choices))}", code="unknown-choice")
