"""The correction of several tests for each other."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Return each p corrected for all of them, by Holm's step-down procedure.

    It bounds the probability of any wrong rejection by the level.

    Args:
        p_values: [n]

    Returns:
        [n], in the same order: the smallest times n, the next one times n - 1 and so on, none below one before it, none
        above 1.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, before = [0.0] * len(p_values), 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        before = max(before, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = before
    return adjusted
