"""The feasibility threshold that calibrates the open world: the one with the best AUC on validation.

Ladders contain each image's best unseen pair at every threshold, so that one pass over the scores suffices.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from sortedcontainers import SortedList

from recompose.tracks.czsl.metrics.best import Best
from recompose.tracks.czsl.metrics.czsl import field_curve
from recompose.tracks.czsl.metrics.feasibility import ThresholdProfile
from recompose.tracks.seen_unseen import area

RELEASED_THRESHOLDS = 50


def aucs(ladder: ThresholdProfile) -> np.ndarray:
    """Return the AUC of the dense sweep at each of ``ladder.thresholds``, exactly.

    AUC is the share of couples, of an image with a seen and one with an unseen pair, in which both can be right at one
    bias: the first one's best seen pair is right, the second one's best unseen pair is right, and the first one's
    prediction switches at a higher bias; a couple counts half if both switch at the same one. A rung changes the
    couples of its own image alone, which two sorted lists count.

    Example:
        >>> from recompose.tracks.czsl.metrics.feasibility import LadderBuilder
        >>> seen, feasibility = np.array([True, False, False]), np.array([0.0, 0.2, 0.8])
        >>> builder = LadderBuilder(np.array([0, 2]), seen, feasibility)
        >>> builder.update(np.array([[1.0, 0.1, 0.2], [1.0, 0.6, 0.9]])[:, [0, 2, 1]], pairs=np.array([0, 2, 1]))
        >>> aucs(builder.ladder()).tolist()
        [1.0, 1.0]
    """
    ground = ladder.ground
    counts = _couples_after_rungs(ladder)
    size = int(ground.is_seen.sum()) * int((~ground.is_seen).sum())
    thresholds = ladder.thresholds
    rungs = np.searchsorted(-ladder.feasibility[ladder.pair], -thresholds, side="right")
    return np.append(0.0, counts)[rungs] / size if size else np.full(len(thresholds), np.nan)


def _couples_after_rungs(ladder: ThresholdProfile) -> np.ndarray:
    """Return the number of couples [rungs] that are right after each rung."""
    ground = ladder.ground
    seen_right = ground.is_seen & ground.seen_right
    new_switches = ground.seen_score[ladder.image] - ladder.score
    hits = ~ground.is_seen[ladder.image] & (ladder.pair == ground.target[ladder.image])
    # the switching bias of images with seen pairs; of the others while they are right
    switch = np.full(len(ground.target), np.inf)
    lost, won = SortedList(switch[seen_right].tolist()), SortedList()
    right = np.zeros(len(switch), dtype=bool)
    count, counts = 0.0, np.empty(len(new_switches))
    rungs = zip(ladder.image.tolist(), new_switches.tolist(), hits.tolist(), strict=True)
    for rung, (image, new, hit) in enumerate(rungs):
        old = switch[image]
        if seen_right[image]:
            count += _below(won, new) - _below(won, old)
            lost.remove(old)
            lost.add(new)
            switch[image] = new
        elif hit or right[image]:
            if right[image]:
                won.remove(old)
                count -= len(lost) - _below(lost, old)
            if hit:
                won.add(new)
                count += len(lost) - _below(lost, new)
            switch[image], right[image] = new, hit
        counts[rung] = count
    return counts


def _below(values: Any, value: float) -> float:
    """Return the number of values of a sorted list below a value; equal ones count half."""
    return (values.bisect_left(value) + values.bisect_right(value)) / 2


def best_threshold(ladder: ThresholdProfile) -> float:
    """Return the threshold with the best AUC; of equal ones the lowest, which excludes the fewest pairs; -inf without
    thresholds.

    Example:
        >>> from recompose.tracks.czsl.metrics.feasibility import LadderBuilder
        >>> seen, feasibility = np.array([True, False, False]), np.array([0.0, 0.2, 0.8])
        >>> builder = LadderBuilder(np.array([0, 2]), seen, feasibility)
        >>> builder.update(np.array([[1.0, 0.1, 0.2], [1.0, 0.6, 0.9]])[:, [0, 2, 1]], pairs=np.array([0, 2, 1]))
        >>> best_threshold(builder.ladder())
        0.2
    """
    areas = aucs(ladder)
    return float(ladder.thresholds[areas.argmax()]) if len(areas) else -np.inf


def released_calibration(ladder: ThresholdProfile, threshold: float) -> Best:
    """Return each image's best pairs as the released evaluators calibrate (CSP at 660fcff and its successors), defects
    included.

    Scores are multiplied: of unseen pairs below the threshold by 0, of seen pairs by 1, or by 2 if the threshold is not
    above 0, since the feasibility of seen pairs is stored as 0. So

    - a threshold of 0 or less doubles the scores of seen pairs,
    - an infeasible pair has the score 0, which beats every negative one, where it should have none.

    Example:
        >>> from recompose.tracks.czsl.metrics.feasibility import LadderBuilder
        >>> seen, feasibility = np.array([True, False, False]), np.array([0.0, 0.2, 0.8])
        >>> builder = LadderBuilder(np.array([0, 2]), seen, feasibility)
        >>> builder.update(np.array([[1.0, 0.1, 0.2], [1.0, 0.6, 0.9]])[:, [0, 2, 1]], pairs=np.array([0, 2, 1]))
        >>> ladder = builder.ladder()
        >>> released_calibration(ladder, 0.8).unseen_pair.tolist()
        [2, 2]
        >>> released_calibration(ladder, -1.0).seen_score.tolist()
        [2.0, 2.0]
    """
    best = ladder.at(threshold)
    excluded = np.flatnonzero(ladder.feasibility < threshold)
    score, pair = best.unseen_score.copy(), best.unseen_pair.copy()
    if len(excluded):
        zero = (score < 0) | ((score == 0) & (excluded[0] < pair))
        score[zero], pair[zero] = 0.0, excluded[0]
    factor = 2 if threshold <= 0 else 1
    return replace(best, seen_score=factor * best.seen_score, unseen_score=score, unseen_pair=pair)


def released_threshold(ladder: ThresholdProfile) -> float:
    """Return the threshold of the released search: the first with the best AUC, by the field's sweep, of 50 in equal
    steps.

    Example:
        >>> from recompose.tracks.czsl.metrics.feasibility import LadderBuilder
        >>> seen, feasibility = np.array([True, False, False]), np.array([0.0, 0.2, 0.8])
        >>> builder = LadderBuilder(np.array([0, 2]), seen, feasibility)
        >>> builder.update(np.array([[1.0, 0.1, 0.2], [1.0, 0.6, 0.9]])[:, [0, 2, 1]], pairs=np.array([0, 2, 1]))
        >>> released_threshold(builder.ladder())
        0.2
    """
    if not len(ladder.thresholds):
        return -np.inf
    tried = np.linspace(ladder.thresholds[0], ladder.thresholds[-1], RELEASED_THRESHOLDS)
    areas = [area(field_curve(released_calibration(ladder, threshold))) for threshold in tried]
    return float(tried[int(np.argmax(areas))])
