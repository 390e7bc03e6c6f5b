"""Job resources: the time and the node's memory that a job requests from a scheduler, with a margin.

A job that requests too little is ended by the scheduler and retried with more; one that requests too much waits longer
in the queue.
"""

from collections.abc import Iterable
from math import ceil

from recompose.costs import CostEstimate
from recompose.plan import Recipe, closure

START = 10  # minutes for a process to start, also from a slow file system
TIME_MARGIN = 2  # factor on the estimated time
DAY = 24 * 60  # minutes of a job without an estimate; schedulers rarely allow less
HOUR = 60  # minutes of an evaluation without an estimate
SMALL, LARGE = 4_096, 16_384  # MiB of a process: torch, and two copies of a small or of a published backbone
MEMORY_MARGIN = 1.5  # factor on the estimated memory on top of that


def minutes(recipes: Iterable[Recipe], estimates: Iterable[CostEstimate | None]) -> int:
    """Return the time limit of a job in minutes: twice its estimate.

    An evaluation without a firm estimate gets an hour, any other recipe a day; both together get at most a day.
    """
    estimated, unknown = 0.0, 0
    for recipe, estimate in zip(recipes, estimates, strict=True):
        if estimate and estimate.is_firm:
            estimated += TIME_MARGIN * estimate.seconds / 60
        else:
            unknown += HOUR if recipe.kind == "evaluations" else DAY
    total = START + ceil(estimated)
    return max(ceil(estimated), min(total + unknown, DAY)) if unknown else total


def longer(minutes: int, attempt: int) -> int:
    """Return the time limit of an attempt: more for later ones, up to a day, since runs resume.

    >>> longer(60, 1), longer(60, 3), longer(1000, 2), longer(3000, 2)
    (60, 180, 1440, 3000)
    """
    return max(minutes, min(minutes * attempt, DAY))


def memory(recipes: Iterable[Recipe], estimates: Iterable[CostEstimate | None], gpus: int) -> int:
    """Return the memory of the node that a job requests, in MiB.

    The estimate for a job with GPUs is their memory; each of its processes, one for each GPU, takes the node's.
    """
    process = LARGE if any(_is_large(need) for recipe in recipes for need in closure(recipe.needs.values())) else SMALL
    if gpus:
        return process * gpus
    peaks = [estimate.memory for estimate in estimates if estimate and estimate.memory is not None]
    return process + ceil(MEMORY_MARGIN * max(peaks, default=0) / 2**20)


def _is_large(need: Recipe) -> bool:
    """Return true for a backbone of a published architecture, and for grids that were not made here."""
    return (need.kind == "backbones" and isinstance(need.document["architecture"], str)) or (
        need.kind == "grids" and "backbone" not in need.needs
    )
