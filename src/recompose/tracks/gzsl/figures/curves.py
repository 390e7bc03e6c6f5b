"""Curves of seen over unseen accuracy as the calibration bias grows."""

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures import seen_unseen
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.gzsl.metrics import Curve, seen_unseen_curve
from recompose.tracks.gzsl.stored import read_classes, read_scores


def draw_seen_unseen(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Seen over unseen accuracy, a panel for each data set."""
    seen_unseen.draw_curves(results, paper, name, sheet, read_curve)


def mean_curves(results: Results) -> str:
    """The mean seen accuracy of each method at each unseen accuracy, in percent, as CSV."""
    return seen_unseen.mean_curves(results, "gzsl", read_curve)


def read_curve(results: Results, evaluation: Recipe) -> Curve:
    """Seen and unseen accuracy on the test over all calibration biases."""
    data = read_classes(results, evaluation.needs["data"])
    targets = data.labels[data.test_rows]
    return seen_unseen_curve(read_scores(results, evaluation).all, targets, data.seen)
