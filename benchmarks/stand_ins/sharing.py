"""Fewer images than there are, with every label still shown."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def kept(groups: Sequence[Hashable], labels: Sequence[Hashable], share: float, seed: int = 0) -> list[int]:
    """The positions of a share of some things, in order.

    Of each group, such as a split, so many remain as the share says, rounded, but at least one of each of its labels.

    Args:
        groups: of each thing.
        labels: of each thing.
        share: of the things of a group.
        seed: of the choice among those of which a label needs none.

    Example:
        >>> kept("aaaabb", "xxyyzz", 0.5)  # two of a, which has two labels, and one of b
        [0, 2, 4]
    """
    first: dict[tuple[Hashable, Hashable], int] = {}
    others: dict[Hashable, list[int]] = defaultdict(list)
    for place, (group, label) in enumerate(zip(groups, labels, strict=True)):
        if first.setdefault((group, label), place) != place:
            others[group].append(place)
    rng, sizes, needed = Random(seed), Counter(groups), Counter(group for group, _ in first)
    chosen = set(first.values())
    for group, places in others.items():
        more = max(round(share * sizes[group]) - needed[group], 0)
        chosen.update(rng.sample(places, more))
    return sorted(chosen)


def dealt(items: dict[T, list[str]], labels: Sequence[T], count: int) -> list[tuple[T, str]]:
    """So many of what labels have, from each in turn as long as it keeps one; they are taken away from them.

    Raises:
        ValueError: the labels have not so many.

    Example:
        >>> dealt({"x": ["1", "2", "3"], "y": ["4", "5"]}, ["x", "y"], 3)
        [('x', '3'), ('y', '5'), ('x', '2')]
    """
    given: list[tuple[T, str]] = []
    while len(given) < count:
        able = [label for label in labels if len(items[label]) > 1][: count - len(given)]
        if not able:
            raise ValueError(f"{len(given)} instead of {count} could be dealt")
        given += [(label, items[label].pop()) for label in able]
    return given
