"""The seeds in which methods can be compared: where a seed is a world of its own, the mean over other worlds is no
comparison.
"""

from collections.abc import Collection, Sequence

from recompose.plan import Recipe
from recompose.tracks import TRACKS


def is_constant(track: str, planned: Sequence[Recipe], compared: Collection[Sequence[Recipe]]) -> bool:
    """Whether no seed changes a method among those that it is compared with: it is run once, and all share the data."""
    data = {each.needs["data"].digest for recipes in compared for each in recipes if "data" in each.needs}
    return len(planned) == 1 and len(data) <= 1 and not TRACKS[track].depends_on_seed(planned[0])


def in_shared_seeds(track: str, compared: Sequence[Sequence[Recipe]]) -> list[list[Recipe]]:
    """Of the evaluations of several methods those in the seeds that all of them have; a constant stands beside any
    seed. Where they share none, all.
    """
    constant = [is_constant(track, planned, compared) for planned in compared]
    seeds = [
        {each.labels["seed"] for each in planned}
        for planned, stays in zip(compared, constant, strict=True)
        if not stays
    ]
    shared = set.intersection(*seeds) if seeds else set()
    return [
        [each for each in planned if stays or not shared or each.labels["seed"] in shared]
        for planned, stays in zip(compared, constant, strict=True)
    ]
