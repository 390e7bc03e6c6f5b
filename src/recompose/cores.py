"""The cores that this process may use, which may be fewer than the machine has."""

import os
from math import ceil
from pathlib import Path

LIMIT = Path("/sys/fs/cgroup/cpu.max")  # of a container, by Linux: microseconds of processor time in a period


def usable_cores() -> int:
    """Return the number of cores that this process may use: those that a scheduler gave it, within the limit of its
    container.
    """
    return max(min(_allowed(), _limit()), 1)


def _allowed() -> int:
    """Return the number of cores that the system may run this process on."""
    if hasattr(os, "sched_getaffinity"):  # not on macOS
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _limit() -> int:
    """Return the cores that the time of the container is worth; all where it has no limit."""
    try:
        quota, period = LIMIT.read_text(encoding="ascii").split()
        return ceil(int(quota) / int(period))
    except (OSError, ValueError):  # no container, or "max"
        return os.cpu_count() or 1
