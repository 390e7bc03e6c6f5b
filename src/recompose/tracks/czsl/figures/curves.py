"""Curves of seen over unseen accuracy as the calibration bias grows."""

from functools import partial

import numpy as np

from recompose.papers.declaration import Paper
from recompose.parts import tradeoff
from recompose.parts.results import Results
from recompose.parts.style import Drawing
from recompose.recipes.plan import Recipe
from recompose.tracks.building import SCORES
from recompose.tracks.czsl.metrics.curves import dense_curve
from recompose.tracks.czsl.metrics.worlds import PairScores


def draw_curves(results: Results, paper: Paper, name: str) -> Drawing:
    """Draw seen over unseen accuracy in the artifact's world, a panel for each data set."""
    view = next(iter(paper.artifacts[name].all_views.values()))
    return tradeoff.draw_curves(results, paper, name, partial(_accuracies, view.of.partition("/")[2]))


def mean_curves(results: Results) -> str:
    """Return the mean seen accuracy of each method at each unseen accuracy in the closed world, in percent, as CSV."""
    return tradeoff.mean_curves(results, "czsl", partial(_accuracies, "closed"))


def _accuracies(world: str, results: Results, evaluation: Recipe) -> tuple[np.ndarray, np.ndarray]:
    """Return unseen and seen accuracy on the test in a world over all calibration biases."""
    curve = dense_curve(PairScores.read(results.file(evaluation, SCORES)).bests["test", world])
    return curve.unseen, curve.seen
