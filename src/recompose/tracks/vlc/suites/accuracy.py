"""Metrics of choices, groups (Winoground's format), triplets (SugarCrepe++'s), retrieval, ELEVATER's zero-shot
classification, and correlation.

Choices, groups, triplets and retrieval are scored right or wrong item by item, then averaged over items, or over groups
of items. Values are fractions. ``ranks.py`` has the rules for ties, and says what arrays may be and what is an error.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape, to_host
from recompose.tracks.vlc.suites.ranks import Ties, ahead, check_finite, check_ties, item_error


class GroupRight(NamedTuple):
    """The correctness of items [items], in each of the senses of Winoground."""

    text: np.ndarray  # each image's own caption is chosen among the captions
    image: np.ndarray  # each caption's own image is chosen among the images
    group: np.ndarray  # both


class TripletRight(NamedTuple):
    """The correctness of items [items], in each of the senses of SugarCrepe++."""

    first: np.ndarray  # the first true caption fits the image better than the false one
    second: np.ndarray  # the second true caption does
    both: np.ndarray  # both do
    text_only: np.ndarray  # the two true captions are closer to each other than either is to the false one


def right_choices(scores: Any, true: Any, ties: Ties, present: Any = None) -> np.ndarray:
    """Return True for each item whose true candidate is chosen [items]: a caption of an image, or the reverse.

    Args:
        scores: [items, candidates], higher fits better.
        true: [items], the index of each item's true candidate, or one index for all.
        ties: the rule for ties, see ``ranks.py``.
        present: [items, candidates] bool, if items have different numbers of candidates; other scores are ignored. All
            are present by default.

    Raises:
        ArgumentError: see ``ranks.py``; or a true candidate is not present, or an item has no other candidate.

    Example:
        >>> scores = np.array([[2.0, 1.0], [1.0, 1.0], [0.0, 1.0]])
        >>> right_choices(scores, true=0, ties="strict").tolist(), right_choices(scores, 0, "lenient").tolist()
        ([True, False, False], [True, True, False])
        >>> right_choices(scores, true=1, ties="first").tolist()
        [False, False, True]
    """
    scores, true, present = _checked_choices(scores, true, ties, present)
    items = np.arange(len(scores))
    wrong = present.copy()
    wrong[items, true] = False
    return ~np.any(ahead(scores, wrong, scores[items, true], true, ties), axis=1)


def right_groups(scores: Any, ties: Ties = "strict") -> GroupRight:
    """Return the correctness of groups of matching captions and images (Thrush et al., 2022).

    Args:
        scores: [items, k captions, k images], higher fits better; caption i belongs to image i. k is 2 in all suites.
        ties: the rule for ties, see ``ranks.py``.

    Raises:
        ArgumentError: see ``ranks.py``; or an item has one caption, or unequal numbers of captions and images.

    Example:
        >>> right = right_groups(np.array([[[3.0, 2.0], [1.0, 4.0]], [[3.0, 1.0], [4.0, 5.0]]]))
        >>> right.text.tolist(), right.image.tolist(), right.group.tolist()
        ([True, False], [True, True], [True, False])
    """
    scores = to_host(scores)
    fits = scores.ndim == 3 and scores.shape[1] == scores.shape[2]
    check_shape("scores", scores, fits, "[items, k captions, k images]")
    items, k, _ = scores.shape
    true = np.tile(np.arange(k), items)
    text, image = (
        np.all(right_choices(rows.reshape(items * k, k), true, ties).reshape(items, k), axis=1)
        for rows in (scores.transpose(0, 2, 1), scores)
    )
    return GroupRight(text, image, text & image)


def right_triplets(scores: Any, ties: Ties = "strict") -> TripletRight:
    """Return the correctness of images with two true captions and a false one (Dumpala et al., 2024).

    ``both`` is right in the paper's image-to-text task (ITT), ``text_only`` in its text-only task (TOT), as in
    ``VLMs/test_Variants_CLIP.py`` of Sri-Harsha/scpp at c083bbf.

    Args:
        scores: [items, 6], higher fits better: the image with the first true, the second true and the false caption;
            the two true captions; the first and the second true caption with the false one.
        ties: the rule for ties, see ``ranks.py``.

    Raises:
        ArgumentError: see ``ranks.py``.

    Example:
        >>> right = right_triplets(np.array([[0.3, 0.1, 0.2, 0.9, 0.8, 0.7]]))
        >>> [bool(sense[0]) for sense in right]
        [True, False, False, True]
    """
    scores = to_host(scores)
    check_shape("scores", scores, scores.shape[1:] == (6,), "[items, 6]")
    first, second, text_only = (right_choices(scores[:, columns], 0, ties) for columns in ([0, 2], [1, 2], [3, 4, 5]))
    return TripletRight(first, second, first & second, text_only)


def accuracy(right: Any) -> float:
    """Return the share of right items; all items weigh the same.

    Args:
        right: [items] bool, at least one.

    Example:
        >>> accuracy(np.array([True, False, True, True]))
        0.75
    """
    return float(to_host(right).mean())


def macro_accuracy(right: Any, groups: Any) -> float:
    """Return the mean over groups of the share of right items; all groups weigh the same.

    ARO reports its relations and its attribute pairs this way, ELEVATER most data sets, whose groups are classes.
    Classes without images are left out. ELEVATER's code (00d0af7, through vision-evaluation) also excludes them from
    predictions; each of its data sets has images of all classes.

    Args:
        right: [items] bool.
        groups: [items], the name or number of each item's group.

    Example:
        >>> macro_accuracy(np.array([True, False, True]), ["on", "on", "under"])
        0.75
    """
    _, member = np.unique(to_host(groups), return_inverse=True)
    return float((np.bincount(member, weights=to_host(right)) / np.bincount(member)).mean())


def recall_at(hits: Any, k: int) -> float:
    """Return R@K: the share of queries with a right candidate among the K with the highest scores.

    Args:
        hits: [queries], the number of wrong candidates before the first right one.
        k: the number of candidates, at least 1.

    Example:
        >>> recall_at(np.array([0, 3, 1]), k=1), recall_at(np.array([0, 3, 1]), k=5)
        (0.3333333333333333, 1.0)
    """
    return accuracy(to_host(hits) < k)


def mean_average_precision(scores: Any, labels: Any) -> float:
    """Return the mean over classes of the 11-point average precision (VOC 2007).

    That is the mean precision at the recalls 0, 0.1, ..., 1, each the best precision at that recall or a higher one.
    Equal scores share one threshold. As in ELEVATER's code (00d0af7, through vision-evaluation 37491aa and
    scikit-learn), the precision at recall 0 is 1 whatever the scores, since the curve ends there; Everingham et al.
    (2010) take the best precision of all, so that a class is up to 1/11 lower. Classes without images are left out.

    Args:
        scores: [images, classes], higher is likelier.
        labels: [images, classes] bool, True where an image shows a class.

    Raises:
        ArgumentError: see ``ranks.py``; or labels are not bool, or no class has an image.

    Example:
        >>> mean_average_precision(np.array([[0.9], [0.8], [0.7]]), np.array([[False], [True], [False]]))
        0.5454545454545454
    """
    scores, labels = to_host(scores), to_host(labels)
    check_shape("labels", labels, labels.dtype == bool and labels.ndim == 2, "[images, classes] of bool")
    check_shape("scores", scores, scores.shape == labels.shape, f"{labels.shape} as labels")
    check_finite(np.isfinite(scores), "image")
    classes = np.flatnonzero(labels.any(axis=0))
    if not len(classes):
        raise ArgumentError("labels", "show no image of any class")
    return float(np.mean([_average_precision(scores[:, number], labels[:, number]) for number in classes]))


def roc_auc(scores: Any, targets: Any) -> float:
    """Return the area under the ROC curve.

    It is the share of couples of an image of class 1 and one of class 0 in which the first scores higher; equal scores
    count a half.

    Args:
        scores: [images, 2], probabilities of classes; only the second's are used, as in ELEVATER's code.
        targets: [images], 0 or 1.

    Raises:
        ArgumentError: see ``ranks.py``; or a target is no class, or a class has no images.

    Example:
        >>> roc_auc(np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.4, 0.6]]), targets=np.array([0, 0, 1, 1]))
        0.875
    """
    scores, targets = to_host(scores), to_host(targets)
    check_shape("scores", scores, scores.shape[1:] == (2,), "[images, 2]")
    targets = _checked_true(targets, scores)
    check_finite(np.isfinite(scores), "image")
    lower, upper = (np.sort(scores[targets == number, 1]) for number in (0, 1))
    if not len(lower) or not len(upper):
        raise ArgumentError("targets", f"have {len(lower)} images of class 0 and {len(upper)} of class 1, not of both")
    below = np.searchsorted(lower, upper, side="left").sum()
    not_above = np.searchsorted(lower, upper, side="right").sum()
    return float((below + not_above) / (2 * len(lower) * len(upper)))


CLASSIFICATION: dict[str, Callable[[Any, Any], float]] = {  # those of ELEVATER's settings that rank images
    "11point_mAP": mean_average_precision,
    "roc_auc": roc_auc,
}


def spearman(scores: Any, grades: Any) -> float:
    """Return Spearman's correlation of scores [pairs] with grades [pairs]: Pearson's of ranks; ties share a mean rank.

    Raises:
        ArgumentError: see ``ranks.py``; or there are fewer than two pairs, or all scores or all grades are equal.

    Example:
        >>> spearman([0.1, 0.2, 0.9], [1.0, 5.0, 3.0])
        0.5
    """
    from scipy.stats import rankdata  # a second to import

    return pearson(*(rankdata(values) for values in _checked_pairs(scores, grades)))


def pearson(scores: Any, grades: Any) -> float:
    """Return Pearson's correlation of scores [pairs] with grades [pairs].

    Raises:
        ArgumentError: see ``ranks.py``; or there are fewer than two pairs, or all scores or all grades are equal.

    Example:
        >>> round(pearson([0.1, 0.2, 0.9], [1.0, 5.0, 3.0]), 4)
        0.1147
    """
    x, y = (values - values.mean() for values in _checked_pairs(scores, grades))
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def _checked_pairs(scores: Any, grades: Any) -> tuple[np.ndarray, np.ndarray]:
    pairs = to_host(scores).astype(np.float64), to_host(grades).astype(np.float64)
    check_shape("scores", pairs[0], pairs[0].ndim == 1 and len(pairs[0]) > 1, "[pairs] of at least two pairs")
    check_shape("grades", pairs[1], pairs[1].shape == pairs[0].shape, f"{pairs[0].shape} as scores")
    check_finite(np.isfinite(np.stack(pairs, axis=1)), "pair")
    for name, values in zip(("scores", "grades"), pairs, strict=True):
        if (values == values[0]).all():
            raise ArgumentError(name, f"are all {values[0]:g}: the correlation is undefined")
    return pairs


def _average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """Return the mean precision of one class at eleven recalls."""
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # the ends of runs of equal scores
    hits = np.cumsum(labels[order])[ends]
    precision = hits / (ends + 1)
    reached = 10 * hits >= np.arange(1, 11)[:, None] * labels.sum()  # recalls of 0.1 to 1, in integers
    return float((1 + np.where(reached, precision, 0).max(axis=1).sum()) / 11)


def _checked_choices(scores: Any, true: Any, ties: str, present: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check scores, indices of true candidates [items] and the mask of candidates; return them as NumPy arrays."""
    scores, true = to_host(scores), to_host(true)
    check_ties(ties)
    check_shape("scores", scores, scores.ndim == 2, "[items, candidates]")
    true = _checked_true(np.broadcast_to(true, len(scores)) if true.ndim == 0 else true, scores)
    present = np.ones(scores.shape, dtype=bool) if present is None else to_host(present)
    fits = present.shape == scores.shape and present.dtype == bool
    check_shape("present", present, fits, f"bool of {scores.shape}")
    absent = ~present[np.arange(len(true)), true]
    if absent.any():
        raise item_error("present", "item", absent, "whose true candidate is absent")
    alone = present.sum(axis=1) < 2
    if alone.any():
        raise item_error("present", "item", alone, "with only one candidate")
    check_finite(np.isfinite(scores) | ~present, "item")
    return scores, true, present


def _checked_true(true: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Check indices of columns of scores, one for each row."""
    fits = true.shape == scores.shape[:1] and (not true.size or true.dtype.kind in "iu")
    check_shape("indices", true, fits, f"integers for {len(scores)} rows of scores")
    outside = (true < 0) | (true >= scores.shape[1])
    if outside.any():
        raise item_error("indices", "item", outside, f"with {true[outside][0]}, which is not among {scores.shape[1]}")
    return true.astype(np.int64)
