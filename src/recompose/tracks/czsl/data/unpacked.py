"""Finding one's way in an unpacked archive, whose outermost folders differ between mirrors."""

from pathlib import Path, PurePosixPath

from recompose.tracks.czsl.data.compositional import DataError
from recompose.tracks.czsl.data.layout import METADATA, SPLIT_NAME


def find_folder(unpacked: Path, ending: str) -> Path:
    """The only folder whose path ends like this.

    Raises:
        DataError: there is none, or more than one.
    """
    parts = PurePosixPath(ending).parts
    found = [path for path in unpacked.rglob(parts[-1]) if path.is_dir() and path.parts[-len(parts) :] == parts]
    if len(found) != 1:
        raise DataError(f"{unpacked}: expected one folder {ending} in the unpacked archives, found {len(found)}")
    return found[0]


def move_split(unpacked: Path, name: str, root: Path) -> None:
    """Move the pair lists and the metadata of the data set that the archives call ``name``.

    Raises:
        DataError: they are not there, or stand there more than once.
    """
    folder = find_folder(unpacked, f"{name}/{SPLIT_NAME}")
    if not (folder.parent / METADATA).is_file():
        raise DataError(f"{folder.parent} has pair lists but no {METADATA}")
    folder.rename(root / SPLIT_NAME)
    (folder.parent / METADATA).rename(root / METADATA)
