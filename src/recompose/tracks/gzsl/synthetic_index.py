"""An index for a few steps of training: as many classes and attributes as a data set has, and few images."""

from pathlib import Path

import numpy as np

from recompose.plan import Recipe
from recompose.tracks.catalogue import load_adapter
from recompose.tracks.gzsl.catalogue import ADAPTERS
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.xlsa17 import Counts

WORD_WIDTH = 300  # of the vectors that the field takes
OF_A_CLASS = 10  # images, of which validation holds some out


def write_synthetic_index(recipe: Recipe, folder: Path, images: int) -> None:
    """Write an index into a folder.

    Args:
        recipe: of the data set that it stands for.
        folder: where to.
        images: to train on, in all stages of training; the test's are few.
    """
    invented_index(counts_of(recipe), images).write(folder)


def counts_of(recipe: Recipe) -> Counts:
    """What a data set should hold."""
    adapter = load_adapter(ADAPTERS, recipe.document)
    counts: Counts = adapter.expected(recipe.document["images"]) if "images" in recipe.document else adapter.COUNTS
    return counts


def invented_index(counts: Counts, images: int) -> ClassData:
    """Return invented classes, first the seen ones, of which those of validation are the last; images of some of them,
    in the data set's proportion of classes of validation.
    """
    rng = np.random.default_rng(0)
    seen, classes = counts.seen_classes, counts.seen_classes + counts.unseen_classes
    signatures = rng.random((classes, counts.attributes)).astype(np.float32) + 0.01
    is_seen = np.arange(classes) < seen
    is_validation = is_seen & (np.arange(classes) >= seen - counts.validation_classes)
    labels = np.concatenate([_shown(counts, images), [0, seen]])
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


def _shown(counts: Counts, images: int) -> np.ndarray:
    """Return labels of images to train on [images], of so few classes that each has some."""
    shown = min(counts.seen_classes, max(2, images // OF_A_CLASS))
    validation = min(counts.validation_classes, max(1, round(shown * counts.validation_classes / counts.seen_classes)))
    training = shown - validation
    of_validation = counts.seen_classes - counts.validation_classes + np.arange(validation)
    return np.resize(np.concatenate([np.arange(training), of_validation]), images)
