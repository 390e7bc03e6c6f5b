"""Checks of names that come with data, and searches in unpacked archives, whose outermost folders and whose spelling
differ between mirrors and systems.
"""

import os
import unicodedata
from collections.abc import Callable, Iterable
from pathlib import Path, PurePosixPath

from recompose.errors import DataError

_LITTER = (".DS_Store", "Thumbs.db", "desktop.ini")


def is_inside(name: str) -> bool:
    """Return whether a name from a data set stays below the folder that it is joined to."""
    path = PurePosixPath(name)
    return bool(name) and not path.is_absolute() and ".." not in path.parts and not {"\\", "\0"} & set(name)


def is_litter(name: str) -> bool:
    """Return whether macOS or Windows added a file of this path to a folder or an archive.

    Example:
        >>> is_litter("__MACOSX/images/._1.jpg"), is_litter("images/Thumbs.db"), is_litter("images/1.jpg")
        (True, True, False)
    """
    path = PurePosixPath(name)
    return "__MACOSX" in path.parts or path.name.startswith("._") or path.name in _LITTER


def files_below(folder: Path) -> list[Path]:
    """Return the files of a folder and of those in it, sorted, without what macOS and Windows added."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sorted(path for path in files if not is_litter(path.relative_to(folder).as_posix()))


def spelling(name: str) -> str:
    """Return a name in the form that is equal for all of its spellings: other case, and accents as macOS stores them.

    Example:
        >>> spelling("Caf\u00e9/A.JPG") == spelling("cafe\u0301/a.jpg")
        True
    """
    return unicodedata.normalize("NFC", name).casefold()


def name_as_listed(folder: Path, names: Iterable[str]) -> None:
    """Rename unpacked files that spell names of a list in another way; ``names`` are paths below their folder.

    A file that has a name of the list keeps it. Names of no file are left to readers, who say what is missing.
    """
    listed = {name for name in names if is_inside(name)}
    # os.path.isfile, because it never raises
    lacking = {spelling(name): folder / name for name in listed if not os.path.isfile(folder / name)}  # noqa: PTH113
    for file in files_below(folder) if lacking else ():
        name = file.relative_to(folder).as_posix()
        if name not in listed and (place := lacking.pop(spelling(name), None)):
            place.parent.mkdir(parents=True, exist_ok=True)
            file.rename(place)


def find_folder(unpacked: Path, ending: str) -> Path:
    """Return the only folder whose path has this ending; a folder that only holds one of its name is that.

    Raises:
        DataError: there is none, or more than one.
    """
    folders = {_innermost(path) for path in _paths_ending(unpacked, ending, Path.is_dir)}
    if len(folders) != 1:
        fault = f"{unpacked}: expected one folder {ending} in the unpacked archives, found {len(folders)}"
        raise DataError(fault, code="not-one-folder", place=unpacked / ending)
    return folders.pop()


def _innermost(folder: Path) -> Path:
    while (inner := folder / folder.name).is_dir() and len(list(folder.iterdir())) == 1:
        folder = inner
    return folder


def find_file(unpacked: Path, ending: str) -> Path:
    """Return the only file whose path has this ending; copies of it in several archives count as one.

    Raises:
        DataError: there is none, or there are several that differ.
    """
    files = sorted(_paths_ending(unpacked, ending, Path.is_file))
    if len({path.read_bytes() for path in files}) != 1:
        fault = f"{unpacked}: expected one file {ending} in the unpacked archives, found {len(files)}"
        raise DataError(fault, code="not-one-file", place=unpacked / ending)
    return files[0]


def _paths_ending(unpacked: Path, ending: str, is_kind: Callable[[Path], bool]) -> list[Path]:
    """Return the paths with this ending, or else those that spell it in another way."""
    parts = PurePosixPath(ending).parts
    exact = [path for path in unpacked.rglob(parts[-1]) if path.parts[-len(parts) :] == parts and is_kind(path)]
    return exact or [
        path
        for path in unpacked.rglob("*")
        if spelling("/".join(path.parts[-len(parts) :])) == spelling(ending) and is_kind(path)
    ]
