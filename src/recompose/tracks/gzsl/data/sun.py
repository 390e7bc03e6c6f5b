"""SUN: photographs of scenes with attributes (Patterson and Hays, 2012), in the proposed split (Xian et al., 2019)."""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

# images, attributes, classes, and images of each split, as papers print them
COUNTS = xlsa17.Counts(14340, 102, 645, 72, 65, 10320, 2580, 1440, 9280, 1040)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip``, ``SUNAttributeDB.tar.gz`` and ``SUNAttributeDB_Images.tar.gz`` into
    the common layout.
    """
    xlsa17.arrange(unpacked, root, name="SUN", images="images", attributes="SUNAttributeDB/attributes.mat")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.read(root, COUNTS, _class_of)


def _class_of(folders: tuple[str, ...]) -> str:
    """Return the class of a folder: ``a/airport/entrance`` has images of ``airport_entrance``."""
    return "_".join(folders[1:])
