"""What a job asks of a scheduler, with room to spare: minutes, and memory of the node.

What asks for too little is ended by the scheduler and tried again with more; what asks for too much waits longer for
its place.
"""

from collections.abc import Iterable
from math import ceil

from recompose.costs import Estimate
from recompose.plan import Recipe, closure

START = 10  # minutes in which anything has started, whatever the file system is like
AS_LONG = 2  # as others like it took
DAY = 24 * 60  # minutes, of what nothing like it was measured; schedulers rarely give less
HOUR = 60  # minutes, of an evaluation like none that was measured
SMALL, LARGE = 4_096, 16_384  # MiB of a process: torch, and a backbone drawn here or one of others, in memory twice
AS_MUCH = 1.5  # as others like it took on top of that


def minutes(recipes: Iterable[Recipe], estimates: Iterable[Estimate | None]) -> int:
    """The time that a job may take: twice what others like it took.

    Of evaluations like none that was measured an hour, of all else a day; both together are no more than a day.
    """
    known, unknown = 0.0, 0
    for recipe, estimate in zip(recipes, estimates, strict=True):
        if estimate:
            known += AS_LONG * estimate.seconds / 60
        else:
            unknown += HOUR if recipe.kind == "evaluations" else DAY
    return START + ceil(known) if not unknown else max(ceil(known), min(START + ceil(known) + unknown, DAY))


def longer(minutes: int, attempt: int) -> int:
    """The time of a later attempt: more, but none makes it longer than a day, as runs resume where they were.

    >>> longer(60, 1), longer(60, 3), longer(1000, 2), longer(3000, 2)
    (60, 180, 1440, 3000)
    """
    return max(minutes, min(minutes * attempt, DAY))


def memory(recipes: Iterable[Recipe], estimates: Iterable[Estimate | None], gpus: int) -> int:
    """The memory of the node that a job may take, in MiB.

    What is measured of a job with GPUs is their memory; each of its processes, one for a GPU, takes the node's.
    """
    process = LARGE if any(_is_large(need) for recipe in recipes for need in closure(recipe.needs.values())) else SMALL
    if gpus:
        return process * gpus
    peaks = [estimate.memory for estimate in estimates if estimate and estimate.memory is not None]
    return process + ceil(AS_MUCH * max(peaks, default=0) / 2**20)


def _is_large(need: Recipe) -> bool:
    """Whether it is a backbone of an architecture of others, or a set of grids that was not made here."""
    return (need.kind == "backbones" and isinstance(need.document["architecture"], str)) or (
        need.kind == "grids" and "backbone" not in need.needs
    )
