"""Curves of seen over unseen accuracy as the calibration bias grows."""

import numpy as np

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables import tradeoff
from recompose.tables.results import Results
from recompose.tables.style import Sheet
from recompose.tables.tradeoff import Tradeoff
from recompose.tracks.czsl.metrics.curves import dense_curve
from recompose.tracks.czsl.stored import read_scores


def draw_curves(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Draw seen over unseen accuracy in the artifact's world, a panel for each data set."""
    view = next(iter(paper.artifacts[name].all_views.values()))
    tradeoff.draw_curves(results, paper, name, sheet, _world_tradeoff(view.of.partition("/")[2]))


def mean_curves(results: Results) -> str:
    """Return the mean seen accuracy of each method at each unseen accuracy in the closed world, in percent, as CSV."""
    return tradeoff.mean_curves(results, "czsl", _world_tradeoff("closed"))


def _world_tradeoff(world: str) -> Tradeoff:
    """Return a reader of the accuracies of unseen and of seen pairs in a world."""

    def read(results: Results, evaluation: Recipe) -> tuple[np.ndarray, np.ndarray]:
        curve = dense_curve(read_scores(results, evaluation).bests["test", world])
        return curve.unseen, curve.seen

    return Tradeoff("unseen", "seen", read)
