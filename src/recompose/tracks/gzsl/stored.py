"""Stored runs, evaluations and data sets, read from files whose digests were checked."""

import numpy as np
from safetensors.numpy import load_file

from recompose.plan import Recipe
from recompose.tables.results import Results
from recompose.tracks.building import SCORES
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.scores import CALIBRATION, UNCERTAINTY, ClassScores


def read_scores(results: Results, evaluation: Recipe) -> ClassScores:
    """Return a method's scores of the test images."""
    results.file(evaluation, CALIBRATION)
    return ClassScores.read(results.file(evaluation, SCORES).parent)


def read_uncertainty(results: Results, run: Recipe) -> np.ndarray:
    """Return the uncertainty [epochs, images] of the images that chose an epoch."""
    uncertainty: np.ndarray = load_file(results.file(run, UNCERTAINTY))["uncertainty"]
    return uncertainty


def read_classes(results: Results, data: Recipe) -> ClassData:
    """Return the index of a data set."""
    return ClassData.read(results.folder(data))
