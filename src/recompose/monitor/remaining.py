"""The time that is left: the estimates of everything that is missing, side by side."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from recompose.costs import Costs
from recompose.monitor.running import read_progress
from recompose.phases import needs_gpu
from recompose.plan import Recipe
from recompose.workspace import Workspace


@dataclass(frozen=True)
class TimeLeft:
    """The time that is left, as far as it is known."""

    seconds: float  # from now to the end, without the unknown recipes
    unknown: int  # recipes without an estimate


def time_left(work: Workspace, costs: Costs, missing: Iterable[Recipe]) -> TimeLeft:
    """Return the time in which missing recipes are made; of one that was begun, only the rest counts."""
    estimates = [(costs.estimate(recipe), _part_left(work, recipe)) for recipe in missing]
    known = [part * estimate.seconds for estimate, part in estimates if estimate]
    return TimeLeft(sum(known) / processes(work), len(estimates) - len(known))


def _part_left(work: Workspace, recipe: Recipe) -> float:
    progress = read_progress(work.store.folder(recipe))
    return 1 - progress.done / progress.total if progress and progress.total else 1.0


def processes(work: Workspace) -> int:
    """Return the number of processes that make recipes side by side: one for each core; a single one with GPUs."""
    trainer = work.params.chosen.trainer
    if trainer.accelerator != "cpu" and needs_gpu(work.plan.recipes):
        return 1
    return max((os.cpu_count() or 1) // trainer.threads, 1)
