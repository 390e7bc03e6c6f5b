"""AWA2: photographs of animals (Xian et al., 2019), in the proposed split."""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

# images, attributes, classes, and images of each split, as papers print them
COUNTS = xlsa17.Counts(37322, 85, 40, 10, 13, 23527, 5882, 7913, 16187, 7340)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip`` and ``AwA2-data.zip`` into the common layout."""
    xlsa17.arrange(unpacked, root, name="AWA2", images="JPEGImages", attributes="predicates.txt")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.read(root, COUNTS, "_".join)
