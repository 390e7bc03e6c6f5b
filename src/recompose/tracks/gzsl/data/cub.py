"""CUB: photographs of birds (Wah et al., 2011), in the proposed split (Xian et al., 2019).

Classes have names like ``002.Laysan_Albatross``; that number is not the label.
"""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

# images, attributes, classes, and images of each split, as papers print them
COUNTS = xlsa17.Counts(11788, 312, 150, 50, 50, 7057, 1764, 2967, 4702, 2355)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip`` and ``CUB_200_2011.tgz`` into the common layout."""
    xlsa17.arrange(unpacked, root, name="CUB", images="CUB_200_2011/images", attributes="attributes.txt")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.read(root, COUNTS, "_".join)
