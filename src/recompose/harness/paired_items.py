"""Differences of two models on the same items: an exact test, bootstraps, and the smallest difference that they find.

Items that belong together, such as those of one image, are a unit: units are independent, their items need not be.
"""

from collections.abc import Callable
from math import sqrt

import numpy as np
from scipy.special import betaincinv, ndtri
from scipy.stats import binom, binomtest

from recompose.claims.estimates import ALPHA, LEVEL, POWER
from recompose.errors import ArgumentError

BLOCK = 1 << 22  # numbers in memory at a time
Statistic = Callable[[np.ndarray], float]


def mcnemar(only_first: int, only_second: int) -> float:
    """Return the p of McNemar's exact test, two-sided: the items that one model alone has right are like tossed coins.

    Args:
        only_first: the items that only the first model has right.
        only_second: the items that only the second model has right.

    >>> mcnemar(1, 9)
    0.021484375
    >>> mcnemar(0, 0)
    1.0
    """
    if only_first + only_second == 0:
        return 1.0
    return float(binomtest(only_second, only_first + only_second).pvalue)


def accuracy_interval(only_first: int, only_second: int, items: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of the second accuracy minus the first: Wald's, with half an item added to each of the four
    cells (Agresti and Min, Statistics in Medicine 24, 2005).

    Args:
        only_first: the items that only the first model has right.
        only_second: the items that only the second model has right.
        items: all items, at least one.
        level: of confidence.

    >>> low, high = accuracy_interval(10, 30, 100)
    >>> round(low, 3), round(high, 3)
    (0.079, 0.313)
    """
    total = items + 2
    difference = (only_second - only_first) / total
    error = sqrt(max(0.0, (only_first + only_second + 1) / total - difference**2) / total)
    half = float(ndtri((1 + level) / 2)) * error
    return max(-1.0, difference - half), min(1.0, difference + half)


def detectable_by_mcnemar(discordant: int, items: int, level: float = ALPHA, power: float = POWER) -> float | None:
    """Return the smallest difference of two accuracies that McNemar's exact test finds with this probability, given
    that so many items are right for one model alone; None if no difference of so few of them is significant.

    Args:
        discordant: the items that one model alone has right.
        items: all items.
        level: of the test.
        power: the probability.

    >>> round(detectable_by_mcnemar(100, 1000), 4)
    0.029
    >>> detectable_by_mcnemar(5, 1000) is None
    True
    """
    fewest = int(binom.isf(level / 2, discordant, 0.5)) + 1  # of one side that are significant
    if fewest > discordant:
        return None
    share = float(betaincinv(fewest, discordant - fewest + 1, power))  # P(X >= fewest) is a beta distribution's
    return (2 * share - 1) * discordant / items


def bootstrap_mean(
    differences: np.ndarray,
    sizes: np.ndarray,
    resamples: int,
    generator: np.random.Generator,
    classes: np.ndarray | None = None,
) -> np.ndarray:
    """Return the mean difference per item of resampled units [resamples].

    Units with equal numbers are drawn together, so that time grows with the number of different ones.

    Args:
        differences: [units], the sum of the differences of a unit's items.
        sizes: [units], the number of its items.
        resamples: how often units are drawn, each time as many as there are.
        generator: of random numbers.
        classes: [units], for a mean over classes of the means of their items; a class without a drawn unit is left out.

    Raises:
        ArgumentError: there are fewer than two units.

    >>> bootstrap_mean(np.array([1, 1]), np.array([1, 2]), 3, np.random.default_rng(0)).max() <= 1
    np.True_
    """
    if len(differences) < 2:
        raise ArgumentError("differences", "has no spread: a bootstrap needs two units or more")
    numbers = (
        np.zeros(len(differences), dtype=np.int64) if classes is None else np.unique(classes, return_inverse=True)[1]
    )
    kinds, counts = np.unique(np.stack([numbers, sizes, differences], axis=1), axis=0, return_counts=True)
    starts = np.flatnonzero(np.diff(kinds[:, 0], prepend=-1))  # of each class among the sorted kinds
    means = np.empty(resamples)
    step = max(1, BLOCK // len(kinds))
    for start in range(0, resamples, step):
        block = slice(start, min(start + step, resamples))
        drawn = generator.multinomial(len(differences), counts / counts.sum(), size=block.stop - block.start)
        sums, items = (np.add.reduceat(drawn * kinds[:, column], starts, axis=1) for column in (2, 1))
        shares = np.divide(sums, items, out=np.zeros(sums.shape), where=items > 0)
        means[block] = shares.sum(axis=1) / (items > 0).sum(axis=1)
    return means


def bootstrap(statistic: Statistic, items: int, resamples: int, generator: np.random.Generator) -> np.ndarray:
    """Return a statistic of resampled items [resamples]; one that is undefined for a draw is drawn again.

    Args:
        statistic: of the numbers of drawn items [items]; it raises a ValueError where it is undefined.
        items: the number of items.
        resamples: how often items are drawn, each time as many as there are.
        generator: of random numbers.

    Raises:
        ArgumentError: the statistic is undefined for too many draws.
    """
    drawn: list[float] = []
    for _ in range(2 * resamples):
        try:
            drawn.append(statistic(generator.integers(0, items, items)))
        except ValueError:
            continue
        if len(drawn) == resamples:
            return np.array(drawn)
    raise ArgumentError("statistic", f"is undefined for most draws of {items} items")


def percentile_interval(draws: np.ndarray, level: float = LEVEL) -> tuple[float, float]:
    """Return the interval of a bootstrap: the quantiles of its draws.

    >>> low, high = percentile_interval(np.arange(101.0), level=0.9)
    >>> round(low, 6), round(high, 6)
    (5.0, 95.0)
    """
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return float(low), float(high)


def bootstrap_p(draws: np.ndarray, differing: int) -> float:
    """Return the p of no difference, two-sided: twice the share of draws on the rarer side of zero.

    It is never below that of an exact test in which each unit favours either model like a tossed coin, since draws of
    few units seldom change sides. Nor is it ever 0: n draws bound it by 2 / (n + 1).

    Args:
        draws: of the difference.
        differing: the units whose numbers are not those of the other model.

    >>> bootstrap_p(np.array([1.0] * 98 + [-1.0]), 20)
    0.04
    >>> bootstrap_p(np.ones(99), 3)
    0.25
    """
    rarer = min((draws <= 0).sum(), (draws >= 0).sum())
    return float(min(1.0, max(2 * (rarer + 1) / (len(draws) + 1), 2.0 ** (1 - differing))))


def detectable_by_spread(draws: np.ndarray, level: float = ALPHA, power: float = POWER) -> float:
    """Return the smallest difference that a test of this level finds with this probability, for an estimate that is
    normal with the spread of these draws.

    >>> round(detectable_by_spread(np.array([-1.0, 1.0] * 1000)), 2)
    2.8
    """
    return float((-ndtri(level / 2) + ndtri(power)) * draws.std())
