"""The replicates in which methods are compared: means over different synthetic data sets cannot be compared."""

from collections.abc import Mapping, Sequence

from recompose.plan import Recipe


def shared_replicates(planned: Mapping[str, Sequence[Recipe]]) -> dict[str, list[Recipe]]:
    """Restrict the evaluations of several methods to the seeds that all of them have, if seeds have data of their own.

    All evaluations are returned if the methods share no seed, or if all seeds have the same data. A method that trains
    nothing and was evaluated once, such as chance, restricts no other; one without evaluations is left out.
    """
    compared = {name: [*evaluations] for name, evaluations in planned.items() if evaluations}
    restricting = [each for each in compared.values() if len(each) > 1 or any("run" in e.needs for e in each)]
    seeds = [{evaluation.labels["seed"] for evaluation in each} for each in restricting]
    shared = set.intersection(*seeds) if seeds else set()
    if not shared or not any(map(_has_replicates, compared.values())):
        return compared
    return {
        name: [evaluation for evaluation in each if evaluation.labels["seed"] in shared] or each
        for name, each in compared.items()
    }


def _has_replicates(planned: Sequence[Recipe]) -> bool:
    """Return True if evaluations of one method on one benchmark have different data."""
    data = {
        frozenset(need.digest for need in evaluation.needs.values() if need.kind == "data") for evaluation in planned
    }
    return len(data) > 1
