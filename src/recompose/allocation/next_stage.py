"""The next stage of a study: the comparisons that get the replicates of their next look.

A pure function of what was seen, of declared looks and of costs that were written down beforehand, so that an audit can
choose once more, and so that it does not depend on the machine or on its number of cores.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import inf

from recompose.inference.power import Question, look_probability
from recompose.inference.sequential import Looks
from recompose.params.allocation import Replicates, Stage

LEAST = 0.2  # the probability of a decision at the last look below which a comparison gets no further replicates

PartCosts = Mapping[str, Mapping[str, Mapping[str, float]]]  # track -> method or variant -> part -> core-seconds


@dataclass(frozen=True)
class OpenComparison:
    """An undecided comparison."""

    name: str
    track: str
    methods: tuple[str, ...]
    difference: float
    question: Question  # at the level that is left to it, before it is divided among looks

    def probability(self, looks: Looks, size: int) -> float:
        """Return the probability that a look decides it, if the difference is as measured."""
        return look_probability(self.question, self.difference, looks, size)


@dataclass(frozen=True)
class Budget:
    """What replicates cost; parts that several methods or variants share count once."""

    costs: PartCosts

    def core_seconds(self, replicates: Replicates) -> float:
        """Return the time of all these replicates from nothing."""
        return sum(self._track_seconds(track, counts) for track, counts in replicates.items())

    def _track_seconds(self, track: str, counts: Mapping[str, int]) -> float:
        most: dict[str, int] = {}
        seconds: dict[str, float] = {}
        for name, parts in self.costs.get(track, {}).items():
            for part, cost in parts.items():
                most[part] = max(most.get(part, 0), counts.get(name, 1))
                seconds[part] = cost
        return sum(seconds[part] * count for part, count in most.items())


@dataclass
class _Choice:
    """A stage that is being chosen, one comparison after the other."""

    looks: Mapping[str, Looks]
    budget: Budget
    replicates: Replicates
    before: float

    @cached_property
    def start(self) -> Replicates:
        """The replicates before the stage."""
        return {track: dict(counts) for track, counts in self.replicates.items()}

    def raised(self, comparison: OpenComparison, size: int) -> Replicates:
        """Return the replicates with those of a comparison's methods raised to a size."""
        counts = self.replicates[comparison.track]
        more = {name: max(size, counts.get(name, 1)) for name in comparison.methods}
        return {**self.replicates, comparison.track: {**counts, **more}}

    def later_looks(self, comparison: OpenComparison) -> list[int]:
        """Return the looks that a comparison had not reached before the stage."""
        counts = self.start[comparison.track]
        least = min(counts.get(name, 1) for name in comparison.methods)
        return [size for size in self.looks[comparison.track].sizes if size > least]

    def is_raised(self, comparison: OpenComparison) -> bool:
        """Return True if the stage has the comparison's next look already."""
        counts, sizes = self.replicates[comparison.track], self.later_looks(comparison)
        return bool(sizes) and all(counts.get(name, 1) >= sizes[0] for name in comparison.methods)

    def worth(self, comparison: OpenComparison) -> float:
        """Return the probability of a decision for each core-second, at the best of the later looks."""
        looks, now = self.looks[comparison.track], self.budget.core_seconds(self.replicates)

        def ratio(size: int) -> float:
            cost = self.budget.core_seconds(self.raised(comparison, size)) - now
            return comparison.probability(looks, size) / cost if cost > 0 else inf

        return max(ratio(size) for size in self.later_looks(comparison))


def first_stage(names: Mapping[str, Iterable[str]], looks: Mapping[str, Looks], budget: Budget) -> Stage:
    """Return the first stage: the first look of every comparison.

    Args:
        names: the methods and variants of all comparisons, by track.
        looks: of each track.
        budget: what replicates cost.
    """
    replicates = {track: dict.fromkeys(sorted(members), looks[track].sizes[0]) for track, members in names.items()}
    return Stage(replicates=replicates, core_seconds=round(budget.core_seconds(replicates), 1))


def too_dear(comparisons: Iterable[OpenComparison], looks: Mapping[str, Looks]) -> list[str]:
    """Return the comparisons that the last look would hardly decide."""
    return sorted(
        comparison.name
        for comparison in comparisons
        if comparison.probability(looks[comparison.track], looks[comparison.track].sizes[-1]) < LEAST
    )


def next_stage(
    comparisons: Iterable[OpenComparison],
    looks: Mapping[str, Looks],
    replicates: Replicates,
    budget: Budget,
    core_seconds: float,
) -> Stage | None:
    """Return the next stage, or None if nothing is left that the remaining time can pay.

    Comparisons are taken by the probability of a decision for each core-second. Each moves by one look, so that it
    stops where it is decided.

    Args:
        comparisons: those that are undecided.
        looks: of each track.
        replicates: those of the stage before.
        budget: what replicates cost.
        core_seconds: the time that is left.
    """
    undecided = sorted(comparisons, key=lambda comparison: comparison.name)
    dear = too_dear(undecided, looks)
    choice = _Choice(looks, budget, {track: dict(counts) for track, counts in replicates.items()}, 0.0)
    before = budget.core_seconds(choice.start)
    waiting = [c for c in undecided if c.name not in dear and choice.later_looks(c)]
    while waiting := [comparison for comparison in waiting if not choice.is_raised(comparison)]:
        best = max(waiting, key=lambda comparison: (choice.worth(comparison), comparison.name))
        raised = choice.raised(best, choice.later_looks(best)[0])
        if budget.core_seconds(raised) - before <= core_seconds:
            choice.replicates = raised
        waiting.remove(best)
    spent = budget.core_seconds(choice.replicates) - before
    if choice.replicates == choice.start:
        return None
    return Stage(replicates=choice.replicates, core_seconds=round(spent, 1), too_dear=dear)
