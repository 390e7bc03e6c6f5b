"""Checks of pair methods that hold on any data."""

from collections.abc import Iterator

from recompose.tables.expectations import Expectation, is_above
from recompose.tables.results import Results

UNTRAINED = ("chance", "clip")


def expectations(results: Results) -> Iterator[Expectation]:
    """Yield whether untuned CLIP is above chance and below every tuned method."""
    metric = "test/closed/dense/auc"
    tuned = [name for name in results.plan.tracks["czsl"].methods if name not in UNTRAINED]
    yield from is_above(results, "czsl", metric, ["clip"], "chance", "untuned CLIP is above chance")
    yield from is_above(results, "czsl", metric, tuned, "clip", "every tuned method is above untuned CLIP")
