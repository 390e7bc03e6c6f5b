"""Sub-tasks: what is known of them beyond their files, and means over them.

A suite declares its sub-tasks in its module of ``data/formats``. Items are the published counts, which annotation files
and the released tables of models are checked against. The rule for ties is that of a suite's released code; if the code
leaves it open, or there is none, a tie is wrong.

Means are trees whose leaves are sub-tasks. A mean is ``macro``, in which all parts weigh the same, or ``micro``, in
which they weigh by their items. Those over suites are in ``catalogue.py``.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from recompose.errors import ArgumentError
from recompose.tracks.vlc.suites.ranks import Ties
from recompose.tracks.vlc.suites.tasks import WAYS

ClassMetric = Literal["accuracy", "mean-per-class", "11point_mAP", "roc_auc"]


@dataclass(frozen=True)
class SubTask:
    """A set of items with a number of its own."""

    name: str
    query: str  # of a kind of ``judges.py``
    items: int | None = None  # None: no published count; of a data set of classes or retrieval, the number of images
    ties: Ties = "first"
    group_minimum: int | None = None  # ARO: the mean over groups of at least so many items; None: over items
    groups: tuple[str, ...] = ()  # groups of items with numbers of their own
    captions: int | None = None  # of retrieval
    metric: ClassMetric = "accuracy"  # of classes

    @property
    def suite(self) -> str:
        """The name of the suite."""
        return self.name.split("/")[0]

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of its scores, and of its own numbers."""
        return tuple(f"{self.name}/{way}" for way in WAYS) if self.query == "retrieval" else (self.name,)


def subtasks(suite: str, items: Mapping[str, int | None], query: str, ties: Ties, **others: Any) -> Iterator[SubTask]:
    """Yield the sub-tasks of a suite that differ in their numbers of items alone, given by their names in the suite."""
    for name, count in items.items():
        yield SubTask(f"{suite}/{name}", query, count, ties, **others)


Tree: TypeAlias = "Mean | str"  # a mean, or the name of a leaf


@dataclass(frozen=True)
class Mean:
    """A mean over parts, which are means or leaves."""

    name: str
    parts: tuple[Tree, ...]
    by_items: bool = False  # micro: parts weigh by their items

    @property
    def leaves(self) -> tuple[str, ...]:
        """The names of all leaves, from left to right."""
        nested = (part.leaves if isinstance(part, Mean) else (part,) for part in self.parts)
        return tuple(leaf for leaves in nested for leaf in leaves)


def macro(name: str, *parts: Tree) -> Mean:
    """Return the mean in which all parts weigh the same."""
    return Mean(name, parts)


def micro(name: str, *parts: Tree) -> Mean:
    """Return the mean in which parts weigh by their items."""
    return Mean(name, parts, by_items=True)


def in_sense(tree: Mean, sense: str) -> Mean:
    """Return the same mean over another number of each sub-task.

    Example:
        >>> in_sense(macro("mine", "mine/a", "mine/b"), "text")
        Mean(name='mine/text', parts=('mine/a/text', 'mine/b/text'), by_items=False)
    """
    return replace(tree, name=f"{tree.name}/{sense}", parts=tuple(f"{leaf}/{sense}" for leaf in tree.leaves))


def suite(tree: Mean) -> Mean:
    """Return the tree of a suite, with its name before the names of its parts.

    Example:
        >>> suite(macro("aro", macro("order", "coco", "flickr"))).leaves
        ('aro/coco', 'aro/flickr')
    """
    return replace(tree, parts=tuple(renamed(part, "", f"{tree.name}/") for part in tree.parts))


def name_of(tree: Tree) -> str:
    """Return the name of a mean or of a leaf."""
    return tree.name if isinstance(tree, Mean) else tree


def renamed(tree: Tree, old: str, new: str) -> Tree:
    """Return a tree with another prefix of all names in it."""
    name = new + name_of(tree).removeprefix(old)
    if isinstance(tree, str):
        return name
    return replace(tree, name=name, parts=tuple(renamed(part, old, new) for part in tree.parts))


def aggregate(
    scores: Mapping[str, float], items: Mapping[str, int] | None, trees: tuple[Tree, ...]
) -> dict[str, float]:
    """Return the scores, and each mean whose parts all have a number.

    A mean with a missing part has no number. A score may also be that of a mean, such as
    a suite's where a table prints no sub-tasks: it replaces its parts.

    Args:
        scores: of sub-tasks (the group score of groups, R@1 of retrieval) by name; fractions or percentages.
        items: the number of items of a score, needed by micro means.
        trees: the trees of means.

    Raises:
        ArgumentError: a name is in no tree, a score is NaN or infinite, a mean and a part of it both have scores, or
            the items of a part of a micro mean are unknown.

    Example:
        >>> tree = micro("imagecode", "imagecode/video", "imagecode/static")
        >>> scores = {"imagecode/video": 20.0, "imagecode/static": 40.0}
        >>> aggregate(scores, {"imagecode/video": 300, "imagecode/static": 100}, (tree,))["imagecode"]
        25.0
    """
    names = {name for tree in trees for name in names_in(tree)}
    for name, score in scores.items():
        if name not in names:
            raise ArgumentError(
                name, f"is no sub-task and no mean of {', '.join(map(name_of, trees))}", code="unknown-name"
            )
        if not math.isfinite(score):
            raise ArgumentError(name, f"has the score {score}", code="wrong-number")
    numbers = {name: float(score) for name, score in scores.items()}
    for tree in trees:
        _settle(tree, scores, items or {}, numbers)
    return numbers


def _settle(tree: Tree, scores: Mapping[str, float], items: Mapping[str, int], numbers: dict[str, float]) -> None:
    """Add the numbers of a tree's means to ``numbers``, from the leaves up."""
    if isinstance(tree, str):
        return
    if tree.name in scores:
        below = [name for part in tree.parts for name in names_in(part) if name in scores]
        if below:
            raise ArgumentError(tree.name, f"has a score, and so has {below[0]}, a part of it", code="two-scores")
        return
    for part in tree.parts:
        _settle(part, scores, items, numbers)
    names = [name_of(part) for part in tree.parts]
    if all(name in numbers for name in names):
        weights = [_items(part, tree, items) if tree.by_items else 1 for part in tree.parts]
        total = math.fsum(weight * numbers[name] for weight, name in zip(weights, names, strict=True))
        numbers[tree.name] = total / sum(weights)


def _items(part: Tree, mean: Mean, items: Mapping[str, int]) -> int:
    """Return the number of items of a part of a micro mean."""
    name = name_of(part)
    if name not in items and isinstance(part, Mean):
        return sum(_items(inner, mean, items) for inner in part.parts)
    if items.get(name, 0) < 1:
        fault = f"has {items.get(name, 'no number of')} items, by which {mean.name} weighs its parts"
        raise ArgumentError(name, fault, code="no-items")
    return items[name]


def names_in(tree: Tree) -> tuple[str, ...]:
    """Return the names of a tree and of all means and leaves in it."""
    if isinstance(tree, str):
        return (tree,)
    return (tree.name, *(name for part in tree.parts for name in names_in(part)))
