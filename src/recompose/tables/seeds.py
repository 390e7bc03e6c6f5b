"""The replicates in which methods are compared: means over different synthetic data sets cannot be compared."""

from collections.abc import Sequence

from recompose.plan import Recipe


def shared_replicates(compared: Sequence[Sequence[Recipe]]) -> list[list[Recipe]]:
    """Restrict the evaluations of several methods to the seeds that all of them have, if seeds have data of their own.

    All evaluations are returned if the methods share no seed, or if all seeds have the same data. A method that trains
    nothing and was evaluated once, such as chance, restricts no other.
    """
    restricting = [planned for planned in compared if len(planned) > 1 or any("run" in e.needs for e in planned)]
    seeds = [{evaluation.labels["seed"] for evaluation in planned} for planned in restricting]
    shared = set.intersection(*seeds) if seeds else set()
    if not shared or not any(_has_replicates(planned) for planned in compared):
        return [list(planned) for planned in compared]
    return [
        [evaluation for evaluation in planned if evaluation.labels["seed"] in shared] or list(planned)
        for planned in compared
    ]


def _has_replicates(planned: Sequence[Recipe]) -> bool:
    """Return True if evaluations of one method on one benchmark have different data."""
    data = {
        frozenset(need.digest for need in evaluation.needs.values() if need.kind == "data") for evaluation in planned
    }
    return len(data) > 1
