"""Checks of attribute methods that hold on any data."""

from collections.abc import Iterator

from recompose.tables.expectations import Expectation, mean_of
from recompose.tables.results import Results


def expectations(results: Results) -> Iterator[Expectation]:
    """Yield whether ESZSL, a closed form, is above chance on unseen classes."""
    for benchmark in results.benchmarks("gzsl"):
        accuracy = mean_of(results, "gzsl", "eszsl", "test/accuracy", benchmark)
        if accuracy is not None:
            classes = int(results.statistics(results.data("gzsl", benchmark))["unseen_classes"])
            yield Expectation(f"ESZSL is above chance on {benchmark}", accuracy > 1 / classes)
