"""The numbers of compositional zero-shot learning: best seen and unseen accuracy, harmonic mean and AUC over
calibration biases.

They follow from each image's best seen and best unseen pair (``best``), by a sweep over calibration biases: the exact
one (``curves``), or that of the field's shared evaluator.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from recompose.tracks.arrays import to_host
from recompose.tracks.czsl.metrics.best import Best, Evaluator
from recompose.tracks.czsl.metrics.curves import dense_curve, share
from recompose.tracks.seen_unseen import SeenUnseenCurve, area, harmonic_means

Sweep = Literal["dense", "field"]

# of the field's shared evaluator (CSP, DFSP, Troika and MSCI have copies of it)
FIELD_LARGEST = 1e3  # the bias at which every prediction counts as unseen
FIELD_OFFSET = 1e-4  # how far a visited bias is below an image's switching bias
FIELD_STEPS = 20  # the approximate number of visited biases


@dataclass(frozen=True)
class PairReport:
    """The field's numbers, as fractions; NaN for those that need images of an absent kind of pairs."""

    seen: float  # S, the best seen accuracy
    unseen: float  # U, the best unseen accuracy
    harmonic_mean: float  # H, the best over the biases of the sweep
    auc: float  # area under the curve of seen over unseen accuracy
    curve: SeenUnseenCurve
    state: float | None = None  # share of images whose state is predicted right at bias 0
    object: float | None = None  # the same of objects


def field_curve(best: Best) -> SeenUnseenCurve:
    """Return the accuracies at the biases that the field's shared evaluator visits, by the same rules.

    These are the biases, less 1e-4, at which the prediction switches, of every n-th image for which an unseen pair is
    rightly predicted at a bias of 1000, n such that there are about 20, and 1000 itself. So it understates AUC and S
    somewhat. Both constants are absolute: on scores far from CLIP's scale (probabilities, for one) its biases mean
    little. Nothing is lost here to rounding, since the bias is never added to a score.

    Example:
        >>> evaluator = Evaluator(targets=np.array([0, 1]), seen=np.array([True, False]))
        >>> evaluator.update(np.array([[3.0, 1.0], [1.0, 0.0]]))
        >>> curve = field_curve(evaluator.best())
        >>> curve.bias.tolist(), curve.seen.tolist(), curve.unseen.tolist()
        ([0.9999, 1000.0], [1.0, 0.0], [0.0, 1.0])
    """
    switch = best.switch_bias
    right = ~best.is_seen & best.unseen_right & (switch < FIELD_LARGEST)
    biases = np.sort(switch[right] - FIELD_OFFSET)
    biases = np.append(biases[:: max(len(biases) // FIELD_STEPS, 1)], FIELD_LARGEST)
    predicted_unseen = switch[:, None] < biases  # [images, points]: the unseen pair is predicted
    seen = (~predicted_unseen & (best.is_seen & best.seen_right)[:, None]).sum(axis=0)
    unseen = (predicted_unseen & (~best.is_seen & best.unseen_right)[:, None]).sum(axis=0)
    return SeenUnseenCurve(biases, share(seen, best.is_seen.sum()), share(unseen, (~best.is_seen).sum()))


SWEEPS: dict[Sweep, Callable[[Best], SeenUnseenCurve]] = {"dense": dense_curve, "field": field_curve}


def report_of(best: Best, sweep: Sweep = "dense", primitives: np.ndarray | None = None) -> PairReport:
    """Return the numbers that follow from each image's best pairs.

    Args:
        best: the result of an ``Evaluator``.
        sweep: ``dense`` visits every bias at which a prediction changes; ``field`` those of the field's shared
            evaluator, for comparison with printed numbers.
        primitives: [pairs, 2], each pair's state and object, to report their accuracies, too.

    Example:
        >>> evaluator = Evaluator(targets=np.array([0, 1]), seen=np.array([True, False]))
        >>> evaluator.update(np.array([[3.0, 1.0], [1.0, 0.0]]))
        >>> report = report_of(evaluator.best(), primitives=np.array([[0, 0], [1, 0]]))
        >>> report.harmonic_mean, report.state, report.object
        (1.0, 0.5, 1.0)
    """
    curve = SWEEPS[sweep](best)
    right = (None, None)
    if primitives is not None:
        right = tuple((primitives[best.predictions(0.0)] == primitives[best.target]).mean(axis=0).tolist())
    return PairReport(
        seen=float(curve.seen.max()),
        unseen=float(curve.unseen.max()),
        harmonic_mean=float(harmonic_means(curve.seen, curve.unseen).max()),
        auc=area(curve),
        curve=curve,
        state=right[0],
        object=right[1],
    )


def czsl_report(
    scores: Any,
    targets: Any,
    seen: Any,
    candidates: Any | None = None,
    sweep: Sweep = "dense",
    primitives: np.ndarray | None = None,
) -> PairReport:
    """Return seen, unseen, harmonic mean and AUC of a whole matrix of scores.

    Args:
        scores: [images, pairs], floating point, higher is likelier.
        targets: [images], the index of each image's true pair.
        seen: [pairs] bool, the pairs of training.
        candidates: [pairs] bool, pairs that may be predicted; by default all.
        sweep, primitives: as of ``report_of``.

    Raises:
        ArgumentError: shapes do not fit, or a candidate's score is NaN or infinite.

    Example:
        >>> scores = np.array([[3.0, 1.0], [1.0, 1.0], [1.0, 2.0], [2.0, 1.0]])
        >>> report = czsl_report(scores, targets=np.array([0, 0, 1, 1]), seen=np.array([True, False]))
        >>> report.seen, report.unseen, report.auc
        (1.0, 1.0, 0.75)
    """
    allowed = None if candidates is None else to_host(candidates)
    evaluator = Evaluator(to_host(targets), to_host(seen), allowed)
    evaluator.update(scores)
    return report_of(evaluator.best(), sweep, primitives)
