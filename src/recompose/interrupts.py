"""Ctrl-C: a process that runs jobs prints one sentence and ends its child processes.

A training resumes from its last whole epoch, and nothing else is stored in part, so a process may end at any moment.
"""

import logging
import os
import signal
import time
from contextlib import suppress
from types import FrameType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import psutil

INTERRUPTED = 130  # the exit status after SIGINT: 128 plus the signal's number
SENTENCE = "Interrupted. The same command continues; trainings resume from their last whole epoch."
LATE = 1.0  # seconds
PATIENCE = 10.0  # seconds until processes that do not end are killed


def end_at_once() -> None:
    """Let an interrupt end this process immediately, without a traceback."""
    if is_interruptible():
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_late() -> None:
    """Let an interrupt end this process a second later, without a traceback.

    A terminal interrupts Snakemake and its jobs at once. Snakemake says that a job failed which ends before it has seen
    the interrupt itself.
    """
    if is_interruptible():
        signal.signal(signal.SIGINT, _end_late)


def _end_late(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_DFL)  # the next one ends it immediately
    time.sleep(LATE)
    os.kill(os.getpid(), number)


def end_with_children() -> None:
    """Let an interrupt end the child processes, and then this process with a sentence.

    Without this, Snakemake waits in a loop that it cannot close, and ends with a traceback.
    """
    if is_interruptible():
        signal.signal(signal.SIGINT, _end)


def is_interruptible() -> bool:
    """Return true unless interrupts are ignored, as in background processes of a shell."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # the processes end in any case
    logging.disable()  # failures of jobs that are ended on purpose are no news
    os.write(2, f"\n{SENTENCE}\n".encode())  # not print, which may be running
    end_children()
    os._exit(INTERRUPTED)  # a normal exit would wait for threads that wait for jobs


def end_children() -> None:
    """Interrupt all descendants of this process; kill those that do not end in time."""
    import psutil  # a slow import, which Snakemake has made

    deadline = time.monotonic() + PATIENCE
    started: dict[psutil.Process, None] = {}
    while True:  # threads may still start processes
        late = time.monotonic() > deadline
        children = psutil.Process().children(recursive=True)
        for process in (*started, *children) if late else [child for child in children if child not in started]:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(signal.SIGKILL if late else signal.SIGINT)
        started |= dict.fromkeys(children)
        if not any(map(_is_alive, started)):
            return
        time.sleep(0.05)


def _is_alive(process: "psutil.Process") -> bool:
    import psutil

    with suppress(psutil.NoSuchProcess):
        return bool(process.status() != psutil.STATUS_ZOMBIE)
    return False
