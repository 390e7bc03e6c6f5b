"""Checks of names that come with data, and searches in unpacked archives, whose outermost folders differ between
mirrors.
"""

from pathlib import Path, PurePosixPath

from recompose.errors import DataError


def is_inside(name: str) -> bool:
    """Return whether a name from a data set stays below the folder that it is joined to."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and not {"\\", "\0"} & set(name)


def find_folder(unpacked: Path, ending: str) -> Path:
    """Return the only folder whose path has this ending.

    Raises:
        DataError: there is none, or more than one.
    """
    folders = [path for path in _paths_ending(unpacked, ending) if path.is_dir()]
    if len(folders) != 1:
        fault = f"{unpacked}: expected one folder {ending} in the unpacked archives, found {len(folders)}"
        raise DataError(fault, code="not-one-folder", place=unpacked / ending)
    return folders[0]


def find_file(unpacked: Path, ending: str) -> Path:
    """Return the only file whose path has this ending; copies of it in several archives count as one.

    Raises:
        DataError: there is none, or there are several that differ.
    """
    files = sorted(path for path in _paths_ending(unpacked, ending) if path.is_file())
    if len({path.read_bytes() for path in files}) != 1:
        fault = f"{unpacked}: expected one file {ending} in the unpacked archives, found {len(files)}"
        raise DataError(fault, code="not-one-file", place=unpacked / ending)
    return files[0]


def _paths_ending(unpacked: Path, ending: str) -> list[Path]:
    parts = PurePosixPath(ending).parts
    return [path for path in unpacked.rglob(parts[-1]) if path.parts[-len(parts) :] == parts]
