"""What the scores of tasks say: the numbers of a sub-task, and item by item what is right, by how much.

A kind of task is one class, a judge: it names its numbers, and sub-tasks name it by their query. Items and their scores
are those of a task of ``tasks.py``, which kinds may share. A margin is the least difference by which an item is right:
zero is a tie, below zero it is wrong. Metrics are no part of an evaluation: editing this module scores nothing anew.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

import numpy as np

from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites import accuracy as metrics
from recompose.tracks.vlc.suites import tasks as kinds
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.ranks import Ties
from recompose.tracks.vlc.suites.subtasks import SubTask
from recompose.tracks.vlc.suites.tasks import ABSENT, WAYS, Task

TOP_CLASSES = 5  # that are shown of an image
RECALLS = (1, 5, 10)
T = TypeVar("T", bound=Task)


@dataclass(frozen=True)
class Number:
    """A number of a sub-task, and the items that it is of: either right ones, or a function of items.

    The name is that of the scores, or has another sense of them after it.
    """

    name: str
    right: np.ndarray | None = None  # [items] bool
    groups: np.ndarray | None = None  # [items], where the number is the mean over groups of the share of right items
    of_items: Callable[[np.ndarray], float] | None = None  # of the positions of items, where it is no such share
    are_groups_drawn: bool = True  # groups are independent of each other; otherwise items are

    def value(self, items: int) -> float:
        """Return the number of so many items, which are all."""
        if self.right is None:
            assert self.of_items
            return self.of_items(np.arange(items))
        return metrics.accuracy(self.right) if self.groups is None else metrics.macro_accuracy(self.right, self.groups)


@dataclass(frozen=True)
class Judged:
    """The margins of items, and whether they are right."""

    margins: np.ndarray  # [items]
    right: np.ndarray | None  # [items] bool; None: they are graded
    shows_ties: bool = True  # whether a margin of zero is a tie


@dataclass(frozen=True)
class ScoredPair:
    """An image and a text, or two texts, with their score."""

    image: int | None  # the position among the item's images; None: two texts
    text: str
    score: float | None  # None: not stored, as of retrieval
    is_true: bool  # they belong together
    other: str = ""  # the second of two texts


@dataclass(frozen=True)
class ItemContent:
    """The images and texts of an item, with their scores; candidates with the highest scores come first."""

    images: tuple[Picture, ...]
    pairs: tuple[ScoredPair, ...]
    note: str = ""  # what scores do not say, such as a rank

    @property
    def query(self) -> str:
        """The text that all of several images are scored with; empty where there is none."""
        texts = {pair.text for pair in self.pairs}
        return self.pairs[0].text if len(texts) == 1 and len(self.images) > 1 else ""


@dataclass(frozen=True)
class Judge(ABC, Generic[T]):
    """A kind of task: a task of a suite, with the rule by which its items are right."""

    suite: Suite
    name: str
    task: T
    rule: SubTask | None  # of the published sub-task that is scored alike; None: a data set without one

    TASK: ClassVar[type[Task]]  # the items and their scores
    QUERIES: ClassVar[tuple[str, ...]]  # of its sub-tasks
    SENSES: ClassVar[tuple[str, ...]] = ()  # names of other numbers than a sub-task's own, after its name
    MEANING: ClassVar[str]  # of a margin
    NEEDS_RULE: ClassVar = False  # whether a tie can be right or wrong

    @property
    def unit(self) -> str:
        """What items ask about: those of the same one are right or wrong together."""
        return "images"

    @property
    def ties(self) -> Ties:
        """The rule for ties."""
        return self.rule.ties if self.rule else "first"

    def check(self) -> None:
        """Check that the task has numbers, before it is scored.

        Raises:
            DataError: it has no rule for ties, or no items.
        """
        if self.NEEDS_RULE and not self.rule:
            near = nearest(self.suite.published(self.name), [*SUBTASKS, *self.suite.own_rules])
            raise self.error("no-rule", f"there is no rule for ties of it{near}")
        if not self.task.count:
            raise self.error("no-items", "it has no items: its file of annotations is empty or truncated")

    def error(self, code: str, message: str) -> DataError:
        """Return an error of the task."""
        return DataError(f"{self.suite.name}: {self.name}: {message}", code=code, place=self.name)

    def counting(self, leaf: str) -> np.ndarray:
        """Return True for each item that counts in a number [items]; others are left out, scored or not."""
        return np.ones(self.task.shape(leaf)[0], dtype=bool)

    def judgeable(self, leaf: str) -> np.ndarray:
        """Return True for each item that can be right or wrong [items]."""
        return np.ones(self.task.shape(leaf)[0], dtype=bool)

    def units(self, leaf: str) -> np.ndarray:
        """Return what each item asks about [items], see ``unit``: by default each about something of its own."""
        return np.arange(self.task.shape(leaf)[0])

    @abstractmethod
    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield the numbers that two models are compared by, the task's own first.

        Args:
            leaf: the name of the scores.
            scores: of these items.
            items: the items [all items] bool.
        """

    def details(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[tuple[str, float]]:
        """Yield the names and values of other numbers; arguments as of ``numbers``."""
        yield from ()

    @abstractmethod
    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Return the margins of items, and which are right, given their scores and their numbers."""

    @property
    def labels(self) -> Sequence[str] | None:
        """The groups of choices, or the classes of images [items]; None where items have no such label."""
        return None

    @abstractmethod
    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return what an item shows, given its scores and its number."""

    def picture(self, number: int) -> Picture:
        """Return an image of the suite."""
        return self.suite.images[int(number)]

    def text(self, number: int) -> str:
        """Return a text of the suite."""
        return self.suite.texts[int(number)]


class ChoicesJudge(Judge[kinds.Choices]):
    """The judge of choices, of a caption for an image or the reverse: the true candidate must be chosen."""

    TASK, QUERIES = kinds.Choices, ("i2t", "t2i")
    MEANING = "the cosine of the true candidate minus the highest other one"
    NEEDS_RULE = True

    @property
    def unit(self) -> str:
        """The kind of the queries."""
        return "images" if self.task.query == "i2t" else "captions"

    @property
    def _group_minimum(self) -> int | None:
        return self.rule.group_minimum if self.rule else None

    def check(self) -> None:
        """Check the task as others are, and its groups if it is a mean over them.

        Raises:
            DataError: it has no rule for ties, no items, no groups, or none that is large enough.
        """
        super().check()
        self.counting(self.name)

    def counting(self, leaf: str) -> np.ndarray:
        """Return True for all items, or for those of large groups in a mean over groups.

        The size of a group includes its items that are left out.

        Raises:
            DataError: the mean is over groups and the task has none, or none is large enough.
        """
        if not (least := self._group_minimum):
            return super().counting(leaf)
        if self.task.groups is None:
            raise self.error("no-groups", "it is a mean over groups of items, and its items have no groups")
        sizes = Counter(self.task.groups)
        large = np.array([sizes[group] >= least for group in self.task.groups])
        if not large.any():
            message = f"it is a mean over groups of {least} items or more: the largest has {max(sizes.values())}"
            raise self.error("small-groups", message)
        return large

    def units(self, leaf: str) -> np.ndarray:
        """Return the numbers of the queries."""
        return self.task.asked

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield the accuracy over items, or its mean over their groups."""
        groups = np.array(self.task.groups)[items] if self._group_minimum else None
        yield Number(leaf, self._right(scores, items), groups)

    def details(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[tuple[str, float]]:
        """Yield the accuracy of each group, unless the number is a mean over them."""
        if self.task.groups and not self._group_minimum:
            right, groups = self._right(scores, items), np.array(self.task.groups)[items]
            for group in dict.fromkeys(groups.tolist()):
                yield f"{leaf}/{group}", metrics.accuracy(right[groups == group])

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Compare the true candidate with the best other one."""
        present = self.task.offered[items] != ABSENT
        return Judged(_lead(scores, _one_hot(self.task.true[items], present), present), self._right(scores, items))

    def _right(self, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
        return metrics.right_choices(scores, self.task.true[items], self.ties, self.task.offered[items] != ABSENT)

    @property
    def labels(self) -> Sequence[str] | None:
        """The groups of items."""
        return self.task.groups

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return the query and its candidates."""
        offered, asked = self.task.offered[number], self.task.asked[number]
        offered, is_caption = offered[offered != ABSENT].tolist(), self.task.query == "i2t"
        texts, true = offered if is_caption else [asked] * len(offered), int(self.task.true[number])
        pairs = [
            ScoredPair(0 if is_caption else column, self.text(text), float(row[column]), column == true)
            for column, text in enumerate(texts)
        ]
        images = [asked] if is_caption else offered
        pairs.sort(key=lambda pair: -(pair.score or 0.0))
        return ItemContent(tuple(map(self.picture, images)), tuple(pairs))


class GroupsJudge(Judge[kinds.Groups]):
    """The judge of groups: images must be matched with captions, and captions with images."""

    TASK, QUERIES, SENSES = kinds.Groups, ("group",), ("text", "image")
    MEANING = "the least of the four cosines of a true pair minus that of a false one, over captions and over images"
    NEEDS_RULE = True

    def units(self, leaf: str) -> np.ndarray:
        """Return the numbers of the first images."""
        return self.task.images[:, 0]

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield the accuracies of both directions together, of captions, and of images."""
        right = metrics.right_groups(scores.transpose(0, 2, 1), self.ties)
        yield Number(leaf, right.group)
        yield from (Number(f"{leaf}/{sense}", getattr(right, sense)) for sense in self.SENSES)

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Compare true pairs with false ones."""
        is_true = np.eye(scores.shape[1], dtype=bool)
        true, false = scores[:, is_true], np.where(is_true, -np.inf, scores)
        margins = (true - np.maximum(false.max(axis=1), false.max(axis=2))).min(axis=1)
        return Judged(margins, metrics.right_groups(scores.transpose(0, 2, 1), self.ties).group)

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return the images with the captions."""
        pairs = tuple(
            ScoredPair(image, self.text(text), float(row[image, caption]), image == caption)
            for caption, text in enumerate(self.task.texts[number])
            for image in range(len(row))
        )
        return ItemContent(tuple(map(self.picture, self.task.images[number])), pairs)


class TripletsJudge(Judge[kinds.Triplets]):
    """The judge of triplets: both true captions must fit the image better than the false one."""

    TASK, QUERIES, SENSES = kinds.Triplets, ("triplet",), ("first", "second", "text_only")
    MEANING = "the lower cosine of the two true captions minus that of the false one"
    NEEDS_RULE = True

    def units(self, leaf: str) -> np.ndarray:
        """Return the numbers of images."""
        return self.task.images

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield the accuracies of both true captions, of each, and of texts alone."""
        right = metrics.right_triplets(scores, self.ties)
        yield Number(leaf, right.both)
        yield from (Number(f"{leaf}/{sense}", getattr(right, sense)) for sense in self.SENSES)

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Compare the worse true caption with the false one."""
        return Judged(scores[:, :2].min(axis=1) - scores[:, 2], metrics.right_triplets(scores, self.ties).both)

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return the image with its captions, and pairs of captions."""
        first, second, false = map(self.text, self.task.texts[number])
        shown = ((0, first, "", True), (0, second, "", True), (0, false, "", False))
        couples = ((None, first, second, True), (None, first, false, False), (None, second, false, False))
        pairs = tuple(
            ScoredPair(image, text, float(score), is_true, other)
            for (image, text, other, is_true), score in zip((*shown, *couples), row, strict=True)
        )
        return ItemContent((self.picture(self.task.images[number]),), pairs)


class ClassesJudge(Judge[kinds.Classes]):
    """The judge of classes: the class of the highest probability, the first of equal ones, must be a true one."""

    TASK, QUERIES = kinds.Classes, ("classes",)
    MEANING = "the highest probability of a true class minus the highest other one"

    @property
    def _metric(self) -> str:
        return self.rule.metric if self.rule else "accuracy"

    def judgeable(self, leaf: str) -> np.ndarray:
        """Return False for images that show no class, or all of them: none is right and none is wrong [items]."""
        if not self.task.has_several_labels:
            return super().judgeable(leaf)
        shown = np.count_nonzero(self.task.labels, axis=1)
        return (shown > 0) & (shown < self.task.labels.shape[1])

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield the data set's metric."""
        labels = self.task.labels[items]
        if self._metric not in ("accuracy", "mean-per-class"):
            metric = metrics.CLASSIFICATION[self._metric]
            yield Number(leaf, of_items=lambda rows: metric(scores[rows], labels[rows]))
            return
        groups = labels if self._metric == "mean-per-class" else None
        yield Number(leaf, metrics.right_choices(scores, labels, "first"), groups, are_groups_drawn=False)

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Compare the true classes with the others."""
        labels, everything = self.task.labels[items], np.ones_like(scores, dtype=bool)
        true = labels if self.task.has_several_labels else _one_hot(labels, everything)
        return Judged(_lead(scores, true, everything), true[np.arange(len(scores)), scores.argmax(axis=1)])

    @property
    def labels(self) -> Sequence[str] | None:
        """The classes of images, where each has one."""
        return None if self.task.has_several_labels else [self.task.names[label] for label in self.task.labels]

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return the image with its likeliest classes and the true ones."""
        label = self.task.labels[number]
        true = {*np.flatnonzero(label).tolist()} if self.task.has_several_labels else {int(label)}
        ranked = np.argsort(-row, kind="stable").tolist()
        shown = [label for place, label in enumerate(ranked) if place < TOP_CLASSES or label in true]
        pairs = tuple(ScoredPair(0, self.task.names[label], float(row[label]), label in true) for label in shown)
        return ItemContent((self.picture(self.task.images[number]),), pairs)


class PoolJudge(Judge[kinds.Pool]):
    """The judge of retrieval of images and captions among all of a set: a right candidate must be the first."""

    TASK, QUERIES = kinds.Pool, ("retrieval",)
    SENSES = tuple(f"{way}/r{k}" for way in WAYS for k in RECALLS)
    MEANING = "minus the number of wrong candidates before the first right one"

    def units(self, leaf: str) -> np.ndarray:
        """Return the positions of images."""
        return super().units(leaf) if self.task.asks_for_captions(leaf) else self.task.image_of

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield R@1."""
        yield Number(leaf, scores == 0)

    def details(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[tuple[str, float]]:
        """Yield recalls by the number of candidates that are retrieved."""
        yield from ((f"{leaf}/r{k}", metrics.recall_at(scores, k)) for k in RECALLS)

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Count the wrong candidates before the first right one."""
        return Judged(-scores.astype(np.float64), scores == 0, shows_ties=False)

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return the query: candidates and their scores are not stored, only the rank is."""
        if self.task.asks_for_captions(leaf):
            image, captions = number, np.flatnonzero(self.task.image_of == number)
            kind, candidates = "caption", len(self.task.texts)
        else:
            image, captions = self.task.image_of[number], np.array([number])
            kind, candidates = "image", len(self.task.images)
        rank = int(row) + 1
        note = f"The first right {kind} has rank {rank:,} of {candidates:,}; scores of retrieval are not stored."
        pairs = tuple(ScoredPair(0, self.text(text), None, True) for text in self.task.texts[captions])
        return ItemContent((self.picture(self.task.images[image]),), pairs, note)


class SimilarityJudge(Judge[kinds.Similarity]):
    """The judge of graded pairs: none is right or wrong, cosines must be in the order of grades."""

    TASK, QUERIES, SENSES = kinds.Similarity, ("similarity",), ("pearson",)
    MEANING = "minus the distance between the ranks of the cosine and of the grade, as a share of all pairs"

    @property
    def unit(self) -> str:
        """Items, which share nothing."""
        return "items"

    def numbers(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[Number]:
        """Yield Spearman's correlation."""
        graded = self.task.graded[items]
        yield Number(leaf, of_items=lambda rows: metrics.spearman(scores[rows], graded[rows]))

    def details(self, leaf: str, scores: np.ndarray, items: np.ndarray) -> Iterator[tuple[str, float]]:
        """Yield Pearson's correlation."""
        yield f"{leaf}/pearson", metrics.pearson(scores, self.task.graded[items])

    def judge(self, scores: np.ndarray, items: np.ndarray) -> Judged:
        """Compare the ranks of cosines with those of grades."""
        return Judged(-np.abs(rank_distances(scores, self.task.graded[items])), None, shows_ties=False)

    def content(self, leaf: str, row: np.ndarray, number: int) -> ItemContent:
        """Return both texts and their grade."""
        first, second = self.text(self.task.first[number]), self.text(self.task.second[number])
        grades = f"from {self.task.graded.min():g} to {self.task.graded.max():g}"
        note = f"People's grade is {float(self.task.graded[number]):g}, {grades}."
        return ItemContent((), (ScoredPair(None, first, float(row), True, second),), note)


JUDGES: tuple[type[Judge], ...] = (ChoicesJudge, GroupsJudge, TripletsJudge, ClassesJudge, PoolJudge, SimilarityJudge)
BY_QUERY = {query: judge for judge in JUDGES for query in judge.QUERIES}


def metric_names(subtask: SubTask) -> tuple[str, ...]:
    """Return the names of all numbers of a sub-task.

    Example:
        >>> metric_names(SubTask("winoground", "group"))
        ('winoground', 'winoground/text', 'winoground/image')
    """
    senses = (*BY_QUERY[subtask.query].SENSES, *subtask.groups)
    return (*subtask.leaves, *(f"{subtask.name}/{sense}" for sense in senses))


def judge_of(suite: Suite, name: str) -> Judge:
    """Return the judge of a suite's task: of its sub-task's kind, or of the first kind of such tasks."""
    task, published = suite.tasks[name], suite.published(name)
    rule = SUBTASKS.get(published)
    if published in suite.own_rules:
        query, ties = suite.own_rules[published]
        rule = SubTask(published, query, ties=ties)  # type: ignore[arg-type]
    kind = BY_QUERY[rule.query] if rule else None
    if kind is None or kind.TASK is not type(task):
        kind = next(judge for judge in JUDGES if judge.TASK is type(task))
    return kind(suite, name, task, rule)


def rank_distances(scores: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Return the rank of each score minus that of its grade, as a share of all pairs [pairs]."""
    from scipy.stats import rankdata  # a second to import

    return (rankdata(scores) - rankdata(grades)) / len(scores)


def _one_hot(true: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.arange(like.shape[1]) == true[:, None]


def _lead(values: np.ndarray, true: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the highest true score minus the highest other one [items]."""
    highest, other = (np.where(mask, values, -np.inf).max(axis=1) for mask in (true, ~true & present))
    return np.asarray(highest - other)
