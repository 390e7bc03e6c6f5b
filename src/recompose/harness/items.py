"""The items of an evaluation, one by one: which are right, by how much, in which category, and where two models differ.
Imported without torch.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from recompose.errors import DataError
from recompose.harness.evaluation import listed
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.suites.judges import ItemContent as ItemContent  # what views of items show
from recompose.tracks.vlc.suites.judges import Judge
from recompose.tracks.vlc.suites.scores import has_scores


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
class CategoryCount:
    """The items of a category."""

    category: str
    items: int
    right: int | None  # None: items are graded
    ties: int | None  # items with a tie, right or wrong by the suite's rule; None: unknown

    @property
    def accuracy(self) -> float | None:
        """The share of right items."""
        return None if self.right is None else self.right / self.items


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
        outcomes = tuple(outcome for outcome in self.outcomes if f"{outcome.category}/".startswith(f"{category}/"))
        if not outcomes:
            names = category_names(self.outcomes)
            message = f"{self.suite} has no category '{category}'{nearest(category, names)}; it has {listed(names)}"
            raise DataError(message, code="unknown-category", place=category)
        return replace(self, outcomes=outcomes)


def category_names(outcomes: Iterable[ItemOutcome]) -> list[str]:
    """Return the categories of items, and those above them, in the order of the items."""
    names: dict[str, None] = {}
    for category in dict.fromkeys(outcome.category for outcome in outcomes):
        parts = category.split("/")
        names |= dict.fromkeys("/".join(parts[:depth]) for depth in range(1, len(parts) + 1))
    return list(names)


def worst(outcomes: Iterable[ItemOutcome], count: int) -> list[ItemOutcome]:
    """Return the items with the lowest margins, the lowest first; equal ones keep their order."""
    return sorted(outcomes, key=lambda outcome: outcome.margin)[:count]


def count_categories(outcomes: Iterable[ItemOutcome]) -> list[CategoryCount]:
    """Return the counts of each category, in the order of the items.

    Example:
        >>> items = [ItemOutcome("t", 0, "on", 0.1, True, False), ItemOutcome("t", 1, "on", 0.0, False, True)]
        >>> count_categories(items)
        [CategoryCount(category='on', items=2, right=1, ties=1)]
    """
    members: dict[str, list[ItemOutcome]] = {}
    for outcome in outcomes:
        members.setdefault(outcome.category, []).append(outcome)
    return [
        CategoryCount(
            category,
            len(items),
            _count([item.is_right for item in items]),
            _count([item.is_tie for item in items]),
        )
        for category, items in members.items()
    ]


def _count(flags: Sequence[bool | None]) -> int | None:
    known = [flag for flag in flags if flag is not None]
    return sum(known) if known else None


@dataclass(frozen=True)
class Difference:
    """An item that one of two models has right and the other wrong."""

    first: ItemOutcome
    second: ItemOutcome

    @property
    def gap(self) -> float:
        """The difference of the margins."""
        return abs(self.first.margin - self.second.margin)


@dataclass(frozen=True)
class AgreementCount:
    """The items of a category, by which of two models have them right."""

    category: str
    both: int
    only_first: int
    only_second: int
    neither: int

    @property
    def items(self) -> int:
        """The number of items."""
        return self.both + self.only_first + self.only_second + self.neither


def paired(first: ItemSheet, second: ItemSheet) -> list[tuple[ItemOutcome, ItemOutcome]]:
    """Return the outcomes of two models on the items that both have scores of.

    Raises:
        DataError: the sheets are of other items, share none, or items are neither right nor wrong.
    """
    shared = [task for task in first.contents if task in second.contents]
    if other := [task for task in shared if first.contents[task] != second.contents[task]]:
        message = (
            f"{other[0]}: {first.title} and {second.title} were evaluated on other items: evaluate both on the same "
            f"files, with the same --items and seed"
        )
        raise DataError(message, code="other-items", place=other[0])
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


def differences(pairs: Iterable[tuple[ItemOutcome, ItemOutcome]]) -> list[Difference]:
    """Return the items that one model has right and the other wrong; those with the largest gap of margins first."""
    found = (Difference(one, other) for one, other in pairs if one.is_right != other.is_right)
    return sorted(found, key=lambda difference: -difference.gap)


def count_agreement(pairs: Iterable[tuple[ItemOutcome, ItemOutcome]]) -> list[AgreementCount]:
    """Return the counts of each category, in the order of the items.

    Example:
        >>> right, wrong = ItemOutcome("t", 0, "on", 0.1, True, False), ItemOutcome("t", 0, "on", -0.2, False, False)
        >>> count_agreement([(right, wrong), (right, right)])
        [AgreementCount(category='on', both=1, only_first=1, only_second=0, neither=0)]
    """
    senses: dict[str, list[tuple[bool, bool]]] = {}
    for one, other in pairs:
        senses.setdefault(one.category, []).append((bool(one.is_right), bool(other.is_right)))
    orders = ((True, True), (True, False), (False, True), (False, False))
    return [AgreementCount(category, *(flags.count(order) for order in orders)) for category, flags in senses.items()]


@dataclass(frozen=True)
class WorstItems:
    """The worst items of a model, with the counts of all categories."""

    sheet: ItemSheet
    counts: Sequence[CategoryCount]
    shown: Sequence[ItemOutcome]

    @classmethod
    def of(cls, sheet: ItemSheet, count: int) -> "WorstItems":
        """Return so many worst items of a sheet."""
        return cls(sheet, count_categories(sheet.outcomes), worst(sheet.outcomes, count))


@dataclass(frozen=True)
class DifferingItems:
    """Items that one of two models has right and the other wrong, with the counts of all categories."""

    first: ItemSheet
    second: ItemSheet
    counts: Sequence[AgreementCount]
    shown: Sequence[Difference]

    @classmethod
    def of(cls, first: ItemSheet, second: ItemSheet, count: int) -> "DifferingItems":
        """Return so many items with the largest gaps.

        Raises:
            DataError: see ``paired``.
        """
        pairs = paired(first, second)
        return cls(first, second, count_agreement(pairs), differences(pairs)[:count])


ItemView = WorstItems | DifferingItems
