"""Expectations: relations between numbers that a profile must show to distinguish methods, whatever a paper claims."""

from collections.abc import Iterator
from dataclasses import dataclass
from statistics import mean

from recompose.parts.results import Results


@dataclass(frozen=True)
class Expectation:
    """An expected relation, with its outcome."""

    sentence: str
    holds: bool


@dataclass(frozen=True)
class Above:
    """The expectation that methods have a higher mean of a metric than another method, or than chance."""

    sentence: str
    metric: str
    methods: tuple[str, ...] = ()  # none: all of the profile but those of ``but``
    but: tuple[str, ...] = ()
    than: str = ""  # a method
    one_of: str = ""  # a count of the data set's statistics: chance is one in so many

    def check(self, results: Results, track: str) -> Iterator[Expectation]:
        """Yield the expectation for each benchmark that has the numbers."""
        planned = results.plan.tracks[track].methods if not self.methods else ()
        higher = self.methods or tuple(name for name in planned if name not in self.but)
        for benchmark in results.benchmarks(track):
            means = {name: mean_of(results, track, name, self.metric, benchmark) for name in higher}
            measured = {name: value for name, value in means.items() if value is not None}
            floor = self._floor(results, track, benchmark) if measured else None
            if floor is not None:
                wrong = [name for name, value in measured.items() if value <= floor]
                names = f" (not {', '.join(wrong)})" if wrong else ""
                yield Expectation(f"{self.sentence} on {benchmark}{names}", not wrong)

    def _floor(self, results: Results, track: str, benchmark: str) -> float | None:
        if self.than:
            return mean_of(results, track, self.than, self.metric, benchmark)
        return 1 / int(results.statistics(results.data(track, benchmark))[self.one_of])


def mean_of(results: Results, track: str, method: str, metric: str, benchmark: str) -> float | None:
    """Return the mean of a metric over the complete evaluations of a method on a benchmark, or None without any."""
    measured = [results.metrics(evaluation) for evaluation in results.complete(track, method, benchmark)]
    values = [numbers[metric] for numbers in measured if metric in numbers]
    return mean(values) if values else None
