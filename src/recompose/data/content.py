"""What was found in raw files when they were indexed, and what was changed since."""

from collections.abc import Iterable
from pathlib import Path

from recompose.digest import sha256_files
from recompose.files import read_json, write_json

CONTENT = "content.json"  # of an index: raw file -> SHA-256


def write_content(root: Path, names: Iterable[str], index: Path) -> None:
    """Write into the folder of an index the digests of the raw files that it was read from, by their paths below
    ``root``.
    """
    write_json(index / CONTENT, _digests(root, sorted(set(names))))


def _digests(root: Path, names: list[str]) -> dict[str, str]:
    """The digests of files; empty of those that are missing."""
    there = [name for name in names if (root / name).is_file()]
    digests = dict(zip(there, sha256_files(root / name for name in there), strict=True))
    return {name: digests.get(name, "") for name in names}


def raw_files(index: Path) -> dict[str, str]:
    """The raw files that an index was read from: path -> SHA-256."""
    names: dict[str, str] = read_json(index / CONTENT)
    return names


def changed(root: Path, index: Path) -> list[str]:
    """The raw files that are not what they were when they were indexed."""
    known = raw_files(index)
    return [name for name, sha256 in _digests(root, list(known)).items() if known[name] != sha256]
