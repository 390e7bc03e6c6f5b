"""What a command takes: seconds, and the memory of all its processes together."""

import os
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

LOOK_EVERY = 0.2  # seconds


@dataclass(frozen=True)
class Taken:
    """What a command took."""

    seconds: float
    peak: int  # bytes of memory at most, without pages of files that are mapped, which the system takes back
    code: int  # its exit status


def taken(command: Sequence[str], folder: Path, variables: dict[str, str], log: Path) -> Taken:
    """Carry out a command in a folder; what it says goes to the end of a log."""
    log.parent.mkdir(parents=True, exist_ok=True)
    peak, began = 0, time.perf_counter()
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, cwd=folder, env=os.environ | variables, stdout=output, stderr=output, start_new_session=True
        )
        while process.poll() is None:
            peak = max(peak, sum(_anonymous(each) for each in Path("/proc").iterdir() if _belongs(each, process.pid)))
            time.sleep(LOOK_EVERY)
    return Taken(time.perf_counter() - began, peak, process.returncode)


def _belongs(process: Path, session: int) -> bool:
    """Whether a process, by its folder, is of a session."""
    if not process.name.isdecimal():
        return False
    try:
        return os.getsid(int(process.name)) == session
    except OSError:  # it has ended
        return False


def _anonymous(process: Path) -> int:
    """Bytes of a process' memory that are no pages of files."""
    try:
        lines = (process / "status").read_text().splitlines()
    except OSError:
        return 0
    return sum(1024 * int(line.split()[1]) for line in lines if line.startswith(("RssAnon:", "RssShmem:")))


def bytes_below(folder: Path) -> int:
    """Bytes of all files below a folder; one that has two names, or is linked to, counts once or not at all."""
    found = {}
    for path in folder.rglob("*"):
        status = path.lstat()
        if path.is_file() and not path.is_symlink():
            found[status.st_ino] = status.st_size
    return sum(found.values())
