"""Scores of tasks, their files, and the embeddings that they follow from. This module imports no torch."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import write_atomically

FILE = "scores.safetensors"  # of an evaluation: array of scores by the name of its sub-task
BROKEN = -1  # in place of the row of an unreadable image
LEFT_OUT = -1  # in place of the rank of a query that is left out
BLOCK = 1 << 24  # numbers in memory at a time


@dataclass(frozen=True)
class Features:
    """The embeddings of a suite's images and texts, as rows of shared arrays, each of length 1."""

    images: np.ndarray  # [rows, E]
    texts: np.ndarray  # [rows, E]
    image_rows: np.ndarray  # [images of the suite], BROKEN for an unreadable image
    text_rows: np.ndarray  # [texts of the suite]


def cosines(features: Features, image_rows: np.ndarray, text_rows: np.ndarray) -> np.ndarray:
    """Return the cosines of images and texts at these rows; each pair is computed once, so that equal pairs tie."""
    numbers = image_rows.astype(np.int64) * len(features.texts) + text_rows
    pairs, place = np.unique(numbers, return_inverse=True)
    values = np.empty(len(pairs), dtype=np.float32)
    for block in blocks(len(pairs), 2 * features.images.shape[1]):
        images, texts = np.divmod(pairs[block], len(features.texts))
        values[block] = np.einsum("pe,pe->p", features.images[images], features.texts[texts])
    return values[place.ravel()].reshape(image_rows.shape)


def blocks(rows: int, width: int) -> list[slice]:
    """Return slices of rows, whose numbers fit in ``BLOCK``."""
    size = max(1, BLOCK // max(1, width))
    return [slice(start, start + size) for start in range(0, rows, size)]


def write_scores(scores: Mapping[str, np.ndarray], path: Path) -> None:
    """Write the scores of an evaluation."""
    arrays = {name: np.ascontiguousarray(array) for name, array in scores.items()}
    write_atomically(path, lambda temporary: save_file(arrays, temporary))


def read_scores(path: Path) -> dict[str, np.ndarray]:
    """Read a file of ``write_scores``."""
    return load_file(path)


def has_scores(scores: np.ndarray) -> np.ndarray:
    """Return True for each item that has scores, or a rank [items]."""
    if scores.dtype.kind in "iu":
        return scores != LEFT_OUT
    return ~np.isnan(scores).reshape(len(scores), -1).all(axis=1)
