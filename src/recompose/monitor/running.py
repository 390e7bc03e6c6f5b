"""How far a process is that makes something now, from the file that it keeps of it."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from recompose.files import SCRATCH
from recompose.progress import FILE


class _Written(BaseModel):
    """What ``recompose.progress.ProgressLogger`` writes."""

    unit: str
    done: int
    total: int
    rate: float | None
    seconds_left: float | None
    at: datetime
    metrics: str


@dataclass(frozen=True)
class Progress:
    """How far something is."""

    unit: str  # of which so many are done, such as epoch
    done: int
    total: int
    rate: float | None  # in units a second; None where this attempt has finished none
    seconds_left: float | None
    metrics: str


def read_progress(folder: Path, now: datetime | None = None) -> Progress | None:
    """How far the making of a folder is now: what is left is less by the time since that was written.

    None: it has not said.
    """
    try:
        written = _Written.model_validate_json((folder / SCRATCH / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    left = written.seconds_left
    if left is not None:
        left = max(left - ((now or datetime.now(UTC)) - written.at).total_seconds(), 0.0)
    return Progress(written.unit, written.done, written.total, written.rate, left, written.metrics)
