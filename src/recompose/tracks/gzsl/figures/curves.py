"""Curves of seen over unseen accuracy as the calibration bias grows."""

import numpy as np

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables import tradeoff
from recompose.tables.results import Results
from recompose.tables.style import Sheet
from recompose.tables.tradeoff import Tradeoff
from recompose.tracks.gzsl.metrics import seen_unseen_curve
from recompose.tracks.gzsl.stored import read_classes, read_scores


def draw_seen_unseen(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw seen over unseen accuracy, a panel for each data set."""
    tradeoff.draw_curves(results, paper, name, sheet, ACCURACIES)


def mean_curves(results: Results) -> str:
    """Return the mean seen accuracy of each method at each unseen accuracy, in percent, as CSV."""
    return tradeoff.mean_curves(results, "gzsl", ACCURACIES)


def _accuracies(results: Results, evaluation: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """Return unseen and seen accuracy on the test over all calibration biases."""
    data = read_classes(results, evaluation.needs["data"])
    curve = seen_unseen_curve(read_scores(results, evaluation).all, data.labels[data.test_rows], data.seen)
    return curve.unseen, curve.seen


ACCURACIES = Tradeoff("unseen", "seen", _accuracies)
