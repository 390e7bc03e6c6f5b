"""The items of an evaluation, one by one: which are right, by how much, in which category, and where two models differ.
Imported without torch.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recompose.console import first
from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.suites.judges import ItemContent as ItemContent  # what views of items show
from recompose.tracks.vlc.suites.judges import Judge
from recompose.tracks.vlc.suites.scores import has_scores

SHOWN = 12  # names that an error lists
Counts = dict[str, float | None]  # None: unknown


@dataclass(frozen=True, slots=True)
class ItemOutcome:
    """The outcome of an item."""

    task: str  # the sub-task, with the suite's name first
    number: int  # of the item in its sub-task, from 0
    category: str
    margin: float  # by which the item is right; below zero: by which it is wrong
    is_right: bool | None  # by the suite's rule for ties; None: graded items are neither right nor wrong
    is_tie: bool | None  # True: the true candidate and the best other one have the same score; None: unknown

    @property
    def label(self) -> str:
        """The category, unless the sub-task's name has it."""
        return "" if f"/{self.task}".endswith(f"/{self.category}") else self.category

    @property
    def word(self) -> str:
        """The outcome in a word."""
        return "graded" if self.is_right is None else "right" if self.is_right else "wrong"


def outcomes(judge: Judge, leaf: str, scores: np.ndarray, labels: Sequence[str] | None = None) -> list[ItemOutcome]:
    """Return the outcomes of a task's items that have scores, in their order.

    Args:
        judge: of the task.
        leaf: the name of the scores.
        scores: of all items.
        labels: the categories of items [items], instead of the task's own.
    """
    numbers = np.flatnonzero(has_scores(scores) & judge.judgeable(leaf))
    if not len(numbers):
        return []
    judged, own = judge.judge(scores[numbers], numbers), labels or judge.labels
    suite = judge.suite.name
    part = leaf.removeprefix(f"{suite}/") if leaf != suite else ""
    rights = [None] * len(numbers) if judged.right is None else judged.right.tolist()
    return [
        ItemOutcome(
            leaf,
            number,
            "/".join(filter(None, (part, own[number] if own else ""))) or suite,
            margin,
            right,
            margin == 0 if judged.shows_ties else None,
        )
        for number, margin, right in zip(numbers.tolist(), judged.margins.tolist(), rights, strict=True)
    ]


@dataclass(frozen=True)
class ItemSheet:
    """The items of a suite with the outcomes of a model."""

    title: str  # the model
    suite: str
    outcomes: tuple[ItemOutcome, ...]  # in the order of the suite's files
    left_out: int  # items without scores, such as those of unreadable images
    meaning: str  # of a margin, in words
    root: Path  # the folder of raw files, which the paths of images are below
    contents: Mapping[str, str]  # a digest of the images and texts of each sub-task, by name
    describe: Callable[[ItemOutcome], ItemContent]

    def within(self, category: str) -> "ItemSheet":
        """Return the sheet of one category, with the categories below it: ``vg_relation`` has ``vg_relation/on``.

        Raises:
            DataError: there is no such category.
        """
        inside = tuple(outcome for outcome in self.outcomes if f"{outcome.category}/".startswith(f"{category}/"))
        if not inside:
            categories = dict.fromkeys(outcome.category for outcome in self.outcomes)
            names = dict.fromkeys(name for path in categories for name in (path.partition("/")[0], path))
            listed = ", ".join(first(names, SHOWN))
            message = f"{self.suite} has no category '{category}'{nearest(category, names)}; it has {listed}"
            raise DataError(message, code="unknown-category", place=category)
        return replace(self, outcomes=inside)


@dataclass(frozen=True)
class ItemView:
    """Items of a suite by a model, or by two, with the counts of all categories in the order of the items."""

    sheets: Sequence[ItemSheet]  # one or two
    counts: Mapping[str, Counts]  # by category
    shown: Sequence[tuple[ItemOutcome, ...]]  # the outcome of an item by each model


def worst_items(sheet: ItemSheet, count: int) -> ItemView:
    """Return the items with the lowest margins, the lowest first; equal ones keep their order."""
    members: dict[str, list[ItemOutcome]] = {}
    for outcome in sheet.outcomes:
        members.setdefault(outcome.category, []).append(outcome)
    worst = sorted(sheet.outcomes, key=lambda outcome: outcome.margin)[:count]
    return ItemView(
        [sheet], {name: count_outcomes(items) for name, items in members.items()}, [(outcome,) for outcome in worst]
    )


def count_outcomes(items: Sequence[ItemOutcome]) -> Counts:
    """Return the number of items, of right ones, and of ties, which are right or wrong by the suite's rule.

    Example:
        >>> count_outcomes([ItemOutcome("t", 0, "on", 0.1, True, False), ItemOutcome("t", 1, "on", 0.0, False, True)])
        {'items': 2, 'right': 1, 'ties': 1, 'accuracy': 0.5}
    """

    def number(flags: Iterable[bool | None]) -> int | None:
        certain = [flag for flag in flags if flag is not None]
        return sum(certain) if certain else None

    right, ties = number(item.is_right for item in items), number(item.is_tie for item in items)
    accuracy = None if right is None else right / len(items)
    return {"items": len(items), "right": right, "ties": ties, "accuracy": accuracy}


def differing_items(first: ItemSheet, second: ItemSheet, count: int) -> ItemView:
    """Return the items that one of two models has right and the other wrong, those with the largest gap of margins
    first.

    Raises:
        DataError: the sheets are of other items, share none, or items are neither right nor wrong.
    """
    pairs = _paired(first, second)
    counts: dict[str, Counts] = {}
    names = {(True, True): "both", (True, False): "only_first", (False, True): "only_second", (False, False): "neither"}
    for outcome, counterpart in pairs:
        category = counts.setdefault(outcome.category, dict.fromkeys(("items", *names.values()), 0))
        for name in ("items", names[bool(outcome.is_right), bool(counterpart.is_right)]):
            category[name] = (category[name] or 0) + 1
    differing = [pair for pair in pairs if pair[0].is_right != pair[1].is_right]
    widest = sorted(differing, key=lambda pair: -abs(pair[0].margin - pair[1].margin))[:count]
    return ItemView([first, second], counts, widest)


def _paired(first: ItemSheet, second: ItemSheet) -> list[tuple[ItemOutcome, ItemOutcome]]:
    """Return the outcomes of two models on the items that both have scores of."""
    shared = [task for task in first.contents if task in second.contents]
    if changed := [task for task in shared if first.contents[task] != second.contents[task]]:
        message = (
            f"{changed[0]}: {first.title} and {second.title} were evaluated on other items: evaluate both on the same "
            f"files, with the same --items and seed"
        )
        raise DataError(message, code="other-items", place=changed[0])
    seconds = {(outcome.task, outcome.number): outcome for outcome in second.outcomes}
    pairs = [
        (outcome, seconds[outcome.task, outcome.number])
        for outcome in first.outcomes
        if (outcome.task, outcome.number) in seconds
    ]
    if not pairs:
        message = f"{first.title} and {second.title} share no item of {first.suite}"
        raise DataError(message, code="no-items", place=first.suite)
    if any(outcome.is_right is None for outcome, _ in pairs):
        message = f"items of {first.suite} are graded, not right or wrong: two models cannot differ in them"
        raise DataError(message, code="graded-items", place=first.suite)
    return pairs
