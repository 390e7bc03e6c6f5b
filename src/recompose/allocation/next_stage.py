"""The next stage of a study: the comparisons that get the replicates of their next look.

A pure function of what was seen, of declared looks and of costs that were written down beforehand, so that an audit can
choose once more, and so that it does not depend on the machine or on its number of cores.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import inf

from recompose.inference.estimates import rounded
from recompose.inference.power import Question, predictive_probability, question_at
from recompose.inference.sequential import Looks
from recompose.params.allocation import PartCosts, Replicates, Stage

LEAST = 0.1  # the probability of a decision at the last look below which a comparison gets no further replicates
DECIMALS = 2  # decimals of seconds that are written
DIGITS = 9  # of what is compared: other processors may differ in those after


@dataclass(frozen=True)
class OpenComparison:
    """An undecided comparison."""

    name: str
    track: str
    methods: tuple[str, ...]
    difference: float
    question: Question  # at the level that is left to it, before it is divided among looks
    seen: int  # replicates of the difference

    def probability(self, looks: Looks, size: int) -> float:
        """Return the probability that a look decides it, given what was seen; 0 for a look that is over."""
        at_look = question_at(self.question, looks, size)
        if at_look is None or size <= self.seen:
            return 0.0
        return rounded(predictive_probability(at_look, self.difference, self.seen, size), DIGITS)

    def later_looks(self, looks: Looks, replicates: Replicates) -> list[int]:
        """Return the looks that some of its methods have not reached."""
        least = min(replicates[self.track].get(name, 1) for name in self.methods)
        return [size for size in looks.sizes if size > least]

    def raise_to(self, size: int, replicates: Replicates) -> Replicates:
        """Return the replicates with those of its methods raised to a size."""
        counts = replicates[self.track]
        return {
            **replicates,
            self.track: {**counts, **{name: max(size, counts.get(name, 1)) for name in self.methods}},
        }


@dataclass(frozen=True)
class Budget:
    """The cost of replicates; parts that several methods or variants share count once."""

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


def first_stage(names: Mapping[str, Iterable[str]], looks: Mapping[str, Looks], budget: Budget, hours: float) -> Stage:
    """Return the first stage: the first look of every comparison.

    Args:
        names: the methods and variants of all comparisons, by track.
        looks: of each track.
        budget: what replicates cost.
        hours: the core-hours of the study, which the stage may exceed.
    """
    replicates = {track: dict.fromkeys(sorted(members), looks[track].sizes[0]) for track, members in names.items()}
    return Stage(replicates=replicates, core_seconds=round(budget.core_seconds(replicates), DECIMALS), hours=hours)


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
    budget: Budget,
    stages: Sequence[Stage],
    hours: float,
) -> Stage | None:
    """Return the next stage, or None if nothing is left that the remaining time can pay.

    Comparisons are taken by the probability of a decision for each core-second, at the best of their later looks. Each
    moves by one look, so that it stops where it is decided.

    Args:
        comparisons: those that are undecided.
        looks: of each track.
        budget: what replicates cost.
        stages: those before, at least one.
        hours: the core-hours of the whole study.
    """
    undecided = sorted(comparisons, key=lambda comparison: comparison.name)
    dear = too_dear(undecided, looks)
    before = replicates = stages[-1].replicates
    left = 3600 * hours - sum(stage.core_seconds for stage in stages)
    chances = {
        comparison: {size: comparison.probability(looks[comparison.track], size) for size in sizes}
        for comparison in undecided
        if comparison.name not in dear and (sizes := comparison.later_looks(looks[comparison.track], before))
    }

    def added(counts: Replicates, to: Replicates) -> float:
        return budget.core_seconds(counts) - budget.core_seconds(to)

    def worth(comparison: OpenComparison) -> tuple[float, str]:
        costs = {size: added(comparison.raise_to(size, replicates), replicates) for size in chances[comparison]}
        ratios = [chances[comparison][size] / cost if cost > 0 else inf for size, cost in costs.items()]
        return rounded(max(ratios), DIGITS), comparison.name

    while chances:
        best = max(chances, key=worth)
        raised = best.raise_to(min(chances.pop(best)), replicates)
        if round(added(raised, before), DECIMALS) <= left:
            replicates = raised
            chances = {  # without those that have their next look already
                comparison: sizes
                for comparison, sizes in chances.items()
                if comparison.raise_to(min(sizes), replicates) != replicates
            }
    if replicates == before:
        return None
    return Stage(
        replicates=replicates, core_seconds=round(added(replicates, before), DECIMALS), hours=hours, too_dear=dear
    )
