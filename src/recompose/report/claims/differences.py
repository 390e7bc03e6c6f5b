"""The difference of two sides, and its tests."""

from dataclasses import dataclass
from statistics import stdev

from recompose.inference.estimates import welch
from recompose.inference.sequential import Look, Looks, SequentialTest, look_at
from recompose.report.claims.sides import Side, common_seeds

NOT_RUN, ONE_SEED, BEFORE_LOOK = "not run", "one seed", "before the first look"


@dataclass(frozen=True)
class Difference:
    """A difference of two sides, with its tests if there are any."""

    higher: Side
    lower: Side
    value: float | None = None  # None if nothing was run
    test: SequentialTest | None = None
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


def difference(higher: Side, lower: Side, looks: Looks | None = None) -> Difference:
    """Test the difference of two sides, at declared looks or once.

    It is paired by seed if both sides share at least two seeds; otherwise it is Welch's test if each side has two
    values or more. One run of a method that depends on its seed decides nothing.
    """
    if not higher.values or not lower.values:
        return Difference(higher, lower, obstacle=_missing_values_reason(higher, lower))
    seeds = common_seeds(higher, lower)
    if len(seeds) < 2 and min(higher.n, lower.n) > 1:
        estimate = welch(list(higher.values.values()), list(lower.values.values()))
        return Difference(higher, lower, estimate.value, SequentialTest((Look(estimate),)))
    if seeds:
        higher, lower = higher.at(seeds), lower.at(seeds)
    by_seed = tuple(higher.values[seed] - lower.values[seed] for seed in seeds)
    if len(seeds) > 1:
        test = look_at(by_seed, looks)
        value = test.value if test else higher.mean - lower.mean
        return Difference(higher, lower, value, test, by_seed, "" if test else BEFORE_LOOK)
    obstacle = "no seeds to vary" if higher.is_constant and lower.is_constant else ONE_SEED
    return Difference(higher, lower, higher.mean - lower.mean, None, by_seed, obstacle)


def _missing_values_reason(*sides: Side) -> str:
    """Return why a side has no values: something was not run, or the parts of a gain share no seed."""
    runs = [part for side in sides for part in (side.parts or (side,))]
    return "no common seeds" if all(part.values for part in runs) else NOT_RUN
