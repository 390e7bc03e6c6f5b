"""The numbers of CLIP-CAE's tables that are over parts of suites, and those of what was attributed to tokens.

Which parts, and why, is in ``cae_subsets.py``.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from recompose.tracks.vlc.attribution.attribution_store import Attributed, mean_over, ratios
from recompose.tracks.vlc.attribution.cae_subsets import (
    ATTRIBUTION,
    CLEAN,
    INTERVAL_PARTS,
    PAIRS,
    RELATION,
    SENSES,
    SIMILARITY,
    SYMMETRIC,
    TREES,
    WINOGROUND,
    WINOGROUND_ITEMS,
)
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Groups, Suite
from recompose.tracks.vlc.suites.aggregation import aggregate, names_in
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.metrics import accuracy, macro_accuracy, right_choices, right_groups

RELATIONS = "aro/vg_relation"
T_OF_THREE = 3.182446305284263  # 97.5 % of Student's t with INTERVAL_PARTS - 1 degrees of freedom lies below
FULL = 1.0  # of a score: intervals end there


def subset_metrics(
    suites: Sequence[Suite], scores: Mapping[str, np.ndarray], leaves: Mapping[str, float]
) -> dict[str, float]:
    """All numbers of ``cae_subsets`` that these suites settle, by their names; none where a part is missing.

    Args:
        suites: what was asked.
        scores: as ``scores.suite_scores`` has them, of all suites together.
        leaves: the numbers of sub-tasks, as ``metrics.metrics`` takes means of them.
    """
    tasks = {name: task for suite in suites for name, task in suite.tasks.items()}
    own: dict[str, float] = {}
    relations, groups = tasks.get(RELATIONS), tasks.get("winoground")
    if isinstance(relations, Choices):
        own |= dict(_of_relations(relations, scores[RELATIONS]))
    if isinstance(groups, Groups):
        own |= of_winoground(scores["winoground"])
    wanted = {name for tree in TREES for name in names_in(tree)}
    parts = {name: number for name, number in {**leaves, **own}.items() if name in wanted}
    means = aggregate(parts, trees=TREES)
    return own | {name: number for name, number in means.items() if name.startswith("cae")}


def _of_relations(task: Choices, scores: np.ndarray) -> Iterator[tuple[str, float]]:
    """ARO's mean over relations that have a direction, of a relation all of whose items are left out none."""
    kept = _readable(scores) & _have_directions(task)
    if kept.any():
        yield RELATION, macro_accuracy(right_relations(task, scores, kept), np.array(task.groups)[kept])


def right_relations(task: Choices, scores: np.ndarray, items: np.ndarray) -> np.ndarray:
    """Whether these items of ARO's relations, all with scores, are told right."""
    present = task.offered[items] != ABSENT
    return right_choices(scores[items], task.true[items], SUBTASKS[RELATIONS].ties, present)


def of_winoground(scores: np.ndarray) -> dict[str, float]:
    """Winoground's scores over ``CLEAN`` items, with their intervals, and Table 12's, in which pairs count.

    An interval is that of Student's t over the scores of four parts of the items, in the order of the file, and ends at
    0 and at 1, as Table 11's do at 0. Of a pair of an image and its caption the text score is 1 if the image fits it
    better than the other caption, the image score if it fits the image better than the other image, and the group score
    if both are.

    Args:
        scores: cosines [items, 2 images, 2 captions] of all items, NaN where an item is left out.

    Example:
        >>> one = [[0.9, 0.5], [0.7, 0.6]]  # of image 0 its own caption is the nearest one, of image 1 the other one
        >>> found = of_winoground(np.array([one, one]))
        >>> found["cae/winoground/text"], found["cae/winoground/pairs/text"], found["cae/winoground/pairs"]
        (0.0, 0.5, 0.5)
    """
    items = np.arange(len(scores))
    clean = np.isin(items, list(CLEAN)) if len(scores) == WINOGROUND_ITEMS else np.ones(len(scores), dtype=bool)
    own = scores[clean & _readable(scores)]
    if not len(own):
        return {}
    ties = SUBTASKS["winoground"].ties
    right = right_groups(own.transpose(0, 2, 1), ties)
    found = {f"{WINOGROUND}/text": accuracy(right.text), f"{WINOGROUND}/image": accuracy(right.image)}
    found[WINOGROUND] = accuracy(right.group)
    for sense, told in zip(SENSES, right, strict=True):
        found |= _interval(f"{WINOGROUND}/{sense}", told)
    side = np.arange(2)
    text = own[:, side, side] > own[:, side, 1 - side]  # [items, images]
    image = own[:, side, side] > own[:, 1 - side, side]  # [items, captions]
    numbers = {f"{PAIRS}/text": text, f"{PAIRS}/image": image, PAIRS: text & image}
    return found | {name: accuracy(told.ravel()) for name, told in numbers.items()}


def _interval(name: str, right: np.ndarray) -> dict[str, float]:
    """The ends of a score's interval, of items right or wrong; none where there are too few."""
    if len(right) < INTERVAL_PARTS:
        return {}
    parts = [part.mean() for part in np.array_split(right, INTERVAL_PARTS)]
    half = T_OF_THREE * np.std(parts, ddof=1) / INTERVAL_PARTS**0.5
    middle = np.mean(parts)
    return {f"{name}/low": float(max(0.0, middle - half)), f"{name}/high": float(min(FULL, middle + half))}


def attribution_metrics(
    suites: Sequence[Suite], scores: Mapping[str, np.ndarray], kept: Mapping[str, Attributed]
) -> dict[str, float]:
    """What was attributed, by each method, over the captions of all tasks: the means over captions of the mean score of
    object tokens and of that of composition tokens, and what the latter mean is of the former. (The mean of captions'
    own ratios says nothing where scores can be near 0, as those of a softmax.) And of ARO's relations that have a
    direction, where the paper looks at that (Section 4.4.2), how many items are right of the half with the smaller
    ratios, and of the other half: without a direction the other caption is as true.

    A caption without objects or without composition is left out; so is one whose objects have a score of 0, of halves.

    Args:
        suites: what was asked.
        scores: as ``scores.suite_scores`` has them, of all suites together.
        kept: what ``attribution_store.read`` gives: by sub-task.
    """
    found: dict[str, float] = {}
    for method in sorted({method for each in kept.values() for method in each.scores}):
        of_method = [each for each in kept.values() if method in each.scores]
        base = f"{ATTRIBUTION}/{method}"
        means = {
            part: _joined(mean_over(each.scores[method], getattr(each, part)) for each in of_method)
            for part in ("objects", "composition")
        }
        both = ~np.isnan(means["objects"]) & ~np.isnan(means["composition"])
        if both.any():
            over_captions = {part: float(mean[both].mean()) for part, mean in means.items()}
            found |= {f"{base}/{part}": mean for part, mean in over_captions.items()}
            if over_captions["objects"]:
                found[f"{base}/ratio"] = over_captions["composition"] / over_captions["objects"]
        if (relations := kept.get(RELATIONS)) and method in relations.scores:
            task = _relations(suites)
            counted = _have_directions(task)[relations.items]
            right = right_relations(task, scores[RELATIONS], relations.items)
            halves = _halves(ratios(relations, method)[counted], right[counted])
            found |= {f"{base}/{half}": number for half, number in halves.items()}
    similarities = _joined(each.similarity for each in kept.values())
    similarities = similarities[~np.isnan(similarities)]
    return found | ({SIMILARITY: float(similarities.mean())} if len(similarities) else {})


def _relations(suites: Sequence[Suite]) -> Choices:
    (task,) = (suite.tasks[RELATIONS] for suite in suites if RELATIONS in suite.tasks)
    assert isinstance(task, Choices)
    return task


def _have_directions(task: Choices) -> np.ndarray:
    """Which of all items of ARO's relations ask for one that has a direction."""
    return np.array([group not in SYMMETRIC for group in task.groups or ()], dtype=bool)


def _halves(share: np.ndarray, right: np.ndarray) -> dict[str, float]:
    """How many are right of the half with the smaller numbers, and of the other half; equal ones are in one half."""
    share, right = share[np.isfinite(share)], right[np.isfinite(share)]
    above = share > (np.median(share) if len(share) else 0.0)
    halves = {"right_below": right[~above], "right_above": right[above]}
    return {name: float(half.mean()) for name, half in halves.items() if len(half)}


def _joined(parts: Iterable[np.ndarray]) -> np.ndarray:
    listed = list(parts)
    return np.concatenate(listed) if listed else np.empty(0)


def _readable(scores: np.ndarray) -> np.ndarray:
    """Which items have scores [items]."""
    return ~np.isnan(scores).reshape(len(scores), -1).all(axis=1)
