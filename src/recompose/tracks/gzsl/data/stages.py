"""The stages of training: the images that train, and those that choose an epoch.

Training with validation has two stages. The first uses only the seen classes: those of validation replace unseen ones,
and of each other class some images are held out. The second trains again on all training images. Neither has images of
an unseen class.
"""

from dataclasses import dataclass
from random import Random

import numpy as np

from recompose.tracks.gzsl.data.classes import ClassData

HELD_OUT = 5  # one image in so many of each class


@dataclass(frozen=True)
class Stage:
    """Images to train on, and images to choose by, of some classes."""

    classes: np.ndarray  # [classes], indices in the data set
    seen: np.ndarray  # [classes] bool, the classes of training among them
    rows: np.ndarray  # [images] to train on, positions in the data set
    chooses: np.ndarray  # [images] to choose by, positions in the data set; empty if nothing is chosen

    def targets(self, data: ClassData, rows: np.ndarray) -> np.ndarray:
        """Return the labels [images] of images, as indices of this stage's classes."""
        place = np.full(len(data.classes), -1, dtype=np.int64)
        place[self.classes] = np.arange(len(self.classes))
        return place[data.labels[rows]]


def selection_stage(data: ClassData, seed: int) -> Stage:
    """Return the stage that chooses by validation, without classes that training does not show."""
    classes = np.flatnonzero(data.seen)
    labels = data.labels[data.training_rows]
    by_class = (data.training_rows[labels == label] for label in np.unique(labels))
    held_out = np.concatenate([_held_out(rows, seed) for rows in by_class])
    rows = np.setdiff1d(data.training_rows, held_out)
    chooses = np.sort(np.concatenate([held_out, data.validation_rows]))
    return Stage(classes, ~data.validation[classes], rows, chooses)


def final_stage(data: ClassData) -> Stage:
    """Return the stage whose result is tested: all training images, and all classes."""
    return Stage(np.arange(len(data.classes)), data.seen, data.rows("trainval"), np.empty(0, dtype=np.int64))


def released_stage(data: ClassData) -> Stage:
    """Return the stage of released code: the final one, with the test to choose by."""
    return Stage(np.arange(len(data.classes)), data.seen, data.rows("trainval"), data.test_rows)


def _held_out(rows: np.ndarray, seed: int) -> np.ndarray:
    """Return one in ``HELD_OUT`` of a class's images, at least one if it has two."""
    count = len(rows) // HELD_OUT or int(len(rows) > 1)
    return np.array(sorted(Random(f"held out/{seed}/{rows[0]}").sample(rows.tolist(), count)), dtype=np.int64)
