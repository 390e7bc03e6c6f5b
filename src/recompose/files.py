"""Atomic writing of files: a reader sees the old content or the new one, never a part."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

Document = dict[str, Any]  # an object of JSON or YAML as plain values, not validated
SCRATCH = "scratch"  # the subfolder for files to resume from; removed when the content is complete


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then put it in its place."""
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=path.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        write(temporary)
        sync(temporary)
        temporary.chmod(0o644)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def sync(path: Path) -> None:
    """Wait until a file's content is on the disk."""
    with path.open("rb") as file:
        os.fsync(file.fileno())


def link(file: Path, place: Path) -> None:
    """Link a file at a free place: hard, to outlive the file's own folder, or across disks symbolically."""
    try:
        os.link(file.resolve(), place)
    except OSError:  # another disk, or one without hard links
        place.symlink_to(file.resolve())


def write_text(path: Path, text: str) -> None:
    """Write text atomically, in UTF-8."""
    write_atomically(path, lambda temporary: temporary.write_text(text, encoding="utf-8"))


def write_json(path: Path, document: Any) -> None:
    """Write a JSON document atomically, with its keys in their order."""
    write_text(path, json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def read_json(path: Path) -> Any:
    """Return a JSON document."""
    return json.loads(path.read_text(encoding="utf-8"))


def check_room(folder: Path, needed: int) -> None:
    """Check that so many bytes fit: writing to a memory-mapped file on a full disk kills the process.

    Raises:
        OSError: they do not fit.
    """
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise OSError(f"{folder} has {free / 2**30:.1f} GiB free; {needed / 2**30:.1f} GiB are needed")


def fresh_folder(path: Path) -> Path:
    """Create an empty folder at ``path``, in place of what is there."""
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path
