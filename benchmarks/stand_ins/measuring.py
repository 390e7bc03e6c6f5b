"""What a command takes: seconds, and the memory of all its processes together."""

import os
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from pathlib import Path

LOOK_EVERY = 0.2  # seconds
TOO_LONG = 124  # the exit status of a command that was ended, as timeout(1) has it


@dataclass(frozen=True)
class Taken:
    """What a command took."""

    seconds: float
    peak: int  # bytes of memory at most, without pages of files that are mapped, which the system takes back
    code: int  # its exit status


def taken(command: Sequence[str], folder: Path, variables: dict[str, str], log: Path, longest: float = inf) -> Taken:
    """Carry out a command in a folder; what it says goes to the end of a log.

    It ends with the process that asks for it, or after ``longest`` seconds, and all that it started with it.
    """
    log.parent.mkdir(parents=True, exist_ok=True)
    peak, began, too_long = 0, time.perf_counter(), False
    with log.open("ab") as output:
        process = subprocess.Popen(
            [*_with_parent(), *command],
            cwd=folder,
            env=os.environ | variables,
            stdout=output,
            stderr=output,
            start_new_session=True,
        )
        try:
            while process.poll() is None and not too_long:
                peak = max(peak, sum(map(_anonymous, _of_session(process.pid))))
                time.sleep(LOOK_EVERY)
                too_long = time.perf_counter() - began > longest
        finally:
            for each in _of_session(process.pid):
                with suppress(ProcessLookupError):
                    os.kill(int(each.name), signal.SIGKILL)
            process.wait()
    return Taken(time.perf_counter() - began, peak, TOO_LONG if too_long else process.returncode)


def _with_parent() -> list[str]:
    """What goes before a command, for Linux to end it also where nobody is left to do so."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def _of_session(session: int) -> Iterator[Path]:
    """The processes of a session, by their folders."""
    for process in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended
            if os.getsid(int(process.name)) == session:
                yield process


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
