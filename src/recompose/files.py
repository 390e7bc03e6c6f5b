"""Writing files so that a reader finds the old content or the new one, never half of it."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

SCRATCH = "scratch"  # the subfolder for what a maker needs to resume; removed when the content is complete


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        with temporary.open("rb") as file:
            os.fsync(file.fileno())
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write text atomically, in UTF-8."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document atomically, with its keys in their order."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Read a JSON document."""
    return json.loads(path.read_text(encoding="utf-8"))


def check_room(folder: Path, needed: int) -> None:
    """See to it that so many bytes fit: a file that is mapped into memory ends its process where the disk is full.

    Raises:
        OSError: they do not.
    """
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"{folder} has room for {free / 2**30:.1f} GiB, and {needed / 2**30:.1f} GiB are to be written")


def fresh_folder(path: Path) -> Path:
    """An empty folder at ``path``; what was there is removed."""
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path
