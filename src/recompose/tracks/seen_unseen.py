"""The curve of seen over unseen accuracy as a calibration bias grows, for pairs and for classes."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class SeenUnseenCurve:
    """Accuracies [points], as fractions, by rising bias; NaN where there are no images to count.

    In an exact sweep each point covers the biases from its own to the next point's; the first one's bias is -inf. At
    the bias of a point a seen and an unseen candidate of some image have equal scores.
    """

    bias: np.ndarray
    seen: np.ndarray
    unseen: np.ndarray


def harmonic_means(seen: np.ndarray, unseen: np.ndarray) -> np.ndarray:
    """Return the harmonic mean H of accuracies [any shape]; 0 where both are 0, NaN where one is NaN.

    Example:
        >>> harmonic_means(np.array([1.0, 0.0, np.nan]), np.array([0.5, 0.0, 1.0])).round(3).tolist()
        [0.667, 0.0, nan]
    """
    total = seen + unseen
    return np.divide(2 * seen * unseen, total, out=np.zeros_like(total), where=total != 0)


def area(curve: SeenUnseenCurve) -> float:
    """Return the area under seen over unseen accuracy by trapezoids (AUC; AUSUC of Chao et al., 2016); NaN without
    images of a seen or of an unseen kind.

    Example:
        >>> area(SeenUnseenCurve(bias=np.array([-np.inf, 0.0]), seen=np.array([1.0, 0.5]), unseen=np.array([0.0, 1.0])))
        0.75
    """
    undefined = np.isnan(curve.seen + curve.unseen).any()
    return float("nan") if undefined else float(np.trapezoid(curve.seen, curve.unseen))
