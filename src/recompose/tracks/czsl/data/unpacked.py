"""The files that all data sets move out of their unpacked archives."""

from pathlib import Path

from recompose.data.paths import find_folder
from recompose.errors import DataError
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
