"""The numbers of generalised zero-shot learning: accuracies of unseen and of seen classes, their harmonic mean, and the
curve of both over a calibration bias.

An accuracy is the mean over classes of the share of a class's images with the right prediction (Xian et al., 2018), so
that classes with many images do not outweigh others. Classes without images are left out; the code that TransZero
released (7c10cdb, ``helper_func.py``) would give NaN there, and agrees everywhere else.

A calibration bias is added to the scores of unseen classes (calibrated stacking, Chao et al., 2016). Among equal scores
the class with the lowest index is predicted, seen or unseen, as ``np.argmax`` does. Everything is computed in double
precision, so that no sum of a score and a bias is rounded to a tie that scores in single precision do not have.

Scores are NumPy arrays, or torch tensors on any device. Nothing here imports torch.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape, to_host
from recompose.tracks.seen_unseen import SeenUnseenCurve, harmonic_means

NEAR = 1e-12  # harmonic means with a smaller difference are equal up to rounding


@dataclass(frozen=True)
class ClassReport:
    """Accuracies as fractions; NaN where there are no images to count."""

    unseen: float  # U, of images of unseen classes among all classes
    seen: float  # S, of images of seen classes among all classes
    harmonic_mean: float  # H, of both; 0 where both are 0
    accuracy: float  # ACC, of images of unseen classes among unseen classes: conventional zero-shot learning


def gzsl_report(scores: Any, targets: np.ndarray, seen: np.ndarray, bias: float = 0.0) -> ClassReport:
    """Return accuracies of unseen and of seen classes, their harmonic mean, and the accuracy among unseen classes.

    Args:
        scores: [images, classes], floating point, higher is likelier, without a bias.
        targets: [images], the index of each image's class.
        seen: [classes] bool, the classes of training.
        bias: added to the scores of unseen classes. A mask of +1 for unseen and -1 for seen classes, as in CREST's
            predecessors, is a bias of 2.

    Raises:
        ArgumentError: shapes do not fit, or a score is not finite.

    Example:
        >>> scores = np.array([[3.0, 1.0, 0.0], [1.0, 3.0, 2.0], [2.0, 1.0, 1.5]])
        >>> seen = np.array([True, False, False])
        >>> gzsl_report(scores, targets=np.array([0, 1, 2]), seen=seen)
        ClassReport(unseen=0.5, seen=1.0, harmonic_mean=0.6666666666666666, accuracy=1.0)
        >>> gzsl_report(scores, targets=np.array([0, 1, 2]), seen=seen, bias=1.0).unseen
        1.0
    """
    scores = _checked(scores, targets, seen)
    right = np.argmax(scores + bias * ~seen, axis=1) == targets
    unseen, seen_accuracy = (_mean_over_classes(right, targets, kind) for kind in (~seen, seen))
    among_unseen = np.where(seen, -np.inf, scores)
    return ClassReport(
        unseen=unseen,
        seen=seen_accuracy,
        harmonic_mean=float(harmonic_means(np.array(seen_accuracy), np.array(unseen))),
        accuracy=_mean_over_classes(np.argmax(among_unseen, axis=1) == targets, targets, ~seen),
    )


def seen_unseen_curve(scores: Any, targets: np.ndarray, seen: np.ndarray) -> SeenUnseenCurve:
    """Return seen and unseen accuracy at every bias: below, between and above all biases at which a prediction changes.

    An image's prediction changes once as the bias grows, from its best seen to its best unseen class, at the bias that
    is the difference of their scores. With n images and c classes of images this takes n log n + c n steps.

    Args:
        scores: [images, classes], floating point, higher is likelier, without a bias.
        targets: [images], the index of each image's class.
        seen: [classes] bool, the classes of training.

    Raises:
        ArgumentError: shapes do not fit, or a score is not finite.

    Example:
        >>> scores = np.array([[3.0, 1.0], [1.0, 0.0]])
        >>> curve = seen_unseen_curve(scores, targets=np.array([0, 1]), seen=np.array([True, False]))
        >>> curve.bias.tolist(), curve.seen.tolist(), curve.unseen.tolist()
        ([-inf, 1.0, 2.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0])
    """
    scores = _checked(scores, targets, seen)
    (best_seen, seen_class), (best_unseen, unseen_class) = _best(scores, seen), _best(scores, ~seen)
    switch = best_seen - best_unseen  # [images]: +inf without an unseen class, -inf without a seen one
    biases = np.append(-np.inf, np.unique(switch[np.isfinite(switch)]))
    return SeenUnseenCurve(
        biases,
        seen=_accuracies(seen_class == targets, targets, seen, switch, biases, falls=True),
        unseen=_accuracies(unseen_class == targets, targets, ~seen, switch, biases, falls=False),
    )


def best_bias(scores: Any, targets: np.ndarray, seen: np.ndarray) -> float:
    """Return the bias with the best harmonic mean: the middle of the interval with the same seen and unseen accuracy,
    so that no tie decides.

    Of several such intervals it is the widest, and of equally wide ones the lowest. If every harmonic mean is 0, it is
    0.

    Args:
        scores: [images, classes], floating point, higher is likelier, without a bias.
        targets: [images], the index of each image's class.
        seen: [classes] bool, the classes of training.

    Raises:
        ArgumentError: there are no images of seen or none of unseen classes, or as in ``seen_unseen_curve``.

    Example:
        >>> scores = np.array([[3.0, 1.0], [1.0, 0.0]])
        >>> best_bias(scores, targets=np.array([0, 1]), seen=np.array([True, False]))
        1.5
    """
    curve = seen_unseen_curve(scores, targets, seen)
    means = harmonic_means(curve.seen, curve.unseen)
    if np.isnan(means).any():
        raise ArgumentError("targets", "must have images of seen and of unseen classes to choose a bias by")
    if means.max() < NEAR:
        return 0.0
    # below the first and above the last change H is 0, so that every remaining interval has two ends
    changes = np.append(0, 1 + np.flatnonzero((np.diff(curve.seen) != 0) | (np.diff(curve.unseen) != 0)))
    starts, ends = curve.bias[changes], np.append(curve.bias[changes[1:]], np.inf)
    widths = np.where(means[changes] > means.max() - NEAR, ends - starts, -np.inf)
    widest = int(np.argmax(widths))
    return float((starts[widest] + ends[widest]) / 2)


def _checked(scores: Any, targets: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return scores [images, classes] in double precision, checked.

    Raises:
        ArgumentError: shapes do not fit, or a score is not finite; the message names the first such image.
    """
    scores = to_host(scores)
    expected = (len(targets), len(seen))
    check_shape("scores", scores, scores.shape == expected, f"{expected} as targets and seen require")
    broken = ~np.isfinite(scores).all(axis=1)
    if broken.any():
        fault = f"are NaN or infinite in {int(broken.sum())} images, first in image {int(broken.argmax())}"
        raise ArgumentError("scores", fault, code="not-finite")
    return scores.astype(np.float64)


def _best(scores: np.ndarray, kind: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return each image's best score among the classes of a kind [classes] bool, and the first class with it; -inf and
    -1 without such a class.
    """
    classes = np.flatnonzero(kind)
    if not len(classes):
        return np.full(len(scores), -np.inf), np.full(len(scores), -1)
    of_kind = scores[:, classes]
    return of_kind.max(axis=1), classes[of_kind.argmax(axis=1)]


def _mean_over_classes(right: np.ndarray, targets: np.ndarray, kind: np.ndarray) -> float:
    """Return the mean over classes of a kind [classes] bool of the share of their images [images] with the right
    prediction.
    """
    images = np.bincount(targets, minlength=len(kind))
    counted = (images > 0) & kind
    hits = np.bincount(targets, weights=right, minlength=len(kind))
    return float((hits[counted] / images[counted]).mean()) if counted.any() else float("nan")


def _accuracies(
    right: np.ndarray, targets: np.ndarray, kind: np.ndarray, switch: np.ndarray, biases: np.ndarray, falls: bool
) -> np.ndarray:
    """Return the mean accuracy [points] of the classes of a kind right above each bias.

    Args:
        right: [images], whether the best class of that kind is the true one.
        targets: [images].
        kind: [classes] bool.
        switch: [images], the bias above which the prediction is an unseen class.
        biases: [points].
        falls: true for seen classes, whose accuracy falls.
    """
    classes = np.unique(targets)
    classes = classes[kind[classes]]
    total = np.zeros(len(biases))
    for c in classes:
        of_class = targets == c
        changes = np.sort(switch[of_class & right])
        changed = np.searchsorted(changes, biases, side="right")
        total += (len(changes) - changed if falls else changed) / of_class.sum()
    return total / len(classes) if len(classes) else np.full(len(biases), np.nan)
