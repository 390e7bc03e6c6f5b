"""Stored evaluations and data sets, read from files whose digests were checked."""

from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tracks.building import SCORES
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.curves import dense_curve
from recompose.tracks.czsl.metrics.worlds import PairScores
from recompose.tracks.seen_unseen import SeenUnseenCurve


def read_scores(results: Results, evaluation: Recipe) -> PairScores:
    """Return the best pairs of an evaluation's test and validation images."""
    return PairScores.read(results.file(evaluation, SCORES))


def read_curve(results: Results, evaluation: Recipe, world: str) -> SeenUnseenCurve:
    """Return seen and unseen accuracy on test images over all calibration biases, in a world that was scored."""
    return dense_curve(read_scores(results, evaluation).bests["test", world])


def read_pairs(results: Results, data: Recipe) -> PairData:
    """Return the index of a data set."""
    return PairData.read(results.folder(data))
