"""Metrics of CLIP-CAE's tables: accuracies over parts of suites, and statistics of attributions to tokens.

The parts and their sources are in ``subsets.py``.
"""

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from recompose.tracks.vlc.attribution import subsets as cae
from recompose.tracks.vlc.attribution.store import Attributed, mean_over, ratios
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.accuracy import accuracy, macro_accuracy, right_choices, right_groups
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.subtasks import aggregate, names_in
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Groups

RELATIONS = "aro/vg_relation"
T_OF_THREE = 3.182446305284263  # 97.5 % quantile of Student's t with INTERVAL_PARTS - 1 degrees of freedom
FULL = 1.0  # the upper limit of intervals


def subset_metrics(
    suites: Sequence[Suite], scores: Mapping[str, np.ndarray], leaves: Mapping[str, float]
) -> dict[str, float]:
    """Return all metrics of ``subsets`` that these suites have, by name; a metric with a missing part is absent.

    Args:
        suites: the suites.
        scores: as returned by ``Suite.scores``, of all suites together.
        leaves: the metrics of sub-tasks, of which ``values.metrics`` takes means.
    """
    tasks = {name: task for suite in suites for name, task in suite.tasks.items()}
    subsets: dict[str, float] = {}
    relations, groups = tasks.get(RELATIONS), tasks.get("winoground")
    if isinstance(relations, Choices):
        subsets |= relation_metrics(relations, scores[RELATIONS])
    if isinstance(groups, Groups):
        subsets |= winoground_metrics(scores["winoground"])
    names = {name for tree in cae.TREES for name in names_in(tree)}
    parts = {name: number for name, number in {**leaves, **subsets}.items() if name in names}
    means = aggregate(parts, None, cae.TREES)
    return subsets | {name: number for name, number in means.items() if name.startswith("cae")}


def relation_metrics(task: Choices, scores: np.ndarray) -> dict[str, float]:
    """Return ARO's mean over relations that have a direction; a relation without readable items is left out."""
    counted = has_scores(scores) & _have_directions(task)
    if not counted.any():
        return {}
    return {cae.RELATION: macro_accuracy(right_relations(task, scores, counted), np.array(task.groups)[counted])}


def right_relations(task: Choices, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Return True for each of these items of ARO's relations, all with scores, whose true caption is chosen."""
    present = task.offered[items] != ABSENT
    return right_choices(scores[items], task.true[items], SUBTASKS[RELATIONS].ties, present)


def winoground_metrics(scores: np.ndarray) -> dict[str, float]:
    """Return Winoground's scores over ``CLEAN`` items, with intervals, and Table 12's means over pairs.

    An interval is Student's t over the scores of four parts of the items, in the order of the file, clipped to 0 and 1,
    as Table 11's are at 0. For a pair of an image and its caption, the text score is 1 if the image is closer to its
    caption than to the other caption, the image score is 1 if the caption is closer to its image than to the other
    image, and the group score is 1 if both are.

    Args:
        scores: cosines [items, 2 images, 2 captions] of all items, NaN where an item is left out.

    Example:
        >>> item = [[0.9, 0.5], [0.7, 0.6]]  # image 0 is closest to its own caption, image 1 to the other one
        >>> values = winoground_metrics(np.array([item, item]))
        >>> values["cae/winoground/text"], values["cae/winoground/pairs/text"], values["cae/winoground/pairs"]
        (0.0, 0.5, 0.5)
    """
    items = np.arange(len(scores))
    clean = np.isin(items, list(cae.CLEAN)) if len(scores) == cae.WINOGROUND_ITEMS else np.ones(len(scores), dtype=bool)
    scores = scores[clean & has_scores(scores)]
    if not len(scores):
        return {}
    ties = SUBTASKS["winoground"].ties
    right = right_groups(scores.transpose(0, 2, 1), ties)
    values = {f"{cae.WINOGROUND}/text": accuracy(right.text), f"{cae.WINOGROUND}/image": accuracy(right.image)}
    values[cae.WINOGROUND] = accuracy(right.group)
    for sense, items_right in zip(cae.SENSES, right, strict=True):
        values |= _interval(f"{cae.WINOGROUND}/{sense}", items_right)
    side = np.arange(2)
    text = scores[:, side, side] > scores[:, side, 1 - side]  # [items, images]
    image = scores[:, side, side] > scores[:, 1 - side, side]  # [items, captions]
    pairs = {f"{cae.PAIRS}/text": text, f"{cae.PAIRS}/image": image, cae.PAIRS: text & image}
    return values | {name: accuracy(pairs_right.ravel()) for name, pairs_right in pairs.items()}


def _interval(name: str, right: np.ndarray) -> dict[str, float]:
    """Return the ends of a score's interval, given the items' correctness; empty if there are too few items."""
    if len(right) < cae.INTERVAL_PARTS:
        return {}
    parts = [part.mean() for part in np.array_split(right, cae.INTERVAL_PARTS)]
    half = T_OF_THREE * np.std(parts, ddof=1) / cae.INTERVAL_PARTS**0.5
    middle = np.mean(parts)
    return {f"{name}/low": float(max(0.0, middle - half)), f"{name}/high": float(min(FULL, middle + half))}


def attribution_metrics(
    suites: Sequence[Suite], scores: Mapping[str, np.ndarray], by_task: Mapping[str, Attributed]
) -> dict[str, float]:
    """Return statistics of attributions by each method.

    Over the captions of all tasks: the mean over captions of the mean score of object tokens, the same of composition
    tokens, and the ratio of the second mean to the first. (The mean of the captions' own ratios is meaningless where
    scores can be near 0, as those of a softmax.) For ARO's relations that have a direction, as in the paper (Section
    4.4.2): the accuracy of the items in the half with the smaller ratios, and in the other half. Without a direction
    the other caption is just as true.

    A caption without objects or without composition is left out; the halves also leave out a caption whose objects have
    a score of 0.

    Args:
        suites: the suites.
        scores: as returned by ``Suite.scores``, of all suites together.
        by_task: as returned by ``store.read``.
    """
    values: dict[str, float] = {}
    for method in sorted({method for attributed in by_task.values() for method in attributed.scores}):
        attributions = [attributed for attributed in by_task.values() if method in attributed.scores]
        base = f"{cae.ATTRIBUTION}/{method}"
        means = {
            part: _concatenate(mean_over(texts.scores[method], getattr(texts, part)) for texts in attributions)
            for part in ("objects", "composition")
        }
        both = ~np.isnan(means["objects"]) & ~np.isnan(means["composition"])
        if both.any():
            over_captions = {part: float(mean[both].mean()) for part, mean in means.items()}
            values |= {f"{base}/{part}": mean for part, mean in over_captions.items()}
            if over_captions["objects"]:
                values[f"{base}/ratio"] = over_captions["composition"] / over_captions["objects"]
        if (relations := by_task.get(RELATIONS)) and method in relations.scores:
            task = _relations(suites)
            counted = _have_directions(task)[relations.items]
            right = right_relations(task, scores[RELATIONS], relations.items)
            halves = _halves(ratios(relations, method)[counted], right[counted])
            values |= {f"{base}/{half}": number for half, number in halves.items()}
    similarities = _concatenate(attributed.similarity for attributed in by_task.values())
    similarities = similarities[~np.isnan(similarities)]
    return values | ({cae.SIMILARITY: float(similarities.mean())} if len(similarities) else {})


def _relations(suites: Sequence[Suite]) -> Choices:
    (task,) = (suite.tasks[RELATIONS] for suite in suites if RELATIONS in suite.tasks)
    assert isinstance(task, Choices)
    return task


def _have_directions(task: Choices) -> np.ndarray:
    """Return True for each item of ARO's relations whose relation has a direction [items]."""
    return np.array([group not in cae.SYMMETRIC for group in task.groups or ()], dtype=bool)


def _halves(share: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """Return the accuracies of the half with the smaller shares and of the other half; equal shares are in one half."""
    share, right = share[np.isfinite(share)], right[np.isfinite(share)]
    above = share > (np.median(share) if len(share) else 0.0)
    halves = {"right_below": right[~above], "right_above": right[above]}
    return {name: float(half.mean()) for name, half in halves.items() if len(half)}


def _concatenate(parts: Iterable[np.ndarray]) -> np.ndarray:
    listed = list(parts)
    return np.concatenate(listed) if listed else np.empty(0)
