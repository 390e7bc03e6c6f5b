"""Stamps: how files were when their bytes were last found right, so that they are not read again.

The system sets the time of a file's last change, and no user can: a file with the same inode and time has the same
bytes. A copy has neither, and is read. Stamps are kept beside the record, hidden, since they hold on one disk alone.
Whoever writes stamps for bytes of his own could as well write their record; an audit reads all bytes.
"""

import os
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any

from recompose.files import read_json, write_json

SEEN = ".seen.json"  # in a folder of the store: name -> the hash of a file and its stamp
TICKS, TICK = 20, 0.002  # seconds; clocks of file systems go on every one to ten milliseconds
Stamp = list[int]


def stamp_of(path: Path) -> Stamp | None:
    """Return a file's stamp, or None without a file. The system sets the last part at every change of the file or of
    its metadata.
    """
    with suppress(OSError):
        status = path.stat()
        return [status.st_size, status.st_ino, status.st_mtime_ns, status.st_ctime_ns]
    return None


def take_stamps(folder: Path, names: Iterable[str]) -> dict[str, Stamp]:
    """Return the stamps of files in a folder, such that any later change of one gives it another stamp.

    A file has none if it is a link to another disk, and no file has one if the disk notes no times of changes.
    """
    if not _next_tick(folder):
        return {}
    disk = folder.stat().st_dev
    stamps = {name: stamp_of(folder / name) for name in names}
    return {name: stamp for name, stamp in stamps.items() if stamp and (folder / name).stat().st_dev == disk}


def _next_tick(folder: Path) -> bool:
    """Wait until the clock of a folder's disk has gone on; false if it does not, or the folder is not writable.

    The time of a change must not follow the time that a user sets.
    """
    with suppress(OSError), TemporaryFile(dir=folder) as file:
        created = os.fstat(file.fileno()).st_ctime_ns
        for _ in range(TICKS):
            time.sleep(TICK)
            os.utime(file.fileno(), ns=(0, 0))
            if os.fstat(file.fileno()).st_ctime_ns > created:
                return True
    return False


def read_seen(folder: Path) -> dict[str, Any]:
    """Return by name the hash and the stamp of files as they were found right; none where nothing was noted."""
    with suppress(OSError, ValueError, RecursionError):
        seen = read_json(folder / SEEN)
        return seen if isinstance(seen, dict) else {}
    return {}


def write_seen(folder: Path, hashes: Mapping[str, str], stamps: Mapping[str, Stamp]) -> None:
    """Note the hashes of files, with the stamps that were taken before they were read; not where nobody may write."""
    with suppress(OSError):
        write_json(folder / SEEN, {name: [hashes[name], stamp] for name, stamp in stamps.items()})
