"""AWA2: photographs of animals (Xian et al., 2019), in the proposed split."""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

COUNTS = xlsa17.Counts(
    images=37322,
    attributes=85,
    seen_classes=40,
    unseen_classes=10,
    validation_classes=13,
    trainval_images=23527,
    test_seen_images=5882,
    test_unseen_images=7913,
    training_images=16187,
    validation_images=7340,
)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip`` and ``AwA2-data.zip`` into the common layout."""
    xlsa17.arrange(unpacked, root, name="AWA2", images="JPEGImages", attributes="predicates.txt")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.check_labels(xlsa17.read(root, COUNTS), root, "_".join)
