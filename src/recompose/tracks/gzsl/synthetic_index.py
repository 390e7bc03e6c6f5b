"""An index for a few steps of training, with a data set's numbers of classes and attributes, and few images."""

from pathlib import Path

import numpy as np

from recompose.plan import Recipe
from recompose.tracks.catalogue import load_adapter
from recompose.tracks.gzsl.catalogue import ADAPTERS
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.xlsa17 import Counts

WORD_WIDTH = 300  # of the field's vectors
OF_A_CLASS = 10  # images, of which validation holds some out


def write_synthetic_index(recipe: Recipe, folder: Path, images: int) -> None:
    """Write a synthetic index into a folder.

    Args:
        recipe: of the data set that the index imitates.
        folder: the folder of the index.
        images: the number of training images, in all stages; test images are few.
    """
    invented_index(counts_of(recipe), images).write(folder)


def counts_of(recipe: Recipe) -> Counts:
    """Return the counts that a data set should have."""
    adapter = load_adapter(ADAPTERS, recipe.document)
    counts: Counts = adapter.expected(recipe.document["images"]) if "images" in recipe.document else adapter.COUNTS
    return counts


def invented_index(counts: Counts, images: int) -> ClassData:
    """Return invented classes, first the seen ones, whose last ones are those of validation, and images of some of
    them, in the data set's proportion of validation classes.
    """
    rng = np.random.default_rng(0)
    seen, classes = counts.seen_classes, counts.seen_classes + counts.unseen_classes
    signatures = rng.random((classes, counts.attributes)).astype(np.float32) + 0.01
    is_seen = np.arange(classes) < seen
    is_validation = is_seen & (np.arange(classes) >= seen - counts.validation_classes)
    labels = np.concatenate([_training_labels(counts, images), [0, seen]])
    splits = np.array(["trainval"] * images + ["test_seen", "test_unseen"])
    return ClassData(
        tuple(f"class {index}" for index in range(classes)),
        tuple(f"attribute {index}" for index in range(counts.attributes)),
        signatures / np.linalg.norm(signatures, axis=1, keepdims=True),
        rng.normal(size=(counts.attributes, WORD_WIDTH)).astype(np.float32),
        is_seen,
        is_validation,
        tuple(f"images/{index}.png" for index in range(len(labels))),
        labels.astype(np.int64),
        splits,
        np.zeros(len(labels), dtype=bool),
    )


def _training_labels(counts: Counts, images: int) -> np.ndarray:
    """Return labels of training images [images], of so few classes that each has some."""
    class_count = min(counts.seen_classes, max(2, images // OF_A_CLASS))
    validation = min(
        counts.validation_classes, max(1, round(class_count * counts.validation_classes / counts.seen_classes))
    )
    training = class_count - validation
    of_validation = counts.seen_classes - counts.validation_classes + np.arange(validation)
    return np.resize(np.concatenate([np.arange(training), of_validation]), images)
