"""How far a process is that makes something now, from its log."""

import re
import time
from dataclasses import dataclass
from pathlib import Path

from recompose.store import LOG

# what progress.Pace says, behind a title and before the metrics of an epoch or the name of what is counted
LINE = re.compile(
    r"(?P<epoch>epoch )?(?P<done>\d+)/(?P<total>\d+), (?P<rate>\S+)/s, "
    r"(?P<left>unknown|(?:(?P<days>\d+) days?, )?(?P<hours>\d+):(?P<minutes>\d\d):(?P<seconds>\d\d)) left"
    r"(?: \((?P<unit>[^)]*)\)|, (?P<metrics>.*))?$"
)
BEGINS = re.compile(r"^\S+  run \d+/\d+ [0-9a-f]+: ")  # an attempt at a run
RESUMES = "resuming from the last whole epoch"


@dataclass(frozen=True)
class Progress:
    """The last that a log says of how far it is."""

    unit: str  # of which so many are done, such as epoch
    done: int
    total: int
    rate: str  # in units a second; empty where this attempt has said none
    seconds_left: float | None  # when that was said
    metrics: str


def progress_of(log: str) -> Progress | None:
    """How far the last attempt in a log is; one that resumed begins where the one before it stopped. None: it has not said."""
    lines = log.splitlines()
    begins = max((number for number, line in enumerate(lines) if BEGINS.match(line)), default=0)
    resumes = max((number for number, line in enumerate(lines) if line.endswith(RESUMES)), default=-1)
    said = [(number, found) for number, line in enumerate(lines) if (found := LINE.search(line))]
    own = [found for number, found in said if number > resumes and number >= begins]
    if own:
        return _progress(own[-1])
    kept = [found for number, found in said if number < resumes] if resumes >= begins else []
    return _kept(kept[-1]) if kept else None


def _progress(found: re.Match[str]) -> Progress:
    unit = "epoch" if found["epoch"] else found["unit"] or ""
    return Progress(unit, int(found["done"]), int(found["total"]), found["rate"], _left(found), found["metrics"] or "")


def _kept(found: re.Match[str]) -> Progress:
    """Of an attempt before: it is as far, but how fast it was says nothing."""
    before = _progress(found)
    return Progress(before.unit, before.done, before.total, "", None, before.metrics)


def _left(found: re.Match[str]) -> float | None:
    if found["left"] == "unknown":
        return None
    hours = 24 * int(found["days"] or 0) + int(found["hours"])
    return 60.0 * (60 * hours + int(found["minutes"])) + int(found["seconds"])


def read_progress(folder: Path) -> Progress | None:
    """How far the making of a folder is now: what is left is less by the time since the log said so."""
    log = folder / LOG
    try:
        progress, age = (
            progress_of(log.read_text(encoding="utf-8", errors="replace")),
            time.time() - log.stat().st_mtime,
        )
    except OSError:
        return None
    if progress is None or progress.seconds_left is None:
        return progress
    left = max(progress.seconds_left - age, 0.0)
    return Progress(progress.unit, progress.done, progress.total, progress.rate, left, progress.metrics)
