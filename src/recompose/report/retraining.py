"""The measured spread of numbers over retrainings of the same replicate: a file of the reports, and what follows."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Self

from pydantic import BaseModel, ConfigDict, Field

from recompose.digest import sha256_file
from recompose.files import write_text
from recompose.inference.estimates import rounded
from recompose.inference.retraining import RetrainingSpread, Variance, moderate
from recompose.report.csv_lines import lines_text, read_lines
from recompose.report.lineage import ReportIndex

FILE = "retraining.csv"  # among the reports
DIGITS = 4  # significant ones, of variances and steps
Place = tuple[str, str, str]  # track, benchmark, metric


class RetrainedMetric(BaseModel):
    """A line of the file: a metric of a method, over retrainings of the same replicates, in the metric's unit."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    track: str
    benchmark: str
    method: str
    name: str  # of the method, or of a variant that scores its runs
    metric: str
    variance: float = Field(ge=0)  # within replicates
    freedom: int = Field(ge=1)  # of the variance
    step: float = Field(ge=0)  # the smallest difference of two trainings of a replicate; 0: all are equal

    @classmethod
    def of(cls, place: Place, method: str, name: str, replicates: Iterable[list[float]]) -> Self | None:
        """Return what the values of all trainings of each replicate tell; None if no replicate was trained twice."""
        replicates = list(replicates)
        sample = Variance.of(replicates)
        if sample is None:
            return None
        track, benchmark, metric = place
        step = min(_steps(replicates), default=0.0)
        return cls(
            track=track,
            benchmark=benchmark,
            method=method,
            name=name,
            metric=metric,
            variance=rounded(sample.value, DIGITS) if step else 0.0,
            freedom=sample.freedom,
            step=rounded(step, DIGITS),
        )


def _steps(replicates: Iterable[list[float]]) -> Iterator[float]:
    """Yield the differences between trainings of each replicate, without those of rounding."""
    for values in replicates:
        ordered = sorted(values)
        yield from (b - a for a, b in pairwise(ordered) if b - a > 1e-9 * max(abs(a), abs(b)))


def digest_of(reports: Path) -> dict[str, str]:
    """Return the entry of the file in the index of reports; nothing if retraining was not measured."""
    return {FILE: sha256_file(reports / FILE)} if (reports / FILE).is_file() else {}


@dataclass(frozen=True)
class RetrainingSpreads:
    """The spread of each metric of each method over retrainings, in the metric's unit."""

    lines: tuple[RetrainedMetric, ...] = ()
    _cached: dict[Place, Mapping[str, RetrainingSpread]] = field(default_factory=dict, compare=False)

    @classmethod
    def read(cls, reports: Path) -> "RetrainingSpreads":
        """Read the file of a folder of reports; no spreads if there is none.

        Raises:
            LineageError: it is invalid; the message names the line.
        """
        return cls(read_lines(RetrainedMetric, reports / FILE, REMEDY, "no-spreads"))

    def update(self, reports: Path) -> Path:
        """Write the file into a folder of reports, where it keeps the lines of other methods; return its path.

        Raises:
            LineageError: the file that is there is invalid.
        """
        measured = {(line.track, line.method) for line in self.lines}
        others = [line for line in self.read(reports).lines if (line.track, line.method) not in measured]
        return RetrainingSpreads((*others, *self.lines)).write(reports)

    def write(self, reports: Path) -> Path:
        """Write the file into a folder of reports, and its digest into their index; return its path."""
        write_text(reports / FILE, lines_text(RetrainedMetric, self.lines))
        with suppress(FileNotFoundError):
            index = ReportIndex.read(reports)
            ReportIndex(files=index.files | digest_of(reports)).write(reports)
        return reports / FILE

    @cached_property
    def _by_place(self) -> dict[Place, list[RetrainedMetric]]:
        by_place: dict[Place, list[RetrainedMetric]] = {}
        for line in self.lines:
            by_place.setdefault((line.track, line.benchmark, line.metric), []).append(line)
        return by_place

    def spread(self, place: Place, method: str, name: str) -> RetrainingSpread | None:
        """Return the spread of a metric over trainings of a replicate, or None if retraining does not move it.

        Args:
            place: the metric's track, benchmark and name.
            method: whose training it is.
            name: the method or the variant; where it was not retrained itself, the largest spread of its method counts.
        """
        if place not in self._cached:
            lines = self._by_place.get(place, [])
            step = min((line.step for line in lines if line.step), default=0.0)
            self._cached[place] = moderate({line.name: Variance(line.variance, line.freedom) for line in lines}, step)
        spreads = self._cached[place]
        own = {line.name for line in self._by_place.get(place, ()) if line.method == method}
        candidates = [spreads[other] for other in ({name} & own or own) if other in spreads]
        return max(candidates, key=lambda spread: spread.variance, default=None)


REMEDY = "`git checkout -- reports` restores it, `recompose retraining` measures it again"
