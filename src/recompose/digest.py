"""Digests: the identity of a file and of a document."""

import hashlib
import json
import os
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SHORT = 12
MAX_THREADS = 8  # that read files at once


def sha256_file(path: Path) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb", buffering=0) as file:  # it is read in large pieces anyway
        return hashlib.file_digest(file, "sha256").hexdigest()


def sha256_files(paths: Iterable[Path]) -> list[str]:
    """SHA-256 of each file's bytes, several at a time: what hashes leaves other threads free."""
    with ThreadPoolExecutor(min(os.cpu_count() or 1, MAX_THREADS)) as pool:
        return list(pool.map(sha256_file, paths))


def digest(document: Any) -> str:
    """SHA-256 of a document of dicts, lists, strings, numbers, booleans and None.

    The order of a dict's keys does not count. Anything that JSON cannot say exactly (NaN, sets, objects) is a
    ``TypeError`` or ``ValueError``: an identity must never rest on a ``repr``.
    """
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def short(name: str) -> str:
    """The first characters of a digest: what folders are called by and what people type."""
    return name[:SHORT]
