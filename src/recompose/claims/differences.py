"""Differences: two sides with their values by seed, and the test of their difference."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean, stdev

from recompose.claims.estimates import Estimate, paired

NOT_RUN, ONE_SEED, NO_COMMON_SEEDS, CONSTANT = "not run", "one seed", "no common seeds", "no seeds to vary"


@dataclass(frozen=True)
class Side:
    """One side of a comparison: the values of a method by seed, or the differences of two methods."""

    label: str
    values: Mapping[int, float]
    is_constant: bool = False  # every seed gives the same value, so it was run once
    parts: "tuple[Side, Side] | None" = None  # of a difference

    def at(self, seeds: Iterable[int]) -> "Side":
        """Return this side restricted to some seeds; a constant has its value at each of them."""
        values = {seed: self._value(seed) for seed in seeds}
        parts = (self.parts[0].at(values), self.parts[1].at(values)) if self.parts else None
        return Side(self.label, values, self.is_constant, parts)

    def _value(self, seed: int) -> float:
        return next(iter(self.values.values())) if self.is_constant else self.values[seed]

    @property
    def mean(self) -> float:
        """The mean over its seeds."""
        return mean(self.values.values())

    @property
    def n(self) -> int:
        """The number of different runs."""
        return min(1, len(self.values)) if self.is_constant else len(self.values)

    def text(self, digits: int) -> str:
        """Return its mean with the number of runs."""
        if self.parts:
            first, second = (f"{part.label} {number_text(part.mean, digits)}" for part in self.parts)
            return f"({first} - {second}) ({self.n})"
        return f"{self.label} {number_text(self.mean, digits)} ({self.n})"


def common_seeds(first: Side, second: Side) -> list[int]:
    """Return the seeds at which both sides have a value."""
    if first.is_constant or second.is_constant:
        return sorted(second.values if first.is_constant else first.values)
    return sorted(first.values.keys() & second.values.keys())


def subtract(first: Side, second: Side, label: str = "") -> Side:
    """Return the differences of two sides at their common seeds."""
    seeds = common_seeds(first, second) if first.values and second.values else []
    if seeds:
        first, second = first.at(seeds), second.at(seeds)
    values = {seed: first.values[seed] - second.values[seed] for seed in seeds}
    return Side(label, values, first.is_constant and second.is_constant, (first, second))


def number_text(value: float, digits: int, sign: str = "") -> str:
    """Return a number with so many digits; zero has no sign."""
    text = f"{value:{sign}.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text


@dataclass(frozen=True)
class Difference:
    """A difference of two sides, with its test if there is one."""

    higher: Side
    lower: Side
    value: float | None = None  # None if nothing was run
    test: Estimate | None = None
    by_seed: tuple[float, ...] = ()  # a difference for each seed, where it is paired
    obstacle: str = ""  # the reason why there is no test

    @property
    def n(self) -> int:
        """The number of pairs, or of the runs of the side with fewer runs."""
        return len(self.by_seed) or min(self.higher.n, self.lower.n)

    @property
    def spread(self) -> float | None:
        """The standard deviation of paired differences, or None if there are too few."""
        return stdev(self.by_seed) if len(self.by_seed) > 1 else None


def difference(higher: Side, lower: Side) -> Difference:
    """Test the difference of two sides, paired by seed.

    There is no test of fewer than two seeds that both sides share: one run of a method that depends on its seed decides
    nothing.
    """
    if not higher.values or not lower.values:
        return Difference(higher, lower, obstacle=_missing_values_reason(higher, lower))
    seeds = common_seeds(higher, lower)
    if not seeds:
        return Difference(higher, lower, higher.mean - lower.mean, obstacle=NO_COMMON_SEEDS)
    higher, lower = higher.at(seeds), lower.at(seeds)
    by_seed = tuple(higher.values[seed] - lower.values[seed] for seed in seeds)
    if len(seeds) > 1:
        test = paired(by_seed)
        return Difference(higher, lower, test.value, test, by_seed)
    obstacle = CONSTANT if higher.is_constant and lower.is_constant else ONE_SEED
    return Difference(higher, lower, higher.mean - lower.mean, None, by_seed, obstacle)


def _missing_values_reason(*sides: Side) -> str:
    """Return why a side has no values: something was not run, or the parts of a gain share no seed."""
    runs = [part for side in sides for part in (side.parts or (side,))]
    return NO_COMMON_SEEDS if all(part.values for part in runs) else NOT_RUN
