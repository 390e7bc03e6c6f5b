"""The sides of a comparison: values by seed."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from statistics import mean


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
