"""The files that all data sets move out of their unpacked archives."""

from pathlib import Path

from recompose.data.paths import find_folder, name_as_listed
from recompose.errors import DataError
from recompose.tracks.czsl.data.compositional import read_metadata
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME


def move_split(unpacked: Path, name: str, root: Path) -> None:
    """Move the pair lists and the metadata of the data set ``name`` in the archives.

    Raises:
        DataError: the files are absent, or present more than once.
    """
    folder = find_folder(unpacked, f"{name}/{SPLIT_NAME}")
    metadata = folder.parent / METADATA
    if not metadata.is_file():
        message = f"{folder.parent} has pair lists but no {METADATA}"
        raise DataError(message, code="missing-file", place=metadata)
    folder.rename(root / SPLIT_NAME)
    metadata.rename(root / METADATA)


def move_images(images: Path, root: Path) -> None:
    """Move a folder of images, which get the names that the metadata has for them, beside the metadata.

    Raises:
        DataError: the metadata is malformed.
    """
    images.rename(root / "images")
    name_as_listed(root / "images", [record["image"] for record in read_metadata(root / METADATA)])
