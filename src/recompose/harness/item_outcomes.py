"""The outcomes of a task's items from their scores: margins, right or wrong by the suite's rule for ties, categories.

A margin is the least difference by which an item is right: zero is a tie, below zero it is wrong. It is a difference of
cosines; of probabilities, for classes; minus the rank of the first right candidate, for retrieval; and minus the
distance of two ranks as a share of all pairs, for graded similarity.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from recompose.harness.items import ItemOutcome
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Classes, Groups, Pool, Similarity, Suite, Task, Triplets
from recompose.tracks.vlc.suites.metric_values import subtasks_of
from recompose.tracks.vlc.suites.metrics import right_choices, right_groups, right_triplets
from recompose.tracks.vlc.suites.ranks import Ties
from recompose.tracks.vlc.suites.scores import WAYS, has_scores

MEANINGS: Mapping[type[Task], str] = {
    Choices: "the cosine of the true candidate minus the highest other one",
    Groups: "the least of the four cosines of a true pair minus that of a false one, over captions and over images",
    Triplets: "the lower cosine of the two true captions minus that of the false one",
    Classes: "the highest probability of a true class minus the highest other one",
    Pool: "minus the number of wrong candidates before the first right one",
    Similarity: "minus the distance between the ranks of the cosine and of the grade, as a share of all pairs",
}


@dataclass(frozen=True)
class _Judged:
    """Margins of items, and whether they are right."""

    margins: np.ndarray  # [items]
    right: np.ndarray | None  # [items] bool; None: they are graded
    shows_ties: bool = True  # whether a margin of zero is a tie


def leaves(name: str, task: Task) -> tuple[str, ...]:
    """Return the names of a task's scores: of retrieval, one for each direction."""
    return tuple(f"{name}/{way}" for way in WAYS) if isinstance(task, Pool) else (name,)


def outcomes(
    suite: Suite, name: str, leaf: str, scores: np.ndarray, labels: Sequence[str] | None = None
) -> list[ItemOutcome]:
    """Return the outcomes of a task's items that have scores, in their order.

    Args:
        suite: the suite.
        name: the task.
        leaf: the name of the scores, see ``leaves``.
        scores: as of ``scores.suite_scores``.
        labels: the categories of items [items], instead of the task's own.
    """
    task = suite.tasks[name]
    numbers = np.flatnonzero(has_scores(scores) & _judgeable(task, len(scores)))
    if not len(numbers):
        return []
    published = subtasks_of(suite).get(suite.published(name))
    judged = _judge(task, numbers, scores[numbers], published.ties if published else "first")
    own = labels or _own_labels(task)
    part = leaf.removeprefix(f"{suite.name}/") if leaf != suite.name else ""
    rights = [None] * len(numbers) if judged.right is None else judged.right.tolist()
    return [
        ItemOutcome(
            leaf,
            number,
            "/".join(filter(None, (part, own[number] if own else ""))) or suite.name,
            margin,
            right,
            margin == 0 if judged.shows_ties else None,
        )
        for number, margin, right in zip(numbers.tolist(), judged.margins.tolist(), rights, strict=True)
    ]


def _judgeable(task: Task, items: int) -> np.ndarray:
    """Return False for images that show no class, or all of them: none is right and none is wrong [items]."""
    if isinstance(task, Classes) and task.labels.ndim == 2:
        shown = np.count_nonzero(task.labels, axis=1)
        return (shown > 0) & (shown < task.labels.shape[1])
    return np.ones(items, dtype=bool)


def _judge(task: Task, numbers: np.ndarray, values: np.ndarray, ties: Ties) -> _Judged:
    """Judge the items of a task with these numbers and scores."""
    match task:
        case Choices():
            present, true = task.offered[numbers] != ABSENT, task.true[numbers]
            return _Judged(_lead(values, _one_hot(true, present), present), right_choices(values, true, ties, present))
        case Groups():
            true, false = values[:, [0, 1], [0, 1]], values[:, [0, 1], [1, 0]]
            by_caption, by_image = true - false, true - false[:, ::-1]
            margins = np.minimum(by_caption, by_image).min(axis=1)
            return _Judged(margins, right_groups(values.transpose(0, 2, 1), ties).group)
        case Triplets():
            return _Judged(values[:, :2].min(axis=1) - values[:, 2], right_triplets(values, ties).both)
        case Classes():
            return _judge_classes(task.labels[numbers], values)
        case Pool():
            return _Judged(-values.astype(np.float64), values == 0, shows_ties=False)
        case Similarity():
            return _Judged(-np.abs(rank_distances(values, task.graded[numbers])), None, shows_ties=False)


def _judge_classes(labels: np.ndarray, values: np.ndarray) -> _Judged:
    """Judge images: the class of the highest probability, the first of equal ones, must be a true one."""
    everything = np.ones_like(values, dtype=bool)
    true = labels if labels.ndim == 2 else _one_hot(labels, everything)
    right = true[np.arange(len(values)), values.argmax(axis=1)]
    return _Judged(_lead(values, true, everything), right)


def rank_distances(scores: np.ndarray, grades: np.ndarray) -> np.ndarray:
    """Return the rank of each score minus that of its grade, as a share of all pairs [pairs]."""
    from scipy.stats import rankdata  # a second to import

    distances: np.ndarray = (rankdata(scores) - rankdata(grades)) / len(scores)
    return distances


def _one_hot(true: np.ndarray, like: np.ndarray) -> np.ndarray:
    return np.arange(like.shape[1]) == true[:, None]


def _lead(values: np.ndarray, true: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Return the highest true score minus the highest other one [items]."""
    lead: np.ndarray = np.where(true, values, -np.inf).max(axis=1) - np.where(~true & present, values, -np.inf).max(
        axis=1
    )
    return lead


def _own_labels(task: Task) -> Sequence[str] | None:
    """Return the groups of choices, or the classes of images [items]; None where items have no such label."""
    if isinstance(task, Choices):
        return task.groups
    if isinstance(task, Classes) and task.labels.ndim == 1:
        return [task.names[label] for label in task.labels.tolist()]
    return None
