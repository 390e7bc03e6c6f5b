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

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from recompose.errors import DataError
from recompose.tracks.vlc.attribution.faithfulness import attribution_metrics, subset_metrics
from recompose.tracks.vlc.attribution.store import FILE as ATTRIBUTION
from recompose.tracks.vlc.attribution.store import read
from recompose.tracks.vlc.data.index import read_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import I2T_RET, OVER_SUITES, SUBTASKS, T2I_RET, TREES, ZS, trees_of
from recompose.tracks.vlc.suites.judges import Judge, judge_of
from recompose.tracks.vlc.suites.scores import FILE, has_scores, read_scores
from recompose.tracks.vlc.suites.subtasks import Tree, aggregate, macro, names_in
from recompose.tracks.vlc.suites.tasks import Classes, Pool

PREFIX = "test/"
CLASSIFICATION_FORM = "elevater"
INDEXES = 8  # kept in memory


class Count(NamedTuple):
    """The number of items of a metric, and of those left out because of an unreadable image."""

    items: int
    left_out: int


def check(suites: Iterable[Suite]) -> None:
    """Check that every task has metrics, before any of them is scored.

    Raises:
        DataError: a task has no rule for ties or no items, or two suites have a task of the same name.
    """
    names: set[str] = set()
    for suite in suites:
        for name in suite.tasks:
            if name in names:
                message = f"{suite.name}: {name}: two suites have this sub-task: evaluate them separately"
                raise DataError(message, code="duplicate-name", place=name)
            names.add(name)
            judge_of(suite, name).check()


def metrics(suites: Sequence[Suite], scores: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Return all metrics of these suites by name; a mean with a missing part is absent.

    A sub-task all of whose items are left out has no number. ZS is the mean over ELEVATER's 21 data sets; if the suites
    have any other data set, it is the mean over the suites' data sets. Means of retrieval follow the same rule.

    Args:
        suites: the suites.
        scores: as returned by ``Suite.scores``, of all suites together.

    Raises:
        DataError: the scores of a sub-task do not fit it.
    """
    counted = counts(suites, scores)
    all_trees = trees(suites)
    parts = {part for tree in all_trees for part in names_in(tree)}
    leaves: dict[str, float] = {}
    details: dict[str, float] = {}
    for judge in (judge_of(suite, name) for suite in suites for name in suite.tasks):
        try:
            values = dict(_values(judge, scores))
        except (ValueError, IndexError) as error:
            raise judge.error("wrong-scores", f"it has no metrics: {error}") from None
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
    for leaf in (leaf for suite in suites for name, task in suite.tasks.items() for leaf in task.leaves(name)):
        items = int(has_scores(scores[leaf]).sum())
        counted[leaf] = Count(items, len(scores[leaf]) - items)
    return counted


def trees(suites: Sequence[Suite]) -> tuple[Tree, ...]:
    """Return the trees of means for these suites.

    They are the published ones, except that a mean over data sets is over those of the suites if any of these is
    unpublished. They are followed by the trees of suites under names of their own.
    """
    published = [named for suite in suites if not suite.form for named in suite.tasks.items()]
    means: dict[Tree, Tree] = {}
    for tree, kind, end in ((ZS, Classes, ""), (I2T_RET, Pool, "/i2t"), (T2I_RET, Pool, "/t2i")):
        names = [name for name, task in published if isinstance(task, kind)]
        if not {*names} <= {*SUBTASKS}:
            means[tree] = macro(tree.name, *(f"{name}{end}" for name in names))
    own_trees = (tree for suite in suites if suite.form for tree in _own_trees(suite))
    return (*(means.get(tree, tree) for tree in TREES), *own_trees)


def _own_trees(suite: Suite) -> tuple[Tree, ...]:
    """Return the trees of a suite under a name of its own; the data sets of classification are its own, too."""
    if suite.form == CLASSIFICATION_FORM:
        return (macro(suite.name, *suite.tasks),)
    return trees_of(suite.form, suite.name)


def headline() -> tuple[str, ...]:
    """Return the names of the four means that summarise a model."""
    return tuple(f"{PREFIX}{tree.name}" for tree in OVER_SUITES)


def _values(judge: Judge, scores: Mapping[str, np.ndarray]) -> Iterator[tuple[str, float]]:
    """Yield the names and values of a task's metrics, of the items that have scores and count."""
    for leaf in judge.task.leaves(judge.name):
        items = has_scores(scores[leaf]) & judge.counting(leaf)
        if not items.any():
            continue
        values = scores[leaf][items]
        yield from ((number.name, number.value(len(values))) for number in judge.numbers(leaf, values, items))
        yield from judge.details(leaf, values, items)
