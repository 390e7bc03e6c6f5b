"""Fewer images than there are, with every label still shown."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Mapping, Sequence
from random import Random
from types import MappingProxyType
from typing import TypeVar

from recompose.errors import ArgumentError

T = TypeVar("T")


def kept(
    groups: Sequence[Hashable],
    labels: Sequence[Hashable],
    share: float,
    least: Mapping[Hashable, int] = MappingProxyType({}),
    seed: int = 0,
) -> list[int]:
    """The positions of a share of some things, in order.

    Of each group, such as a split, so many remain as the share says, rounded, but at least one of each of its labels.

    Args:
        groups: of each thing.
        labels: of each thing.
        share: of the things of a group.
        least: of groups that keep more than one thing of a label, as far as it has them.
        seed: of the choice among those of which a label needs none.

    Example:
        >>> kept("aaaabb", "xxyyzz", 0.5)  # two of a, which has two labels, and one of b
        [0, 2, 4]
        >>> kept("aaaabb", "xxxyzz", 0.5, {"a": 2})
        [0, 1, 3, 4]
    """
    needed: Counter[tuple[Hashable, Hashable]] = Counter()
    others: dict[Hashable, list[int]] = defaultdict(list)
    chosen: set[int] = set()
    for place, (group, label) in enumerate(zip(groups, labels, strict=True)):
        if needed[group, label] < least.get(group, 1):
            needed[group, label] += 1
            chosen.add(place)
        else:
            others[group].append(place)
    rng, sizes = Random(seed), Counter(groups)
    there = Counter(groups[place] for place in chosen)
    for group, places in others.items():
        more = max(round(share * sizes[group]) - there[group], 0)
        chosen.update(rng.sample(places, more))
    return sorted(chosen)


def dealt(items: dict[T, list[str]], labels: Sequence[T], count: int) -> list[tuple[T, str]]:
    """So many of what labels have, from each in turn as long as it keeps one; they are taken away from them.

    Raises:
        ArgumentError: the labels have not so many.

    Example:
        >>> dealt({"x": ["1", "2", "3"], "y": ["4", "5"]}, ["x", "y"], 3)
        [('x', '3'), ('y', '5'), ('x', '2')]
    """
    given: list[tuple[T, str]] = []
    while len(given) < count:
        able = [label for label in labels if len(items[label]) > 1][: count - len(given)]
        if not able:
            raise ArgumentError("count", f"is {count}, but only {len(given)} items can be dealt")
        given += [(label, items[label].pop()) for label in able]
    return given
