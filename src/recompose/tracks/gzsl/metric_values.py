"""Metrics: numbers that follow from an evaluation's scores by pure functions, under flat names such as
``test/own/harmonic_mean``.

- ``test/<bias>/<number>``: ``unseen``, ``seen`` and ``harmonic_mean`` at the method's bias (``own``), at the bias
  that validation chose (``validated``), and without a bias (``none``)
- ``test/accuracy``: of images of unseen classes among unseen classes
- ``test/curve/area``: under seen over unseen accuracy as the bias grows
- ``test/paths/<path>/<number>``: ``accuracy`` of one path alone, and ``harmonic_mean`` at the bias that is best for it
  on the test, which compares paths whose scores differ in scale
- ``test/uncertainty/<view>/<group>``: mean uncertainty of images of ``seen`` and of ``unseen`` classes, of ``hard``
  images and of the others (``clean``)
- ``val/uncertainty/fused/<epoch>``: after the ``first`` and after the ``last`` epoch

``METRICS`` declares the names, and how each is shown. All are fractions; uncertainties are between 0 and 1. A number
that does not exist has no entry.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from recompose.tables.metric import Metric
from recompose.tracks.gzsl.data.classes import ClassData, read_index
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report, seen_unseen_curve
from recompose.tracks.gzsl.scores import ClassScores
from recompose.tracks.seen_unseen import area

ACCURACY, OF_UNCERTAINTY = Metric("%", 100, 1, better=1), Metric("", 1, 3, better=0)
BIASES = ("own", "validated", "none")
NUMBERS = {"U": "unseen", "S": "seen", "H": "harmonic_mean"}  # by the papers' columns
VIEWS = ("vgt", "agt", "fused")
GROUPS = ("seen", "unseen", "hard", "clean")  # of images
METRICS = {
    **{f"test/{bias}/{number}": ACCURACY for bias in BIASES for number in NUMBERS.values()},
    **dict.fromkeys(("test/accuracy", "test/curve/area"), ACCURACY),
    **{f"test/paths/{view}/{number}": ACCURACY for view in VIEWS for number in ("harmonic_mean", "accuracy")},
    **{f"test/uncertainty/{view}/{group}": OF_UNCERTAINTY for view in VIEWS for group in GROUPS},
    **{f"val/uncertainty/fused/{epoch}": OF_UNCERTAINTY for epoch in ("first", "last")},
}


def compute_metrics(data: ClassData, scores: ClassScores) -> dict[str, float]:
    """Return all metrics of an evaluation, by flat name."""
    return {name: value for name, value in _metrics(data, scores) if math.isfinite(value)}


def _metrics(data: ClassData, scores: ClassScores) -> Iterator[tuple[str, float]]:
    rows = data.test_rows
    targets, seen = data.labels[rows], data.seen
    for name, bias in scores.biases.items():
        report = gzsl_report(scores.all, targets, seen, bias)
        yield from ((f"test/{name}/{number}", getattr(report, number)) for number in NUMBERS.values())
    yield "test/accuracy", gzsl_report(scores.arrays.get("accuracy", scores.all), targets, seen).accuracy
    yield "test/curve/area", area(seen_unseen_curve(scores.all, targets, seen))
    for path, of_path in scores.below("paths").items():
        report = gzsl_report(of_path, targets, seen, best_bias(of_path, targets, seen))
        yield f"test/paths/{path}/harmonic_mean", report.harmonic_mean
        yield f"test/paths/{path}/accuracy", report.accuracy
    for view, uncertainty in scores.below("uncertainties").items():
        yield from _group_means(f"test/uncertainty/{view}", uncertainty, seen[targets], data.hard[rows])
    for epoch, value in scores.validation.items():
        yield f"val/uncertainty/fused/{epoch}", value


def _group_means(
    place: str, uncertainty: np.ndarray, seen: np.ndarray, hard: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Yield the mean uncertainty of groups of images, from uncertainties [images], whether their class is seen, and
    whether they are hard.
    """
    groups = {"seen": seen, "unseen": ~seen, "hard": hard, "clean": ~hard}
    yield from ((f"{place}/{name}", float(uncertainty[rows].mean())) for name, rows in groups.items() if rows.any())


def read_metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
    """Return all metrics of an evaluation, from the verified folders of its needs and its scores."""
    return compute_metrics(read_index(needs["data"]), ClassScores.read(evaluation))
