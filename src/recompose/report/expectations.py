"""What has to hold of numbers for a profile to tell methods apart, whatever a paper claims."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from statistics import mean

from recompose.report.results import Results
from recompose.tracks import TRACKS
from recompose.tracks.track import function


@dataclass(frozen=True)
class Expectation:
    """Something that has to hold, and whether it does."""

    sentence: str
    holds: bool


def expectations(results: Results) -> list[Expectation]:
    """Return those of every track of the profile whose numbers are there."""
    places = [TRACKS[name].expectations for name in results.plan.tracks]
    return [each for place in places if place for each in function(place)(results)]


def mean_of(results: Results, track: str, method: str, metric: str, benchmark: str) -> float | None:
    """Return the mean of a method over what is there on a benchmark, or None where nothing is."""
    measured = [results.metrics(each) for each in results.complete(track, method, benchmark)]
    values = [numbers[metric] for numbers in measured if metric in numbers]
    return mean(values) if values else None


def is_above(
    results: Results, track: str, metric: str, higher: Iterable[str], lower: str, sentence: str
) -> Iterator[Expectation]:
    """Yield, for each benchmark, whether each of some methods has a higher mean than another."""
    for benchmark in results.benchmarks(track):
        floor = mean_of(results, track, lower, metric, benchmark)
        means = {name: mean_of(results, track, name, metric, benchmark) for name in higher}
        known = {name: value for name, value in means.items() if value is not None}
        if floor is None or not known:
            continue
        wrong = [name for name, value in known.items() if value <= floor]
        yield Expectation(f"{sentence} on {benchmark}" + (f" (not {', '.join(wrong)})" if wrong else ""), not wrong)
