"""Curves of seen over unseen accuracy as the calibration bias grows."""

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.report.figures import seen_unseen
from recompose.report.figures.style import Sheet
from recompose.report.results import Results
from recompose.tracks.czsl.metrics.curves import Curve
from recompose.tracks.czsl.stored import read_curve


def draw_curves(results: Results, paper: Paper, name: str, sheet: Sheet) -> None:
    """Seen over unseen accuracy in the artifact's world, a panel for each data set."""
    view = next(iter(paper.artifacts[name].all_views.values()))
    world = view.of.partition("/")[2]

    def read(results: Results, evaluation: Recipe) -> Curve:
        return read_curve(results, evaluation, world)

    seen_unseen.draw_curves(results, paper, name, sheet, read)


def mean_curves(results: Results) -> str:
    """The mean seen accuracy of each method at each unseen accuracy in the closed world, in percent, as CSV."""
    return seen_unseen.mean_curves(results, "czsl", lambda results, each: read_curve(results, each, "closed"))
