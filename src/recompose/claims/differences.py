"""Differences of methods, paired by seed, and the test of each."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import mean, stdev

from recompose.claims.estimates import FEWEST, Estimate, paired

NOT_RUN, NO_COMMON_SEEDS, CONSTANT = "not run", "no common seeds", "no seeds to vary"
TOO_FEW = {1: "one seed", 2: "two seeds"}


@dataclass(frozen=True)
class Side:
    """A method in a metric, with its values by seed."""

    label: str
    values: Mapping[int, float]
    is_constant: bool = False  # every seed gives the same value, so it was run once

    def at(self, seed: int) -> float:
        """Return the value of a seed."""
        return next(iter(self.values.values())) if self.is_constant else self.values[seed]


@dataclass(frozen=True)
class Difference:
    """A difference of two sides, first - second, or of four, (first - second) - (third - fourth)."""

    sides: Sequence[Side]
    by_seed: Sequence[float]  # at each seed that all sides have

    @classmethod
    def of(cls, sides: Sequence[Side]) -> "Difference":
        """Return the difference of sides at their common seeds, without the values of other seeds."""
        varied = [side.values.keys() for side in sides if not side.is_constant] or [sides[0].values.keys()]
        seeds = sorted(set.intersection(*map(set, varied))) if all(side.values for side in sides) else []
        if not seeds:
            return cls(sides, [])
        common = [
            side if side.is_constant else Side(side.label, {seed: side.values[seed] for seed in seeds})
            for side in sides
        ]
        return cls(common, [_subtract([side.at(seed) for side in common]) for seed in seeds])

    @property
    def halves(self) -> tuple[Sequence[Side], Sequence[Side]]:
        """The sides before and after the minus: one or two each."""
        middle = len(self.sides) // 2
        return self.sides[:middle], self.sides[middle:]

    @property
    def n(self) -> int:
        """The number of pairs."""
        return len(self.by_seed)

    @cached_property
    def test(self) -> Estimate | None:
        """The test; none of one or two seeds, which decide nothing."""
        return paired(self.by_seed) if self.n >= FEWEST else None

    @property
    def value(self) -> float | None:
        """The mean difference, or None if there is no pair."""
        return self.test.value if self.test else mean(self.by_seed) if self.by_seed else None

    @property
    def spread(self) -> float | None:
        """The standard deviation of paired differences, or None if there are too few."""
        return stdev(self.by_seed) if self.n > 1 else None

    @property
    def obstacle(self) -> str:
        """The reason why there is no test; empty if there is one."""
        if self.n >= FEWEST:
            return ""
        if self.n:
            return CONSTANT if all(side.is_constant for side in self.sides) else TOO_FEW[self.n]
        return NO_COMMON_SEEDS if all(side.values for side in self.sides) else NOT_RUN

    def texts(self, digits: int) -> list[str]:
        """Return what is before the minus and after it, each with its means and its number of runs."""
        return [self._half_text(half, digits) for half in self.halves]

    def _half_text(self, half: Sequence[Side], digits: int) -> str:
        means = " - ".join(f"{side.label} {number_text(mean(side.values.values()), digits)}" for side in half)
        runs = 1 if all(side.is_constant for side in half) else self.n
        return f"({means}) ({runs})" if len(half) > 1 else f"{means} ({runs})"


def _subtract(values: Sequence[float]) -> float:
    first = values[0] - values[1]
    return first - (values[2] - values[3]) if len(values) > 2 else first


def number_text(value: float, digits: int, sign: str = "") -> str:
    """Return a number with so many digits; zero has no sign."""
    text = f"{value:{sign}.{digits}f}"
    return f"{0:.{digits}f}" if float(text) == 0 else text
