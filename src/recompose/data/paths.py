"""Names that come with data, and finding one's way in unpacked archives, whose outermost folders differ between
mirrors.
"""

from pathlib import Path, PurePosixPath

from recompose.errors import DataError


def is_inside(name: str) -> bool:
    """Whether a name from a data set stays below the folder that it is joined to."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and not {"\\", "\0"} & set(name)


def find_folder(unpacked: Path, ending: str) -> Path:
    """The only folder whose path ends like this.

    Raises:
        DataError: there is none, or more than one.
    """
    found = [path for path in _ending_like(unpacked, ending) if path.is_dir()]
    if len(found) != 1:
        raise DataError(f"{unpacked}: expected one folder {ending} in the unpacked archives, found {len(found)}")
    return found[0]


def find_file(unpacked: Path, ending: str) -> Path:
    """The only file whose path ends like this; copies of it in several archives count as one.

    Raises:
        DataError: there is none, or there are several that differ.
    """
    found = sorted(path for path in _ending_like(unpacked, ending) if path.is_file())
    if len({path.read_bytes() for path in found}) != 1:
        raise DataError(f"{unpacked}: expected one file {ending} in the unpacked archives, found {len(found)}")
    return found[0]


def _ending_like(unpacked: Path, ending: str) -> list[Path]:
    parts = PurePosixPath(ending).parts
    return [path for path in unpacked.rglob(parts[-1]) if path.parts[-len(parts) :] == parts]
