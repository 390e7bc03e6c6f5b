"""Metrics: numbers that follow from an evaluation's scores by pure functions, under flat names such as
``test/closed/dense/auc``.

- ``<split>/<world>/<sweep>/<number>``: ``seen``, ``unseen``, ``harmonic_mean`` and ``auc``, by the ``dense`` sweep over
  calibration biases or by that of the ``field``'s shared evaluator
- ``<split>/<world>/state``, ``/object``: accuracy of the predicted pair's state and object at bias 0
- ``<split>/<world>/threshold``: of feasibility, chosen on validation
- ``<split>/<world>/groups/<bias>/<group>``: accuracy by how often training showed a pair, at bias 0 (``unbiased``) and
  at the bias with the best harmonic mean (``balanced``)

``METRICS`` declares the names, and how each is shown. Splits are ``val`` and ``test``; worlds are ``WORLDS``. All
numbers but thresholds are fractions. A number that does not exist, such as the AUC of a split without unseen pairs, has
no entry.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from recompose.tables.metric import Metric
from recompose.tracks.building import SCORES
from recompose.tracks.czsl.data.pairs import PairData, read_index
from recompose.tracks.czsl.data.worlds import EVALUATED_SPLITS, World
from recompose.tracks.czsl.metrics.best import Best
from recompose.tracks.czsl.metrics.czsl import SWEEPS, report_of
from recompose.tracks.czsl.metrics.groups import GROUPS, frequency_groups, group_accuracies
from recompose.tracks.czsl.metrics.thresholds import best_threshold, released_calibration, released_threshold
from recompose.tracks.czsl.metrics.worlds import PairScores
from recompose.tracks.seen_unseen import harmonic_means

WORLDS = (
    "closed",
    "open",
    "feasible",  # the seen and the feasible pairs of the open world, by the threshold with the best AUC on validation
    "feasible-released",  # the same as in the released code, with its defects
)
NUMBERS = {"S": "seen", "U": "unseen", "H": "harmonic_mean", "AUC": "auc"}  # by the papers' columns
ACCURACY, OF_GROUP = Metric("%", 100, 1, better=1), Metric("%", 100, 2, better=1)
_PARTS = {
    **{f"{sweep}/{number}": ACCURACY for sweep in ("dense", "field") for number in NUMBERS.values()},
    "state": ACCURACY,
    "object": ACCURACY,
    "threshold": Metric("", 1, 3, better=0),
    **{f"groups/{bias}/{group}": OF_GROUP for bias in ("unbiased", "balanced") for group in (*GROUPS, "seen")},
}  # by the part of a name after split and world
METRICS = {
    f"{split}/{world}/{part}": about for split in EVALUATED_SPLITS for world in WORLDS for part, about in _PARTS.items()
}


def calibrated(scores: PairScores) -> tuple[dict[tuple[str, str], Best], dict[str, float]]:
    """Return the best pairs of each split's images in each world, and the feasibility threshold, chosen on validation,
    of each world that has one.
    """
    if not scores.ladders:
        return scores.bests, {}
    choosing, bests = scores.ladders["val"], dict(scores.bests)
    thresholds = {"feasible": best_threshold(choosing), "feasible-released": released_threshold(choosing)}
    for split, ladder in scores.ladders.items():
        bests[split, "feasible"] = ladder.at(thresholds["feasible"])
        bests[split, "feasible-released"] = released_calibration(ladder, thresholds["feasible-released"])
    return bests, thresholds


def compute_metrics(data: PairData, scores: PairScores) -> dict[str, float]:
    """Return all metrics of an evaluation, by flat name.

    Example:
        >>> from recompose.tracks.czsl.data.pairs import Sample
        >>> from recompose.tracks.czsl.metrics.worlds import score_worlds
        >>> pairs = {"train": [("red", "cat")], "val": [("red", "dog")], "test": [("blue", "dog")]}
        >>> samples = [Sample("0.png", "red", "cat", "train"), Sample("1.png", "red", "dog", "val")]
        >>> data = PairData(pairs, [*samples, Sample("2.png", "blue", "dog", "test")])
        >>> likes_dogs = lambda rows, pairs: np.array([[float(o == "dog") for _, o in pairs]] * len(rows))
        >>> metrics = compute_metrics(data, score_worlds(data, likes_dogs))
        >>> metrics["test/closed/dense/unseen"], metrics["test/closed/object"], metrics["val/open/state"]
        (1.0, 1.0, 0.0)
        >>> "test/closed/dense/auc" in metrics  # no test image shows a seen pair
        False
        >>> [name for name in metrics if name.startswith("test/closed/groups")]
        ['test/closed/groups/unbiased/unseen']
    """
    bests, thresholds = calibrated(scores)
    closed, everything = World.closed(data), World.open(data)
    return {
        f"{split}/{name}/{metric}": value
        for split in EVALUATED_SPLITS
        for name in WORLDS
        if (split, name) in bests
        for metric, value in _metrics(
            bests[split, name], thresholds.get(name), closed if name == "closed" else everything
        )
        if math.isfinite(value)
    }


def _metrics(best: Best, threshold: float | None, world: World) -> Iterator[tuple[str, float]]:
    """Yield the metrics of a split in a world."""
    reports = {sweep: report_of(best, sweep, world.primitives) for sweep in SWEEPS}
    for sweep, report in reports.items():
        yield from ((f"{sweep}/{number}", getattr(report, number)) for number in NUMBERS.values())
    dense = reports["dense"]
    yield from ((part, value) for part in ("state", "object") if (value := getattr(dense, part)) is not None)
    if threshold is not None:
        yield "threshold", threshold
    biases = {"unbiased": 0.0}
    if math.isfinite(dense.harmonic_mean):  # otherwise no image shows a seen, or an unseen, pair
        best_bias = dense.curve.bias[harmonic_means(dense.curve.seen, dense.curve.unseen).argmax()]
        biases["balanced"] = float(np.nextafter(best_bias, np.inf))  # accuracies at a point apply just above its bias
    groups = frequency_groups(world.training_images, world.seen)
    for kind, bias in biases.items():
        accuracies = group_accuracies(best.predictions(bias), best.target, groups)
        yield from ((f"groups/{kind}/{group}", accuracy) for group, accuracy in accuracies.items())


def read_metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
    """Return all metrics of an evaluation, from the verified folders of its needs and its scores."""
    return compute_metrics(read_index(needs["data"]), PairScores.read(evaluation / SCORES))
