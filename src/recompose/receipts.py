"""Receipts: what a phase tells Snakemake, a small file with the digests of what it made.

Snakemake owns nothing but receipts (and the reports), so it can delete nothing dear. A receipt's name carries the digest of what was
to be made, and it holds only while the files it names are as they were: no clock and no engine's memory comes into it.
"""

from collections.abc import Iterable
from pathlib import Path

from recompose.digest import sha256_file
from recompose.files import read_json, write_json


def write_receipt(path: Path, root: Path, files: Iterable[Path]) -> None:
    """State that these files are made."""
    write_json(path, {file.relative_to(root).as_posix(): sha256_file(file) for file in sorted(files)})


def holds(path: Path, root: Path) -> bool:
    """Whether a receipt is there and every file it names is as it was."""
    try:
        files = read_json(path)
        return all((root / name).is_file() and sha256_file(root / name) == sha256 for name, sha256 in files.items())
    except (OSError, ValueError, AttributeError, TypeError):
        return False


def drop_outdated(paths: Iterable[Path], root: Path) -> list[Path]:
    """Remove the receipts that no longer hold, so that what they stand for is made again; gives them."""
    outdated = [path for path in paths if path.exists() and not holds(path, root)]
    for path in outdated:
        path.unlink()
    return outdated
