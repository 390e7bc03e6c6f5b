"""CUB: photographs of birds (Wah et al., 2011), in the proposed split (Xian et al., 2019).

Classes have names like ``002.Laysan_Albatross``; that number is not the label.
"""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

COUNTS = xlsa17.Counts(
    images=11788,
    attributes=312,
    seen_classes=150,
    unseen_classes=50,
    validation_classes=50,
    trainval_images=7057,
    test_seen_images=1764,
    test_unseen_images=2967,
    training_images=4702,
    validation_images=2355,
)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip`` and ``CUB_200_2011.tgz`` into the common layout."""
    xlsa17.arrange(unpacked, root, name="CUB", images="CUB_200_2011/images", attributes="attributes.txt")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.check_labels(xlsa17.read(root, COUNTS), root, "_".join)
