"""Expectations: relations between numbers that a profile must show to distinguish methods, whatever a paper claims."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean

from recompose.tables.results import Results


@dataclass(frozen=True)
class Expectation:
    """An expected relation, with its outcome."""

    sentence: str
    holds: bool


def mean_of(results: Results, track: str, method: str, metric: str, benchmark: str) -> float | None:
    """Return the mean of a metric over the complete evaluations of a method on a benchmark, or None without any."""
    measured = [results.metrics(evaluation) for evaluation in results.complete(track, method, benchmark)]
    values = [numbers[metric] for numbers in measured if metric in numbers]
    return mean(values) if values else None


def is_above(
    results: Results, track: str, metric: str, higher: Iterable[str], lower: str, sentence: str
) -> Iterator[Expectation]:
    """Yield, for each benchmark, the expectation that several methods have a higher mean than another one."""
    for benchmark in results.benchmarks(track):
        floor = mean_of(results, track, lower, metric, benchmark)
        means = {name: mean_of(results, track, name, metric, benchmark) for name in higher}
        measured = {name: value for name, value in means.items() if value is not None}
        if floor is None or not measured:
            continue
        wrong = [name for name, value in measured.items() if value <= floor]
        yield Expectation(f"{sentence} on {benchmark}" + (f" (not {', '.join(wrong)})" if wrong else ""), not wrong)
