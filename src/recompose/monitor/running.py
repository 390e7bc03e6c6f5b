"""The progress of a running process, read from the file that it writes."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel, ValidationError

from recompose.files import SCRATCH
from recompose.progress import FILE


class _ProgressFile(BaseModel):
    """The document that ``recompose.progress.Pace`` writes."""

    unit: str
    done: int
    total: int
    rate: float | None
    seconds_left: float | None
    at: datetime
    metrics: str


@dataclass(frozen=True)
class Progress:
    """The progress of a job."""

    unit: str  # counted in done and total, such as epoch
    done: int
    total: int
    rate: float | None  # units a second; None before the attempt's first unit
    seconds_left: float | None
    metrics: str


def read_progress(folder: Path, now: datetime | None = None) -> Progress | None:
    """Return the progress of a folder that is being made, or None where it wrote none.

    The remaining time is reduced by the time since it was written.
    """
    try:
        written = _ProgressFile.model_validate_json((folder / SCRATCH / FILE).read_text(encoding="utf-8"))
    except (OSError, ValidationError):
        return None
    seconds = written.seconds_left
    if seconds is not None:
        seconds = max(seconds - ((now or datetime.now(UTC)) - written.at).total_seconds(), 0.0)
    return Progress(written.unit, written.done, written.total, written.rate, seconds, written.metrics)
