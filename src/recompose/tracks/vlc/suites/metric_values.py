"""Metrics of suites from their scores: those of each sub-task by its rule for ties, then all means.

A metric's name is ``test/`` and the name of a sub-task or of a mean: ``test/sugarcrepe/replace_obj``,
``test/sugarcrepe``, ``test/comp``. Groups have three accuracies, ``test/winoground/text``, ``test/winoground/image``
and ``test/winoground``; means are over the last one. For retrieval, ``test/coco/i2t`` is R@1, which is also
``test/coco/i2t/r1``, beside ``r5`` and ``r10``. For triplets, ``test/sugarcrepe_pp/swap_obj`` asks that both true
captions fit the image, beside ``first``, ``second`` and ``text_only``. ``test/crepe/atom/4`` is the accuracy of
captions of four atoms. For pairs of sentences, ``test/sick`` is Spearman's correlation, beside ``test/sick/pearson``.
All others are fractions.

A suite with the form of a published one has the same metrics under its own name; no mean over suites includes it.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recompose.errors import DataError
from recompose.params.mistakes import nearest
from recompose.tracks.vlc.attribution.faithfulness import attribution_metrics, subset_metrics
from recompose.tracks.vlc.attribution.store import FILE as ATTRIBUTION
from recompose.tracks.vlc.attribution.store import read
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Classes, Groups, Pool, Similarity, Suite, Task, Triplets
from recompose.tracks.vlc.suites.aggregation import (
    COMP,
    I2T_RET,
    T2I_RET,
    TREES,
    ZS,
    Mean,
    Tree,
    aggregate,
    macro,
    names_in,
    trees_of,
)
from recompose.tracks.vlc.suites.catalogue import CLASSIFICATIONS, RETRIEVALS, SUBTASKS, TRIPLET_SENSES, SubTask
from recompose.tracks.vlc.suites.metrics import (
    CLASSIFICATION,
    accuracy,
    macro_accuracy,
    pearson,
    recall_at,
    right_choices,
    right_groups,
    right_triplets,
    spearman,
)
from recompose.tracks.vlc.suites.scores import FILE, WAYS, has_scores, read_scores

PREFIX = "test/"
CLASSIFICATION_FORM = "elevater"
RECALLS = (1, 5, 10)
INDEXES = 8  # kept in memory


class Count(NamedTuple):
    """The number of items of a metric, and of those left out because of an unreadable image."""

    items: int
    left_out: int


def subtasks_of(suite: Suite) -> Mapping[str, SubTask]:
    """Return the sub-tasks of published suites and of the suite's own form, by their names there."""
    own = suite.own_rules.items()
    return SUBTASKS | {name: SubTask(name, query, None, None, ties) for name, (query, ties) in own}  # type: ignore[arg-type]


def check(suites: Iterable[Suite]) -> None:
    """Check that every task has metrics, before any of them is scored.

    Raises:
        DataError: a task has no rule for ties or no items, or two suites have a task of the same name.
    """
    names: set[str] = set()
    for suite in suites:
        known = subtasks_of(suite)
        for name, task in suite.tasks.items():
            if name in names:
                raise _error(suite, "duplicate-name", name, "two suites have this sub-task: evaluate them separately")
            names.add(name)
            if isinstance(task, Choices | Groups | Triplets) and (rule := suite.published(name)) not in known:
                near = nearest(rule, known)
                raise _error(suite, "no-rule", name, f"there is no rule for ties of it{near}")
            if not _size(task):
                raise _error(suite, "no-items", name, "it has no items: its file of annotations is empty or truncated")
            if isinstance(task, Choices):
                in_large_groups(suite, name, task)


def metrics(suites: Sequence[Suite], scores: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return all metrics of these suites by name; a mean with a missing part is absent.

    A sub-task all of whose items are left out has no number. ZS is the mean over ELEVATER's 21 data sets; if the suites
    have any other data set, it is the mean over the suites' data sets. Means of retrieval follow the same rule.

    Args:
        suites: the suites.
        scores: as returned by ``scores.suite_scores``, of all suites together.

    Raises:
        DataError: the scores of a sub-task do not fit it.
    """
    counted = counts(suites, scores)
    all_trees = trees(suites)
    parts = {part for tree in all_trees for part in names_in(tree)}
    leaves: dict[str, float] = {}
    details: dict[str, float] = {}
    for suite, name, task in _tasks(suites):
        try:
            values = dict(_task_metrics(suite, name, task, scores, counted))
        except ValueError as error:
            raise _error(suite, "wrong-scores", name, f"it has no metrics: {error}") from None
        details |= values
        leaves |= {metric: value for metric, value in values.items() if metric in parts}
    # a number in one sense of a sub-task, such as bivlc/swap/text, has the items of the sub-task
    sizes = {leaf: counted[leaf if leaf in counted else leaf.rpartition("/")[0]].items for leaf in leaves}
    numbers = details | aggregate(leaves, sizes, all_trees) | subset_metrics(suites, scores, leaves)
    return {f"{PREFIX}{name}": number for name, number in numbers.items()}


def read_metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
    """Return the metrics of an evaluation of the workflow, given its folder and those of its needs.

    The roles ``suites-...`` among the needs are indexes of suites.
    """
    indexes = [needs[role] for role in sorted(needs) if role.startswith("suites-")]
    suites = [suite for index in indexes for suite in _suites_of(index)]
    scores = read_scores(evaluation / FILE)
    numbers = metrics(suites, scores)
    if not (evaluation / ATTRIBUTION).exists():
        return numbers
    attributed = attribution_metrics(suites, scores, read(evaluation / ATTRIBUTION))
    return numbers | {f"{PREFIX}{name}": number for name, number in attributed.items()}


@lru_cache(maxsize=INDEXES)
def _suites_of(index: Path) -> list[Suite]:
    """Read the suites of an index, which many evaluations share; its folder's name is a digest of its inputs."""
    return read_suites(index)


def counts(suites: Sequence[Suite], scores: Mapping[str, np.ndarray]) -> dict[str, Count]:
    """Return the number of items of each sub-task, by the names of scores."""
    counted = {}
    for _, name, task in _tasks(suites):
        for leaf in _leaves(name, task):
            items = int(has_scores(scores[leaf]).sum())
            counted[leaf] = Count(items, len(scores[leaf]) - items)
    return counted


def trees(suites: Sequence[Suite]) -> tuple[Tree, ...]:
    """Return the trees of means for these suites.

    They are the published ones, except that a mean over data sets is over those of the suites if any of these is
    unpublished. They are followed by the trees of suites under names of their own.
    """
    published = [suite for suite in suites if not suite.form]
    classifications = [name for _, name, task in _tasks(published) if isinstance(task, Classes)]
    pools = [name for _, name, task in _tasks(published) if isinstance(task, Pool)]
    means: dict[Tree, Tree] = {}
    if not {*classifications} <= {*CLASSIFICATIONS}:
        means[ZS] = zero_shot(classifications)
    if not {*pools} <= {*RETRIEVALS}:
        means |= {I2T_RET: retrieval(pools, "i2t"), T2I_RET: retrieval(pools, "t2i")}
    own_trees = (tree for suite in suites if suite.form for tree in _own_trees(suite))
    return (*(means.get(tree, tree) for tree in TREES), *own_trees)


def _own_trees(suite: Suite) -> tuple[Tree, ...]:
    """Return the trees of a suite under a name of its own; the data sets of classification are its own, too."""
    if suite.form == CLASSIFICATION_FORM:
        return (macro(suite.name, *suite.tasks),)
    return trees_of(suite.form, suite.name)


def zero_shot(names: Sequence[str]) -> Mean:
    """Return the mean over data sets of zero-shot classification, given the names of their tasks.

    Example:
        >>> zero_shot(["elevater/drawn-colours", "elevater/drawn-shapes"]).leaves
        ('elevater/drawn-colours', 'elevater/drawn-shapes')
    """
    return macro("zs", *names)


def retrieval(names: Sequence[str], way: str) -> Mean:
    """Return the mean over sets of retrieval in one direction, ``i2t`` or ``t2i``."""
    return macro(f"{way}_ret", *(f"{name}/{way}" for name in names))


def headline() -> tuple[str, ...]:
    """Return the names of the four means that summarise a model."""
    return tuple(f"{PREFIX}{tree.name}" for tree in (COMP, ZS, I2T_RET, T2I_RET))


def _tasks(suites: Iterable[Suite]) -> Iterator[tuple[Suite, str, Task]]:
    return ((suite, name, task) for suite in suites for name, task in suite.tasks.items())


def _leaves(name: str, task: Task) -> tuple[str, ...]:
    """Return the names of a task's scores."""
    return tuple(f"{name}/{way}" for way in WAYS) if isinstance(task, Pool) else (name,)


def _size(task: Task) -> int:
    """Return the number of items of a task."""
    match task:
        case Choices():
            return len(task.asked)
        case Pool():
            return min(len(task.images), len(task.texts))
        case Similarity():
            return len(task.graded)
        case _:
            return len(task.images)


def _task_metrics(
    suite: Suite, name: str, task: Task, scores: Mapping[str, np.ndarray], counted: Mapping[str, Count]
) -> Iterator[tuple[str, float]]:
    """Yield the names and values of a task's metrics."""
    published = suite.published(name)
    for leaf in _leaves(name, task):
        if not counted[leaf].items:
            continue
        valid = has_scores(scores[leaf])
        values = scores[leaf][valid]
        match task:
            case Choices():
                valid &= in_large_groups(suite, leaf, task)
                if valid.any():
                    yield from _choice_metrics(leaf, subtasks_of(suite)[published], task, scores[leaf], valid)
            case Groups():
                right = right_groups(values.transpose(0, 2, 1), subtasks_of(suite)[published].ties)
                yield leaf, accuracy(right.group)
                yield f"{leaf}/text", accuracy(right.text)
                yield f"{leaf}/image", accuracy(right.image)
            case Triplets():
                senses = right_triplets(values, subtasks_of(suite)[published].ties)._asdict()
                yield leaf, accuracy(senses["both"])
                yield from ((f"{leaf}/{sense}", accuracy(senses[sense])) for sense in TRIPLET_SENSES)
            case Classes():
                metric = CLASSIFICATIONS[published].metric if published in CLASSIFICATIONS else "accuracy"
                yield leaf, CLASSIFICATION[metric](values, task.labels[valid])
            case Pool():
                yield leaf, recall_at(values, 1)
                yield from ((f"{leaf}/r{k}", recall_at(values, k)) for k in RECALLS)
            case Similarity():
                yield leaf, spearman(values, task.graded[valid])
                yield f"{leaf}/pearson", pearson(values, task.graded[valid])


def _choice_metrics(
    name: str, rule: SubTask, task: Choices, scores: np.ndarray, items: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Yield the accuracy of these items, or its mean over their groups; or the accuracy, and that of each group."""
    right = right_choices(scores[items], task.true[items], rule.ties, task.offered[items] != ABSENT)
    groups = np.array(task.groups or [""] * len(items))[items]
    if rule.group_minimum:
        yield name, macro_accuracy(right, groups)
        return
    yield name, accuracy(right)
    if task.groups:
        yield from ((f"{name}/{group}", accuracy(right[groups == group])) for group in dict.fromkeys(groups.tolist()))


def in_large_groups(suite: Suite, name: str, task: Choices) -> np.ndarray:
    """Return True for each item that counts [items]: all, or those of large groups in a mean over groups.

    The size of a group includes its items that are left out.

    Raises:
        DataError: the mean is over groups and the task has none, or none is large enough.
    """
    least = subtasks_of(suite)[suite.published(name)].group_minimum
    if not least:
        return np.ones(len(task.asked), dtype=bool)
    if task.groups is None:
        raise _error(suite, "no-groups", name, "it is a mean over groups of items, and its items have no groups")
    sizes = Counter(task.groups)
    large = np.array([sizes[group] >= least for group in task.groups])
    if not large.any():
        message = f"it is a mean over groups of {least} items or more: the largest has {max(sizes.values())}"
        raise _error(suite, "small-groups", name, message)
    return large


def _error(suite: Suite, code: str, task: str, message: str) -> DataError:
    """Return the error of a task of a suite."""
    return DataError(f"{suite.name}: {task}: {message}", code=code, place=task)
