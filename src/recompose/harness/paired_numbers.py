"""The numbers of two models on the same items of suites: of each sub-task, and of the means over sub-tasks.

Items that ask about the same image or caption are a unit, since they are right or wrong together; so are the captions
of an image in retrieval. Where a suite averages over groups of items, such as ARO's relations, a group is a unit.
Sub-tasks are resampled independently of each other.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from zlib import crc32

import numpy as np

from recompose.errors import DataError
from recompose.harness import paired_items
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.judges import Judge, Number, judge_of
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.subtasks import Mean, aggregate, names_in
from recompose.tracks.vlc.suites.values import trees

Scores = Mapping[str, np.ndarray]
SLOW_RESAMPLES = 1_000  # of a number that is no mean of its items, whose draws cannot be summed up
EXACT, UNITS = "McNemar, exact", "bootstrap over {}"


@dataclass(frozen=True)
class PairedNumber:
    """A number of two models on the same items."""

    name: str
    items: int
    units: int
    differing: int  # units whose numbers differ, or all of a number that is no mean of its items
    values: tuple[float, float]  # of the first model, and of the second
    test: str
    draws: np.ndarray | None  # [resamples] of second - first; None: a single unit
    only: tuple[int, int] | None = None  # items that one model alone has right, of an accuracy over items

    @property
    def difference(self) -> float:
        """The second number minus the first."""
        return self.values[1] - self.values[0]

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the difference; None without any spread, of a single unit or of equal draws."""
        if self.test == EXACT and self.only:
            return paired_items.accuracy_interval(*self.only, self.items)
        return None if self.draws is None or not np.ptp(self.draws) else paired_items.percentile_interval(self.draws)

    @cached_property
    def p(self) -> float | None:
        """The p of no difference, not corrected; None for a single unit."""
        if self.test == EXACT:
            return self.mcnemar_p
        return None if self.draws is None else paired_items.bootstrap_p(self.draws, self.differing)

    @cached_property
    def mcnemar_p(self) -> float | None:
        """The p of McNemar's test, as if items were independent; None for a number that is no accuracy over items."""
        return paired_items.mcnemar(*self.only) if self.only else None

    def detectable(self, level: float) -> float | None:
        """Return the smallest difference that a test of this level finds with a power of 80 %; None if it finds none.

        A spread of zero, as of models that agree on all items, tells nothing about it.
        """
        if self.test == EXACT and self.only:
            return paired_items.detectable_by_mcnemar(sum(self.only), self.items, level)
        return (
            None
            if self.draws is None or not np.ptp(self.draws)
            else paired_items.detectable_by_spread(self.draws, level)
        )


def paired_numbers(suites: Sequence[Suite], first: Scores, second: Scores, resamples: int) -> list[PairedNumber]:
    """Return the numbers of all sub-tasks and means of these suites, for two models; items without scores of both are
    left out.

    Args:
        suites: the suites.
        first: the scores of one model, as ``Suite.scores`` returns them.
        second: the scores of the other model, of the same items.
        resamples: of a bootstrap.

    Raises:
        DataError: the scores of a sub-task do not fit it.
    """
    leaves: list[PairedNumber] = []
    for suite in suites:
        for name in suite.tasks:
            try:
                leaves += _task_numbers(judge_of(suite, name), first, second, resamples)
            except (ValueError, LookupError) as error:
                message = f"{suite.name}: {name}: it cannot be compared: {error}"
                raise DataError(message, code="wrong-scores", place=name) from None
    return leaves + _means(suites, leaves, resamples)


def _task_numbers(judge: Judge, first: Scores, second: Scores, resamples: int) -> Iterator[PairedNumber]:
    """Yield the numbers of a sub-task; retrieval has one for each direction, groups and triplets one for each sense."""
    for leaf in judge.task.leaves(judge.name):
        items = has_scores(first[leaf]) & has_scores(second[leaf]) & judge.counting(leaf)
        if not items.any():
            continue
        units = judge.units(leaf)[items]
        senses = (judge.numbers(leaf, scores[leaf][items], items) for scores in (first, second))
        for pair in zip(*senses, strict=True):
            yield _paired_number(pair, units, judge.unit, resamples)


def _paired_number(pair: tuple[Number, Number], units: np.ndarray, unit: str, resamples: int) -> PairedNumber:
    """Return a number of two models, given the units of its items [items] and the noun for them."""
    one, other = pair
    values = one.value(len(units)), other.value(len(units))
    if one.right is None or other.right is None:
        return _other_number(pair, values, len(units), resamples)
    differences, classes, only = other.right.astype(np.int64) - one.right, None, None
    sums: np.ndarray
    if one.groups is None:  # an accuracy over items
        _, place, sizes = np.unique(units, return_inverse=True, return_counts=True)
        sums = np.bincount(place, weights=differences)
        only = int((one.right & ~other.right).sum()), int((other.right & ~one.right).sum())
    elif one.are_groups_drawn:  # a mean over groups of accuracies, whose units are groups
        _, place, counts = np.unique(one.groups, return_inverse=True, return_counts=True)
        sums, sizes = np.bincount(place, weights=differences) / counts, np.ones(len(counts), dtype=np.int64)
        unit = "groups"
    else:  # a mean over classes of accuracies, whose units are items
        sums, sizes, classes = differences, np.ones(len(units), dtype=np.int64), one.groups
    draws = (
        paired_items.bootstrap_mean(sums, sizes, resamples, _generator(one.name), classes) if len(sizes) > 1 else None
    )
    test = EXACT if only and len(sizes) == len(units) else UNITS.format(unit)
    return PairedNumber(one.name, len(units), len(sizes), int(np.count_nonzero(sums)), values, test, draws, only)


def _other_number(pair: tuple[Number, Number], values: tuple[float, float], items: int, resamples: int) -> PairedNumber:
    """Return a number that is no mean of its items, such as a correlation."""
    one, other = pair
    assert one.of_items and other.of_items
    first, second = one.of_items, other.of_items
    few = min(resamples, SLOW_RESAMPLES)
    draws = paired_items.bootstrap(lambda rows: second(rows) - first(rows), items, few, _generator(one.name))
    return PairedNumber(one.name, items, items, items, values, UNITS.format("items"), draws)


def _means(suites: Sequence[Suite], leaves: Sequence[PairedNumber], resamples: int) -> list[PairedNumber]:
    """Return each mean whose parts all have a number."""
    all_trees = trees(suites)
    parts = {part for tree in all_trees for part in names_in(tree)}
    inside = {leaf.name: leaf for leaf in leaves if leaf.name in parts}
    sizes = {name: leaf.items for name, leaf in inside.items()}
    firsts, seconds = (
        aggregate({name: leaf.values[side] for name, leaf in inside.items()}, sizes, all_trees) for side in (0, 1)
    )
    shares = {  # of each leaf in each mean: a mean is linear
        name: aggregate({subtask: float(subtask == name) for subtask in inside}, sizes, all_trees) for name in inside
    }
    means = []
    for name in firsts.keys() - inside.keys():
        weights = {leaf: share for leaf in inside if (share := shares[leaf][name])}
        below = [inside[leaf] for leaf in weights]
        drawn = [weights[leaf.name] * np.resize(leaf.draws, resamples) for leaf in below if leaf.draws is not None]
        draws = np.sum(drawn, axis=0) if len(drawn) == len(below) else None
        items, units = sum(leaf.items for leaf in below), sum(leaf.units for leaf in below)
        differing, values = sum(leaf.differing for leaf in below), (firsts[name], seconds[name])
        means.append(PairedNumber(name, items, units, differing, values, UNITS.format("items"), draws))
    order = [part.name for tree in all_trees for part in _inner(tree)]
    return sorted(means, key=lambda mean: order.index(mean.name))


def _inner(tree: Mean | str) -> Iterator[Mean]:
    """Yield a tree and all means in it."""
    if isinstance(tree, Mean):
        yield tree
        for part in tree.parts:
            yield from _inner(part)


def _generator(name: str) -> np.random.Generator:
    """Return random numbers that are the same for each number of this name."""
    return np.random.default_rng(crc32(name.encode()))
