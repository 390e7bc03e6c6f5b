"""SUN: photographs of scenes with attributes (Patterson and Hays, 2012), in the proposed split (Xian et al., 2019)."""

from pathlib import Path

from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import ClassData

COUNTS = xlsa17.Counts(
    images=14340,
    attributes=102,
    seen_classes=645,
    unseen_classes=72,
    validation_classes=65,
    trainval_images=10320,
    test_seen_images=2580,
    test_unseen_images=1440,
    training_images=9280,
    validation_images=1040,
)


def arrange(unpacked: Path, root: Path) -> None:
    """Move the unpacked archives ``xlsa17.zip``, ``SUNAttributeDB.tar.gz`` and ``SUNAttributeDB_Images.tar.gz`` into
    the common layout.
    """
    xlsa17.arrange(unpacked, root, name="SUN", images="images", attributes="SUNAttributeDB/attributes.mat")


def read(root: Path) -> ClassData:
    """Read and check the data set."""
    return xlsa17.check_labels(xlsa17.read(root, COUNTS), root, _class_of)


def _class_of(folders: tuple[str, ...]) -> str:
    """Return the class of a folder: ``a/airport/entrance`` has images of ``airport_entrance``."""
    return "_".join(folders[1:])
