"""Ctrl-C: a process that carries out jobs says one sentence and takes the processes that it started along.

A training keeps its last whole epoch, and nothing else is kept half done, so a process may end at any moment.
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

INTERRUPTED = 130  # the exit code of what SIGINT ended: 128 and the signal's number
SENTENCE = "Interrupted: the same command goes on where it was, a training from its last whole epoch."
PATIENCE = 10.0  # seconds that processes have to end by themselves


def end_at_once() -> None:
    """Let an interrupt end this process there and then, without a trace of where it was."""
    if is_interruptible():
        signal.signal(signal.SIGINT, signal.SIG_DFL)


def end_with_children() -> None:
    """Let an interrupt end the processes that this one started, and then this one with a sentence.

    Snakemake by itself waits in a loop that it then cannot close, and ends with a trace.
    """
    if is_interruptible():
        signal.signal(signal.SIGINT, _end)


def is_interruptible() -> bool:
    """Return true unless interrupts are ignored, as by what a shell runs in its background."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _end(number: int, frame: FrameType | None) -> None:
    signal.signal(number, signal.SIG_IGN)  # the processes end in any case
    logging.disable()  # of jobs that fail because they are ended there is nothing to say
    os.write(2, f"\n{SENTENCE}\n".encode())  # a print may be under way
    end_children()
    os._exit(INTERRUPTED)  # threads that wait for jobs would keep it from ending


def end_children() -> None:
    """Interrupt the processes that this one started, and those that they started; kill the ones that go on."""
    import psutil  # it takes a while, and Snakemake has done it

    deadline = time.monotonic() + PATIENCE
    started: dict[psutil.Process, None] = {}
    while True:  # a thread may have been about to start one
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
