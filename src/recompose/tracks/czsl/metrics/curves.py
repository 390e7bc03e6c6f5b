"""Seen and unseen accuracy over calibration biases, exactly; the area under their curve chooses the epoch of a
training.

A calibration bias is added to the scores of unseen pairs. As it grows, predictions change from the best seen to the
best unseen pair, each image's at a bias of its own: the difference of the two scores, in double precision.
"""

import numpy as np

from recompose.tracks.czsl.metrics.best import Best
from recompose.tracks.seen_unseen import SeenUnseenCurve


def dense_curve(best: Best) -> SeenUnseenCurve:
    """Return the accuracies at every bias at which a prediction changes, and below the first of them.

    Example:
        >>> first, second = np.array([0, 0]), np.array([1, 1])
        >>> best = Best(
        ...     seen_score=np.array([3.0, 1.0]),
        ...     seen_pair=first,
        ...     unseen_score=np.array([1.0, 0.0]),
        ...     unseen_pair=second,
        ...     target=np.array([0, 1]),
        ...     is_seen=np.array([True, False]),
        ... )
        >>> curve = dense_curve(best)
        >>> curve.bias.tolist(), curve.seen.tolist(), curve.unseen.tolist()
        ([-inf, 1.0, 2.0], [1.0, 1.0, 0.0], [0.0, 1.0, 1.0])
    """
    switch = best.switch_bias
    lost, won = best.is_seen & best.seen_right, ~best.is_seen & best.unseen_right
    finite = np.isfinite(switch)
    steps, place = np.unique(switch[finite], return_inverse=True)
    lost_at = np.bincount(place, weights=lost[finite], minlength=len(steps))
    won_at = np.bincount(place, weights=won[finite], minlength=len(steps))
    # without a seen candidate, no bias is low enough; without an unseen one, no bias changes anything
    seen = lost.sum() - np.append(0, np.cumsum(lost_at))
    unseen = won[np.isneginf(switch)].sum() + np.append(0, np.cumsum(won_at))
    return SeenUnseenCurve(
        np.append(-np.inf, steps), share(seen, best.is_seen.sum()), share(unseen, (~best.is_seen).sum())
    )


def share(counts: np.ndarray, total: int) -> np.ndarray:
    """Return counts as fractions of ``total``; NaN if it is 0.

    Example:
        >>> share(np.array([1, 2]), 4).tolist()
        [0.25, 0.5]
    """
    return counts / total if total else np.full(len(counts), np.nan)
