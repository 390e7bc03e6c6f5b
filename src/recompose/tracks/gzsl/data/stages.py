"""Which images train, and which choose an epoch.

Training that chooses by validation has two stages. The first sees the seen classes alone: those of validation stand
for unseen ones, and of each other class some images are held out. The second trains anew on all images of training. No
image of an unseen class is in either.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from recompose.tracks.gzsl.data.classes import ClassData

HELD_OUT = 5  # of each class one image in so many


@dataclass(frozen=True)
class Stage:
    """Images to train on, and images to choose by, of some classes."""

    classes: np.ndarray  # [classes], which of the data set's
    seen: np.ndarray  # [classes] bool, which of these training shows
    rows: np.ndarray  # [images] to train on, positions in the data set
    chooses: np.ndarray  # [images] to choose by, positions in the data set; none where nothing is chosen

    def targets(self, data: ClassData, rows: np.ndarray) -> np.ndarray:
        """Return the labels [images] of images, as indices of this stage's classes."""
        place = np.full(len(data.classes), -1, dtype=np.int64)
        place[self.classes] = np.arange(len(self.classes))
        return place[data.labels[rows]]


def selecting(data: ClassData, seed: int) -> Stage:
    """Return the stage that chooses by validation: without a class that training does not show."""
    classes = np.flatnonzero(data.seen)
    held_out = np.concatenate([_some(rows, seed) for rows in _by_class(data, data.training_rows)])
    rows = np.setdiff1d(data.training_rows, held_out)
    chooses = np.sort(np.concatenate([held_out, data.validation_rows]))
    return Stage(classes, ~data.validation[classes], rows, chooses)


def final(data: ClassData) -> Stage:
    """Return the stage whose outcome is tested: all images of training, and all classes to be told apart."""
    return Stage(np.arange(len(data.classes)), data.seen, data.rows("trainval"), np.empty(0, dtype=np.int64))


def as_released(data: ClassData) -> Stage:
    """Return the same, with the test to choose by, as released code does."""
    return Stage(np.arange(len(data.classes)), data.seen, data.rows("trainval"), data.test_rows)


def _by_class(data: ClassData, rows: np.ndarray) -> list[np.ndarray]:
    return [rows[data.labels[rows] == label] for label in np.unique(data.labels[rows])]


def _some(rows: np.ndarray, seed: int) -> np.ndarray:
    """Return one in ``HELD_OUT`` of a class's images, at least one where it has two."""
    count = len(rows) // HELD_OUT or int(len(rows) > 1)
    return np.array(sorted(Random(f"held out/{seed}/{rows[0]}").sample(rows.tolist(), count)), dtype=np.int64)
