"""Seen and unseen accuracy of compositional zero-shot learning over all calibration biases.

A bias is added to the scores of unseen pairs. As it grows, predictions change from the best seen to the best unseen pair, each image at
one bias of its own: the difference of the two scores. So five numbers per image give the whole curve, exactly, and they
can be gathered block by block, however many pairs there are.

Ties are settled once: among equal scores the pair that comes first wins; between a seen and an unseen pair the seen one does.
"""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Best:
    """For each image [images]: its best seen and best unseen pair."""

    seen_score: np.ndarray  # float64, -inf where no seen pair was a candidate
    seen_right: np.ndarray  # bool: the best seen pair is the true one
    unseen_score: np.ndarray
    unseen_right: np.ndarray
    is_seen: np.ndarray  # bool: the true pair is a seen one

    def merge(self, later: "Best") -> "Best":
        """The best of two blocks of pairs for the same images, ``later`` holding the pairs that come later."""
        seen, unseen = later.seen_score > self.seen_score, later.unseen_score > self.unseen_score
        return Best(
            seen_score=np.where(seen, later.seen_score, self.seen_score),
            seen_right=np.where(seen, later.seen_right, self.seen_right),
            unseen_score=np.where(unseen, later.unseen_score, self.unseen_score),
            unseen_right=np.where(unseen, later.unseen_right, self.unseen_right),
            is_seen=self.is_seen,
        )


@dataclass(frozen=True)
class Curve:
    """Accuracies [points] from the lowest bias, where every answer is a seen pair, to the highest."""

    seen: np.ndarray
    unseen: np.ndarray


@dataclass(frozen=True)
class Report:
    """The field's four numbers, as fractions."""

    seen: float  # S, at the lowest bias
    unseen: float  # U, at the highest
    harmonic_mean: float  # H, the best over all biases
    auc: float  # area under the curve of seen over unseen accuracy


def best_pairs(
    scores: np.ndarray, targets: np.ndarray, target_seen: np.ndarray, seen: np.ndarray, candidates: np.ndarray
) -> Best:
    """The best seen and unseen pair of each image within a block of pairs.

    Args:
        scores: [images, pairs], finite, higher is likelier.
        targets: [images], the index of the true pair in this block, -1 where it is not in it.
        target_seen: [images] bool, whether the true pair is seen.
        seen: [pairs] bool.
        candidates: [pairs] bool, pairs that may be answered.

    Raises:
        ValueError: a score of a candidate is NaN or infinite.
    """
    _check_finite(scores, candidates)
    seen_score, seen_right = _best(scores, targets, np.flatnonzero(seen & candidates))
    unseen_score, unseen_right = _best(scores, targets, np.flatnonzero(~seen & candidates))
    return Best(seen_score, seen_right, unseen_score, unseen_right, np.asarray(target_seen, dtype=bool))


def _check_finite(scores: np.ndarray, candidates: np.ndarray) -> None:
    wrong = ~np.isfinite(scores[:, candidates]).all(axis=1)
    if wrong.any():
        raise ValueError(
            f"row {int(wrong.argmax())} is the first of {int(wrong.sum())} with scores that are not finite"
        )


def _best(scores: np.ndarray, targets: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if not len(columns):
        return np.full(len(scores), -np.inf), np.zeros(len(scores), dtype=bool)
    among = scores[:, columns]
    winner = among.argmax(axis=1)
    return among[np.arange(len(scores)), winner].astype(np.float64), columns[winner] == targets


def curve(best: Best) -> Curve:
    """The accuracies at every bias at which a prediction changes.

    Raises:
        ValueError: without images of seen pairs, or without images of unseen pairs, one of the accuracies is undefined.
    """
    images_seen, images_unseen = int(best.is_seen.sum()), int((~best.is_seen).sum())
    if not images_seen or not images_unseen:
        raise ValueError(f"accuracies need images of both: {images_seen} of seen pairs, {images_unseen} of unseen ones")
    with np.errstate(invalid="raise"):
        turn = best.seen_score - best.unseen_score  # the answer is the unseen pair at biases above
    steps, place = np.unique(turn, return_inverse=True)
    lost = np.bincount(place, weights=best.is_seen & best.seen_right, minlength=len(steps))
    won = np.bincount(place, weights=~best.is_seen & best.unseen_right, minlength=len(steps))
    never = np.isposinf(steps)  # no unseen candidate: no bias changes these
    always = np.isneginf(steps)  # no seen candidate: no bias is low enough
    kept = lost.sum() - np.cumsum(np.where(never, 0, lost))
    gained = np.cumsum(np.where(never, 0, won))
    first_kept, first_gained = lost.sum() - lost[always].sum(), won[always].sum()
    return Curve(
        seen=np.concatenate([[first_kept], kept]) / images_seen,
        unseen=np.concatenate([[first_gained], gained]) / images_unseen,
    )


def report(points: Curve) -> Report:
    """S, U, HM and AUC of a curve."""
    total = points.seen + points.unseen
    harmonic = np.divide(2 * points.seen * points.unseen, total, out=np.zeros_like(total), where=total > 0)
    return Report(
        seen=float(points.seen[0]),
        unseen=float(points.unseen[-1]),
        harmonic_mean=float(harmonic.max()),
        auc=float(np.trapezoid(points.seen, points.unseen)),
    )
