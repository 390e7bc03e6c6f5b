"""What has to hold of methods that tell classes by attributes, on any data."""

from collections.abc import Iterator

from recompose.report.expectations import Expectation, mean_of
from recompose.report.results import Results


def expectations(results: Results) -> Iterator[Expectation]:
    """Yield whether ESZSL, which is a closed form, tells unseen classes better than chance."""
    for benchmark in results.benchmarks("gzsl"):
        accuracy = mean_of(results, "gzsl", "eszsl", "test/accuracy", benchmark)
        if accuracy is not None:
            classes = int(results.statistics(results.data("gzsl", benchmark))["unseen_classes"])
            yield Expectation(f"ESZSL is above chance on {benchmark}", accuracy > 1 / classes)
