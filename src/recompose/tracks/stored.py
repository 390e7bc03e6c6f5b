"""Stored evaluations of any track, read from files whose digests were checked."""

import numpy as np
from safetensors.numpy import load_file

from recompose.parts.results import Results
from recompose.recipes.plan import Recipe
from recompose.tracks.building import EMBEDDINGS


def read_embeddings(results: Results, evaluation: Recipe) -> dict[str, np.ndarray]:
    """Return the vectors that an evaluation saved for figures, by name."""
    return load_file(results.file(evaluation, EMBEDDINGS))
