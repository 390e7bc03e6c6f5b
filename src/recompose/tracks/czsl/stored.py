"""Stored evaluations and data sets, read from files whose digests were checked."""

from collections.abc import Iterator

import numpy as np

from recompose.papers.declaration import Paper
from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tables.rows import first_evaluations
from recompose.tracks.building import SCORES
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.worlds import PairScores
from recompose.tracks.stored import read_embeddings


def read_scores(results: Results, evaluation: Recipe) -> PairScores:
    """Return the best pairs of an evaluation's test and validation images."""
    return PairScores.read(results.file(evaluation, SCORES))


def read_pairs(results: Results, data: Recipe) -> PairData:
    """Return the index of a data set."""
    return PairData.read(results.folder(data))


def read_embedded(
    results: Results, paper: Paper, name: str
) -> Iterator[tuple[str, Recipe, PairData, dict[str, np.ndarray]]]:
    """Yield each data set of a figure with the first evaluation on it, its pairs and the vectors that the evaluation
    saved.
    """
    for dataset, runs in first_evaluations(results, paper, name).items():
        run = next(iter(runs.values()))
        yield dataset, run, read_pairs(results, run.needs["data"]), read_embeddings(results, run)
