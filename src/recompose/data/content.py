"""Digests of the raw files that an index was read from, and the files that changed since."""

from collections.abc import Iterable
from pathlib import Path

from recompose.digest import sha256_files
from recompose.files import read_json, write_json

CONTENT = "content.json"  # of an index: raw file -> SHA-256


def write_content(root: Path, names: Iterable[str], index: Path) -> None:
    """Write the digests of the raw files that an index was read from into its folder, by their paths below ``root``."""
    write_json(index / CONTENT, _digests(root, sorted(set(names))))


def _digests(root: Path, names: list[str]) -> dict[str, str]:
    """Return the digests of files; the digest of a missing file is empty."""
    present = [name for name in names if (root / name).is_file()]
    digests = dict(zip(present, sha256_files(root / name for name in present), strict=True))
    return {name: digests.get(name, "") for name in names}


def raw_files(index: Path) -> dict[str, str]:
    """Return the raw files that an index was read from: path -> SHA-256."""
    digests: dict[str, str] = read_json(index / CONTENT)
    return digests


def changed_files(root: Path, index: Path) -> list[str]:
    """Return the raw files that have changed since they were indexed."""
    indexed = raw_files(index)
    return [name for name, sha256 in _digests(root, list(indexed)).items() if indexed[name] != sha256]
