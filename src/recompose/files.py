"""Atomic writing of files: a reader sees the old content or the new one, never a part."""

import csv
import errno
import json
import os
import re
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from recompose.errors import DataError

Document = dict[str, Any]  # an object of JSON or YAML as plain values, not validated
_RUST = re.compile(r"\(os error (\d+)\)")  # how libraries in Rust, such as safetensors, name an OSError
SCRATCH = "scratch"  # the subfolder for files to resume from; removed when the content is complete


def write_atomically(path: Path, write: Callable[[Path], object]) -> None:
    """Let ``write`` fill a temporary file beside ``path``, then put it in its place.

    Its mode is that of every new file there, by the umask, also where a library makes its files private, as safetensors
    does.

    Raises:
        OSError: it cannot be written, as on a full disk; the error names ``path``, whatever the library says.
    """
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        mode = _create(temporary)
        write(temporary)
        sync(temporary)
        temporary.chmod(mode)
        temporary.replace(path)
    except OSError as error:
        if error.errno and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
    except Exception as error:
        if found := _RUST.search(str(error)):
            raise OSError(int(found[1]), os.strerror(int(found[1])), str(path)) from error
        raise
    finally:
        temporary.unlink(missing_ok=True)


def usual_mode(folder: Path) -> int:
    """Return the mode of every new file in a folder, by the umask: some libraries make theirs private."""
    path = folder / f".{secrets.token_hex(4)}"
    mode = _create(path)
    path.unlink()
    return mode


def _create(path: Path) -> int:
    """Create an empty file; returns its mode."""
    with path.open("xb") as file:
        return stat.S_IMODE(os.fstat(file.fileno()).st_mode)


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


def write_csv(path: Path, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table as CSV, atomically, every value quoted: a bare \\r would end a line."""

    def write(temporary: Path) -> None:
        with temporary.open("w", newline="", encoding="utf-8") as file:
            csv.writer(file, lineterminator="\n", quoting=csv.QUOTE_ALL).writerows([columns, *rows])

    write_atomically(path, write)


def read_csv(path: Path) -> list[dict[str, str]]:
    """Return the rows of a table of ``write_csv``, by its columns."""
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def read_json(path: Path) -> Any:
    """Return a JSON document."""
    return json.loads(path.read_text(encoding="utf-8"))


def read_text(path: Path, newline: str | None = None) -> str:
    """Return the text of a file that others wrote, without the byte order mark that editors on Windows put before it.

    Args:
        path: the file.
        newline: as in ``open``; by default each end of a line becomes a line feed.

    Raises:
        DataError: it is not in UTF-8.
        OSError: it cannot be read.
    """
    try:
        with path.open(encoding="utf-8-sig", newline=newline) as file:
            return file.read()
    except UnicodeDecodeError as error:
        line = error.object.count(b"\n", 0, error.start) + 1
        message = f"{path}:{line} is not in UTF-8 ({error.reason}); save the file in that encoding"
        raise DataError(message, code="no-utf-8", place=f"{path}:{line}") from None


def check_room(folder: Path, needed: int) -> None:
    """Check that so many bytes fit: writing to a memory-mapped file on a full disk kills the process.

    Raises:
        OSError: they do not fit.
    """
    free = shutil.disk_usage(folder).free
    if needed > free:
        fault = f"has {free / 2**30:.1f} GiB free; {needed / 2**30:.1f} GiB are needed"
        raise OSError(errno.ENOSPC, fault, str(folder))


def fresh_folder(path: Path) -> Path:
    """Create an empty folder at ``path``, in place of what is there."""
    if path.exists():
        shutil.rmtree(path)
    path.mkdir(parents=True)
    return path
