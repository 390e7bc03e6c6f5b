"""The seeds in which methods can be compared: where a seed is a world of its own, the mean over other worlds is no
comparison.
"""

from collections.abc import Sequence

from recompose.plan import Recipe


def in_shared_worlds(compared: Sequence[Sequence[Recipe]]) -> list[list[Recipe]]:
    """Of the evaluations of several methods those in the seeds that all of them have, where seeds draw data of their
    own. All, where they share none, or where all seeds are of the same data.
    """
    shared = (
        set.intersection(*({each.labels["seed"] for each in planned} for planned in compared)) if compared else set()
    )
    if not shared or not any(_draw_data(planned) for planned in compared):
        return [list(planned) for planned in compared]
    return [[each for each in planned if each.labels["seed"] in shared] for planned in compared]


def _draw_data(planned: Sequence[Recipe]) -> bool:
    """Whether evaluations of one method on one benchmark are of different data."""
    return len({frozenset(n.digest for n in each.needs.values() if n.kind == "data") for each in planned}) > 1
