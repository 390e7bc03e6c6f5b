"""The losses of the first epochs of trainings: a file of the reports, and the trainings whose losses are others.

A training that is repeated on another processor has the same loss in its first epoch, up to a last digit of the four
that logs have. A changed learning rate, loss or order of samples moves it by per cents, long before it moves a number
by more than another seed does. In later epochs a few trainings amplify rounding errors to per cents, so these are kept
to be read and are not judged. Losses of GPUs and of half precision drift further and are not kept.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field

from recompose.plan import Recipe
from recompose.records import LOG
from recompose.report.csv_lines import lines_text, parse_lines, read_lines
from recompose.workspace import Workspace

FILE = "losses.csv"  # among the reports
EPOCHS = 3  # of each training that are kept
JUDGED = 1  # the epoch that is compared
MOVED = 0.005  # relative difference of a loss that no processor makes; see docs/explanation/trust.md
REMEDY = "`recompose report` writes it again"
_EPOCH = re.compile(r"\S+  (?P<title>.+): epoch (?P<epoch>\d+)/.*?, loss (?P<loss>[-+.\de]+)(,.*)?")
Training = tuple[str, str, str, int]  # track, data set, name, seed


class EpochLoss(BaseModel):
    """A line of the file: the mean loss of an epoch of a run."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    track: str
    dataset: str
    name: str  # of the method or variant
    seed: int
    epoch: int = Field(ge=1)
    loss: float


@dataclass(frozen=True)
class TrainingDifference:
    """The runs of a method or variant on a data set whose losses are others, among all that were compared."""

    name: str
    dataset: str
    runs: int
    differing: int
    largest: float  # relative difference of a loss

    def __str__(self) -> str:
        losses = f"losses of the first epoch of {self.differing} of {self.runs} runs differ by up to"
        return f"{self.name} on {self.dataset}: {losses} {self.largest:.1%}, other processors move them by 0.1% at most"


@dataclass(frozen=True)
class EpochLosses:
    """The losses of the first epochs of trainings."""

    lines: tuple[EpochLoss, ...] = ()

    @classmethod
    def read(cls, reports: Path) -> "EpochLosses":
        """Read the file of a folder of reports; no losses if there is none.

        Raises:
            LineageError: it is invalid; the message names the line.
        """
        return cls(read_lines(EpochLoss, reports / FILE, REMEDY, "no-losses"))

    @classmethod
    def parse(cls, text: str, path: object) -> "EpochLosses":
        """Return the losses of a file with this text; the path is for messages.

        Raises:
            LineageError: a line is invalid.
        """
        return cls(parse_lines(EpochLoss, text, path, REMEDY, "no-losses"))

    @classmethod
    def of(cls, work: Workspace, runs: Iterable[Recipe]) -> "EpochLosses":
        """Return the losses in the logs of the runs that are complete; none with GPUs or in half precision.

        Raises:
            DamagedError: a log was changed.
        """
        trainer = work.params.chosen.trainer
        if trainer.accelerator != "cpu" or trainer.precision != "32-true":
            return cls()
        return cls(tuple(line for run in runs if work.store.is_complete(run) for line in _lines(work, run)))

    @property
    def text(self) -> str:
        """The text of the file."""
        return lines_text(EpochLoss, self.lines)

    @cached_property
    def by_training(self) -> dict[Training, dict[int, float]]:
        """The losses of each training, by epoch."""
        losses: dict[Training, dict[int, float]] = {}
        for line in self.lines:
            losses.setdefault((line.track, line.dataset, line.name, line.seed), {})[line.epoch] = line.loss
        return losses

    @property
    def _judged(self) -> dict[Training, float]:
        return {training: losses[JUDGED] for training, losses in self.by_training.items() if JUDGED in losses}

    def differences(self, now: "EpochLosses") -> list[TrainingDifference]:
        """Return the methods and variants that were trained otherwise: some losses of the first epoch differ by more
        than processors move them.
        """
        largest: dict[tuple[str, str, str], list[float]] = {}
        judged, judged_now = self._judged, now._judged
        for training in judged.keys() & judged_now.keys():
            moved = relative_difference(judged[training], judged_now[training])
            largest.setdefault(training[:3], []).append(moved)
        return [
            TrainingDifference(name, dataset, len(runs), sum(moved > MOVED for moved in runs), max(runs))
            for (_, dataset, name), runs in sorted(largest.items())
            if max(runs) > MOVED
        ]


def relative_difference(then: float, now: float) -> float:
    """Return the relative difference of two losses.

    >>> relative_difference(2.0, 2.5)
    0.2
    """
    return abs(then - now) / max(abs(then), abs(now)) if then != now else 0.0


def first_losses(name: str, log: str) -> dict[int, float]:
    """Return the losses of the first epochs of the first training of a run, from its log.

    >>> first_losses("csp, seed 0", "18:59:00  csp, seed 0: epoch 1/12, 4.25/s, 0:00:03 left, val_auc 0.01, loss 4.409")
    {1: 4.409}
    """
    epochs = [match for line in log.splitlines() if (match := _EPOCH.fullmatch(line))]
    own = [match for match in epochs if match["title"] == name or match["title"].startswith(f"{name}, ")]
    return {
        int(match["epoch"]): float(match["loss"])
        for match in own
        if match["title"] == own[0]["title"] and int(match["epoch"]) <= EPOCHS
    }


def _lines(work: Workspace, run: Recipe) -> Iterator[EpochLoss]:
    """Yield the losses in the log of a run."""
    if LOG not in work.store.record(run).files:
        return
    dataset, name, seed = (str(run.labels[label]) for label in ("dataset", "name", "seed"))
    for epoch, loss in first_losses(run.name, work.store.file(run, LOG).read_text(encoding="utf-8")).items():
        yield EpochLoss(track=run.track, dataset=dataset, name=name, seed=int(seed), epoch=epoch, loss=loss)
