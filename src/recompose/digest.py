"""Digests: the identity of a file and of a document."""

import hashlib
import json
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from recompose.cores import usable_cores

SHORT = 12
MAX_THREADS = 8  # that read files at the same time


def sha256_file(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb", buffering=0) as file:  # large pieces are read anyway
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_files(paths: Iterable[Path]) -> list[str]:
    """Return the SHA-256 of each file's bytes; hashing releases the interpreter lock, so threads run in parallel."""
    with ThreadPoolExecutor(min(usable_cores(), MAX_THREADS)) as pool:
        return list(pool.map(sha256_file, paths))


def digest(document: Any) -> str:
    """Return the SHA-256 of a document of dicts, lists, strings, numbers, booleans and None.

    The order of a dict's keys does not matter.

    Raises:
        TypeError: JSON has no such type (sets, objects): an identity must never depend on a ``repr``.
        ValueError: JSON has no such number (NaN).
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def short(name: str) -> str:
    """Return the first characters of a digest: the name of a folder, and as much as people type."""
    return name[:SHORT]
