"""What was found in raw files when they were indexed, and what was changed since."""

from collections.abc import Iterable
from pathlib import Path

from recompose.digest import sha256_file
from recompose.files import read_json, write_json

CONTENT = "content.json"  # of an index: raw file -> SHA-256


def write_content(root: Path, names: Iterable[str], index: Path) -> None:
    """Write into the folder of an index the digests of the raw files that it was read from, by their paths below
    ``root``.
    """
    write_json(index / CONTENT, {name: _digest(root / name) for name in sorted(set(names))})


def _digest(path: Path) -> str:
    """The digest of a file; empty where it is missing."""
    return sha256_file(path) if path.is_file() else ""


def raw_files(index: Path) -> dict[str, str]:
    """The raw files that an index was read from: path -> SHA-256."""
    names: dict[str, str] = read_json(index / CONTENT)
    return names


def changed(root: Path, index: Path) -> list[str]:
    """The raw files that are not what they were when they were indexed."""
    return [name for name, sha256 in raw_files(index).items() if _digest(root / name) != sha256]
