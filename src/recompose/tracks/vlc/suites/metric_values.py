"""The metrics of suites from their scores: of each sub-task by its rule for ties, then all means.

A metric's name is ``test/`` and the name of a sub-task or of a mean: ``test/sugarcrepe/replace_obj``,
``test/sugarcrepe``, ``test/comp``. Groups are told right in three senses, of which the means are over the last one:
``test/winoground/text``, ``test/winoground/image``, ``test/winoground``. Of retrieval ``test/coco/i2t`` is R@1,
which is also ``test/coco/i2t/r1``, beside ``r5`` and ``r10``. Of pairs of
sentences ``test/sick`` is Spearman's correlation, beside ``test/sick/pearson``. All others are fractions.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.attribution.attribution_store import FILE as ATTRIBUTION
from recompose.tracks.vlc.attribution.attribution_store import read
from recompose.tracks.vlc.attribution.cae_metrics import attribution_metrics, subset_metrics
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Classes, Groups, Pool, Similarity, Suite, Task
from recompose.tracks.vlc.suites.aggregation import COMP, I2T_RET, T2I_RET, TREES, ZS, Mean, Tree, aggregate, macro
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SUBTASKS
from recompose.tracks.vlc.suites.metrics import (
    CLASSIFICATION,
    accuracy,
    macro_accuracy,
    pearson,
    recall_at,
    right_choices,
    right_groups,
    spearman,
)
from recompose.tracks.vlc.suites.scores import FILE, LEFT_OUT, WAYS, read_scores

PREFIX = "test/"
RECALLS = (1, 5, 10)
INDEXES = 8  # that are kept in memory


class Count(NamedTuple):
    """How many items a number is over, and how many are left out since an image cannot be read."""

    items: int
    left_out: int


def check(suites: Iterable[Suite]) -> None:
    """Sees to it that every task can be measured, before any of them is scored.

    Raises:
        DataError: there is no rule for a task, two suites have a task of one name, or one has no items.
    """
    names: set[str] = set()
    for suite in suites:
        for name, task in suite.tasks.items():
            if name in names:
                raise DataError(f"{suite.name}: two suites have a sub-task {name}: evaluate one of them at a time")
            names.add(name)
            if isinstance(task, Choices | Groups) and name not in SUBTASKS:
                raise DataError(f"{suite.name}: no rule for ties is known of {name}{nearest(name, SUBTASKS)}")
            if not _size(task):
                raise DataError(f"{suite.name}: {name} has no items: its file of annotations is empty, or cut short")
            if isinstance(task, Choices):
                _counting(name, task)


def metrics(suites: Sequence[Suite], scores: Mapping[str, np.ndarray]) -> dict[str, float]:
    """All numbers of these suites, by their names; a mean one of whose parts is missing has none.

    A sub-task all of whose items are left out has no number. ZS is the mean over ELEVATER's 21 data sets, or, where
    there are others among those that are given, over these; means of retrieval likewise.

    Args:
        suites: what was asked.
        scores: as ``scores.suite_scores`` has them, of all suites together.

    Raises:
        DataError: a sub-task cannot be measured.
    """
    counted = counts(suites, scores)
    leaves: dict[str, float] = {}
    details: dict[str, float] = {}
    for suite, name, task in _tasks(suites):
        try:
            own = dict(_measured(name, task, scores, counted))
        except ValueError as error:
            raise DataError(f"{suite.name}: {name} cannot be measured: {error}") from None
        details |= own
        leaves |= {leaf: own[leaf] for leaf in _leaves(name, task) if leaf in own}
    sizes = {name: count.items for name, count in counted.items()}
    numbers = details | aggregate(leaves, sizes, trees(suites)) | subset_metrics(suites, scores, leaves)
    return {f"{PREFIX}{name}": number for name, number in numbers.items()}


def read_metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
    """The numbers of an evaluation of the workflow, from its folder and those of what it needs: ``suites-...`` are
    indexes of suites.
    """
    indexes = [needs[role] for role in sorted(needs) if role.startswith("suites-")]
    suites = [suite for index in indexes for suite in _suites_of(index)]
    scores = read_scores(evaluation / FILE)
    numbers = metrics(suites, scores)
    if not (evaluation / ATTRIBUTION).exists():
        return numbers
    kept = attribution_metrics(suites, scores, read(evaluation / ATTRIBUTION))
    return numbers | {f"{PREFIX}{name}": number for name, number in kept.items()}


@lru_cache(maxsize=INDEXES)
def _suites_of(index: Path) -> list[Suite]:
    """The suites of an index, which many evaluations share; its folder is called by the digest of what makes it."""
    return read_suites(index)


def counts(suites: Sequence[Suite], scores: Mapping[str, np.ndarray]) -> dict[str, Count]:
    """Of how many items each sub-task is, by the names of scores."""
    counted = {}
    for _, name, task in _tasks(suites):
        for leaf in _leaves(name, task):
            kept = int(_kept(scores[leaf]).sum())
            counted[leaf] = Count(kept, len(scores[leaf]) - kept)
    return counted


def trees(suites: Sequence[Suite]) -> tuple[Tree, ...]:
    """The means that these suites ask for: the published ones; of data sets that are not among the published ones, over
    those that are given.
    """
    classifications = [name for _, name, task in _tasks(suites) if isinstance(task, Classes)]
    pools = [name for _, name, task in _tasks(suites) if isinstance(task, Pool)]
    means: dict[Tree, Tree] = {}
    if not {*classifications} <= {*CLASSIFICATIONS}:
        means[ZS] = zero_shot(classifications)
    if not {*pools} <= {*RETRIEVALS}:
        means |= {I2T_RET: retrieval(pools, "i2t"), T2I_RET: retrieval(pools, "t2i")}
    return tuple(means.get(tree, tree) for tree in TREES)


def zero_shot(names: Sequence[str]) -> Mean:
    """The mean over data sets of zero-shot classification, by the names of their tasks.

    Example:
        >>> zero_shot(["elevater/drawn-colours", "elevater/drawn-shapes"]).leaves
        ('elevater/drawn-colours', 'elevater/drawn-shapes')
    """
    return macro("zs", *names)


def retrieval(names: Sequence[str], way: str) -> Mean:
    """The mean over sets of retrieval, in one of its ways."""
    return macro(f"{way}_ret", *(f"{name}/{way}" for name in names))


def headline() -> tuple[str, ...]:
    """The names of the four means that a model is told by."""
    return tuple(f"{PREFIX}{tree.name}" for tree in (COMP, ZS, I2T_RET, T2I_RET))


def _tasks(suites: Iterable[Suite]) -> Iterator[tuple[Suite, str, Task]]:
    return ((suite, name, task) for suite in suites for name, task in suite.tasks.items())


def _leaves(name: str, task: Task) -> tuple[str, ...]:
    """The names of a task's scores."""
    return tuple(f"{name}/{way}" for way in WAYS) if isinstance(task, Pool) else (name,)


def _size(task: Task) -> int:
    """How many items a task has."""
    match task:
        case Choices():
            return len(task.asked)
        case Pool():
            return min(len(task.images), len(task.texts))
        case Similarity():
            return len(task.graded)
        case _:
            return len(task.images)


def _kept(scores: np.ndarray) -> np.ndarray:
    """Which items have scores [items]."""
    if scores.dtype.kind in "iu":
        return scores != LEFT_OUT
    return ~np.isnan(scores).reshape(len(scores), -1).all(axis=1)


def _measured(
    name: str, task: Task, scores: Mapping[str, np.ndarray], counted: Mapping[str, Count]
) -> Iterator[tuple[str, float]]:
    """The numbers of a task, by their names."""
    for leaf in _leaves(name, task):
        if not counted[leaf].items:
            continue
        own, kept = scores[leaf], _kept(scores[leaf])
        match task:
            case Choices():
                kept &= _counting(leaf, task)
                if kept.any():
                    yield leaf, _choices(leaf, task, own, kept)
            case Groups():
                right = right_groups(own[kept].transpose(0, 2, 1), SUBTASKS[leaf].ties)
                yield leaf, accuracy(right.group)
                yield f"{leaf}/text", accuracy(right.text)
                yield f"{leaf}/image", accuracy(right.image)
            case Classes():
                metric = CLASSIFICATIONS[leaf].metric if leaf in CLASSIFICATIONS else "accuracy"
                yield leaf, CLASSIFICATION[metric](own[kept], task.labels[kept])
            case Pool():
                yield leaf, recall_at(own[kept], 1)
                yield from ((f"{leaf}/r{k}", recall_at(own[kept], k)) for k in RECALLS)
            case Similarity():
                yield leaf, spearman(own[kept], task.graded[kept])
                yield f"{leaf}/pearson", pearson(own[kept], task.graded[kept])


def _choices(name: str, task: Choices, scores: np.ndarray, kept: np.ndarray) -> float:
    """The share of these items that are right, or its mean over their groups."""
    rule = SUBTASKS[name]
    right = right_choices(scores[kept], task.true[kept], rule.ties, task.offered[kept] != ABSENT)
    return macro_accuracy(right, np.array(task.groups)[kept]) if rule.group_minimum else accuracy(right)


def _counting(name: str, task: Choices) -> np.ndarray:
    """Which items count [items]: of a mean over groups those of large ones, to whose size all items belong, also those
    that are left out.

    Raises:
        DataError: there are to be groups and are none, or none is large enough.
    """
    least = SUBTASKS[name].group_minimum
    if not least:
        return np.ones(len(task.asked), dtype=bool)
    if task.groups is None:
        raise DataError(f"{name} is a mean over groups of items, and its items have none")
    sizes = Counter(task.groups)
    large = np.array([sizes[group] >= least for group in task.groups])
    if not large.any():
        raise DataError(f"{name} is a mean over groups of {least} items or more: the largest has {max(sizes.values())}")
    return large
