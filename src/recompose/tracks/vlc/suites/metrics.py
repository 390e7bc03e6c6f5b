"""Metrics of choices, groups (Winoground's format), triplets (SugarCrepe++'s), retrieval, ELEVATER's zero-shot
classification, and correlation.

Choices, groups, triplets and retrieval are scored right or wrong item by item, then averaged over items, or over groups
of items. Values are fractions. Ties are frequent where captions are equal (order tasks, COCO's duplicates) or scores
have half precision, and suites treat them differently:

- ``strict``: the true candidate must score higher than all others, as in Winoground, EqBen, SugarCrepe and ComVG, whose
  code compares with ">". Argmax, which takes the first of equals, does the same if the true candidate is last: ARO's
  relations and attributes.
- ``lenient``: no other candidate may score higher. Argmax does this if the true candidate is first: ARO's order tasks
  and WhatsUp.
- ``first``: the first candidate among equals is chosen, wherever the true one is: argmax in the order of the file, as
  in SPEC and in classification.

Scores, indices and flags are NumPy arrays, or torch tensors on any device, of any precision: scores are compared, never
added. This module does not import torch. Shapes that do not fit, scores that are NaN or infinite, and unknown rules for
ties are errors everywhere (ArgumentError).
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from recompose.errors import ArgumentError

Ties = Literal["strict", "lenient", "first"]
BLOCK = 1 << 23  # pairs of a query and a candidate compared at a time, so that masks stay small


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


class RetrievalHits(NamedTuple):
    """The number of wrong candidates before the first right one, for each query."""

    image_to_text: np.ndarray  # [images]
    text_to_image: np.ndarray  # [captions]


def right_choices(scores: Any, true: Any, ties: Ties, present: Any = None) -> np.ndarray:
    """Return True for each item whose true candidate is chosen [items]: a caption of an image, or the reverse.

    Args:
        scores: [items, candidates], higher fits better.
        true: [items], the index of each item's true candidate, or one index for all.
        ties: the rule for ties, see above.
        present: [items, candidates] bool, if items have different numbers of candidates; other scores are ignored. All
            are present by default.

    Raises:
        ArgumentError: see above; or a true candidate is not present, or an item has no other candidate.

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
    return ~np.any(_ahead(scores, wrong, scores[items, true], true, ties), axis=1)


def right_groups(scores: Any, ties: Ties = "strict") -> GroupRight:
    """Return the correctness of groups of matching captions and images (Thrush et al., 2022).

    Args:
        scores: [items, k captions, k images], higher fits better; caption i belongs to image i. k is 2 in all suites.
        ties: the rule for ties, see above.

    Raises:
        ArgumentError: see above; or an item has one caption, or unequal numbers of captions and images.

    Example:
        >>> right = right_groups(np.array([[[3.0, 2.0], [1.0, 4.0]], [[3.0, 1.0], [4.0, 5.0]]]))
        >>> right.text.tolist(), right.image.tolist(), right.group.tolist()
        ([True, False], [True, True], [True, False])
    """
    scores = _to_host(scores)
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2]:
        raise ArgumentError("scores", f"are {scores.shape}, not [items, k captions, k images]")
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
        ties: the rule for ties, see above.

    Raises:
        ArgumentError: see above.

    Example:
        >>> right = right_triplets(np.array([[0.3, 0.1, 0.2, 0.9, 0.8, 0.7]]))
        >>> [bool(sense[0]) for sense in right]
        [True, False, False, True]
    """
    scores = _to_host(scores)
    if scores.ndim != 2 or scores.shape[1] != 6:
        raise ArgumentError("scores", f"are {scores.shape}, not [items, 6]")
    first, second, text_only = (right_choices(scores[:, columns], 0, ties) for columns in ([0, 2], [1, 2], [3, 4, 5]))
    return TripletRight(first, second, first & second, text_only)


def accuracy(right: Any) -> float:
    """Return the share of right items; all items weigh the same.

    Args:
        right: [items] bool.

    Raises:
        ArgumentError: there are no items, or they are not bool.

    Example:
        >>> accuracy(np.array([True, False, True, True]))
        0.75
    """
    return float(_checked_right(right).mean())


def macro_accuracy(right: Any, groups: Any, at_least: int = 1) -> float:
    """Return the mean over groups of the share of right items; all groups weigh the same.

    ARO reports its relations and its attribute pairs this way, the latter for pairs with 25 items or more.

    Args:
        right: [items] bool.
        groups: [items], the name or number of each item's group.
        at_least: groups with fewer items are left out.

    Raises:
        ArgumentError: see above; or there are no items, they are not bool, or no group is large enough.

    Example:
        >>> macro_accuracy(np.array([True, False, True]), ["on", "on", "under"])
        0.75
        >>> macro_accuracy(np.array([True, False, True]), ["on", "on", "under"], at_least=2)
        0.5
    """
    right, groups = _checked_right(right), _to_host(groups)
    if groups.shape != right.shape:
        raise ArgumentError("groups", f"are {groups.shape}, not {right.shape} as items")
    _, member = np.unique(groups, return_inverse=True)
    sizes = np.bincount(member)
    large = sizes >= at_least
    if not large.any():
        raise ArgumentError("groups", f"have {sizes.max()} items at most, not {at_least}")
    return float((np.bincount(member, weights=right)[large] / sizes[large]).mean())


def retrieval_hits(scores: Any, image_of: Any, ties: Ties = "first") -> RetrievalHits:
    """Return the ranks of the first right candidates, of images among all captions and of captions among all images.

    An image has one or more captions. The rule for ties orders equal scores; released code sorts, or takes the K
    highest, and leaves the order open.

    Args:
        scores: [images, captions], higher fits better.
        image_of: [captions], the index of each caption's image.
        ties: the rule for ties, see above.

    Raises:
        ArgumentError: see above; or a caption's image does not exist, or an image has no caption.

    Example:
        >>> hits = retrieval_hits(np.array([[2.0, 1.0, 3.0], [1.0, 4.0, 2.0]]), image_of=np.array([0, 0, 1]))
        >>> hits.image_to_text.tolist(), hits.text_to_image.tolist()
        ([1, 1], [0, 1, 1])
    """
    scores, image_of = _to_host(scores), _to_host(image_of)
    if scores.ndim != 2:
        raise ArgumentError("scores", f"are {scores.shape}, not [images, captions]")
    images = np.arange(len(scores))
    return RetrievalHits(
        image_to_text=first_hits(scores, images, image_of, ties),
        text_to_image=first_hits(scores.T, image_of, images, ties),
    )


def first_hits(scores: Any, queries: Any, candidates: Any, ties: Ties = "first") -> np.ndarray:
    """Return the number of wrong candidates before the first right one of each query [queries]; 0 if the best is right.

    Queries are independent, so that those of a large set can be computed in parts.

    Args:
        scores: [queries, candidates], higher fits better.
        queries: [queries], the number that a right candidate shares: the image's, for captions and images.
        candidates: [candidates], the number of each candidate.
        ties: the rule for ties of the best right candidate, see above.

    Raises:
        ArgumentError: see above; or a query has no right candidate.

    Example:
        >>> first_hits(np.array([[2.0, 1.0, 3.0]]), queries=[0], candidates=[0, 0, 1]).tolist()
        [1]
    """
    scores, queries, candidates = _to_host(scores), _to_host(queries), _to_host(candidates)
    _check_ties(ties)
    expected = queries.shape + candidates.shape
    if scores.shape != expected or len(expected) != 2:
        raise ArgumentError("scores", f"are {scores.shape}, not {expected} as queries and candidates")
    unmatched = ~np.isin(queries, candidates)
    if unmatched.any():
        raise _item_error("candidates", "query", unmatched, "without a right one")
    rows = max(1, BLOCK // max(1, len(candidates)))
    hits = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), rows):
        block = np.ascontiguousarray(scores[start : start + rows])
        _check_finite(np.isfinite(block), "query", start)
        right = queries[start : start + rows, None] == candidates
        best = np.where(right, block, -np.inf).max(axis=1)
        place = (right & (block == best[:, None])).argmax(axis=1)
        hits[start : start + rows] = _ahead(block, ~right, best, place, ties).sum(axis=1)
    return hits


def recall_at(hits: Any, k: int) -> float:
    """Return R@K: the share of queries with a right candidate among the K with the highest scores.

    Args:
        hits: [queries], the number of wrong candidates before the first right one.
        k: the number of candidates, at least 1.

    Raises:
        ArgumentError: there are no queries, or k is below 1.

    Example:
        >>> recall_at(np.array([0, 3, 1]), k=1), recall_at(np.array([0, 3, 1]), k=5)
        (0.3333333333333333, 1.0)
    """
    if k < 1:
        raise ArgumentError("k", f"is {k}, less than 1")
    return accuracy(_to_host(hits) < k)


def class_accuracy(scores: Any, targets: Any) -> float:
    """Return the share of images whose class scores highest; the first of equal ones is predicted.

    Args:
        scores: [images, classes], higher is likelier.
        targets: [images], the index of each image's class.

    Raises:
        ArgumentError: see above; or a target is no class, or there are no images.

    Example:
        >>> class_accuracy(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), targets=np.array([0, 0, 1]))
        0.6666666666666666
    """
    return accuracy(right_choices(scores, targets, "first"))


def mean_per_class(scores: Any, targets: Any) -> float:
    """Return the mean over classes of the share of a class's images that are classified right.

    Classes without images are left out. ELEVATER's code (00d0af7, through vision-evaluation) also excludes them from
    predictions; each of its data sets has images of all classes.

    Args:
        scores: [images, classes], higher is likelier.
        targets: [images], the index of each image's class.

    Raises:
        ArgumentError: see above; or a target is no class, or there are no images.

    Example:
        >>> mean_per_class(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), targets=np.array([0, 0, 1]))
        0.5
    """
    return macro_accuracy(right_choices(scores, targets, "first"), targets)


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
        ArgumentError: see above; or labels are not bool, or no class has an image.

    Example:
        >>> mean_average_precision(np.array([[0.9], [0.8], [0.7]]), np.array([[False], [True], [False]]))
        0.5454545454545454
    """
    scores, labels = _to_host(scores), _to_host(labels)
    if labels.dtype != bool or labels.ndim != 2:
        raise ArgumentError("labels", f"are {labels.dtype} of shape {labels.shape}, not [images, classes] of bool")
    if scores.shape != labels.shape:
        raise ArgumentError("scores", f"are {scores.shape}, not {labels.shape} as labels")
    _check_finite(np.isfinite(scores), "image")
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
        ArgumentError: see above; or a target is no class, or a class has no images.

    Example:
        >>> roc_auc(np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.4, 0.6]]), targets=np.array([0, 0, 1, 1]))
        0.875
    """
    scores, targets = _to_host(scores), _to_host(targets)
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise ArgumentError("scores", f"are {scores.shape}, not [images, 2]")
    targets = _checked_true(targets, scores)
    _check_finite(np.isfinite(scores), "image")
    lower, upper = (np.sort(scores[targets == number, 1]) for number in (0, 1))
    if not len(lower) or not len(upper):
        raise ArgumentError("targets", f"have {len(lower)} images of class 0 and {len(upper)} of class 1, not of both")
    below = np.searchsorted(lower, upper, side="left").sum()
    not_above = np.searchsorted(lower, upper, side="right").sum()
    return float((below + not_above) / (2 * len(lower) * len(upper)))


CLASSIFICATION: dict[str, Callable[[Any, Any], float]] = {  # by their names in ELEVATER's settings
    "accuracy": class_accuracy,
    "mean-per-class": mean_per_class,
    "11point_mAP": mean_average_precision,
    "roc_auc": roc_auc,
}


def spearman(scores: Any, grades: Any) -> float:
    """Return Spearman's correlation of scores [pairs] with grades [pairs]: Pearson's of ranks; ties share a mean rank.

    Raises:
        ArgumentError: see above; or there are fewer than two pairs, or all scores or all grades are equal.

    Example:
        >>> spearman([0.1, 0.2, 0.9], [1.0, 5.0, 3.0])
        0.5
    """
    from scipy.stats import rankdata  # a second to import

    return pearson(*(rankdata(values) for values in _checked_pairs(scores, grades)))


def pearson(scores: Any, grades: Any) -> float:
    """Return Pearson's correlation of scores [pairs] with grades [pairs].

    Raises:
        ArgumentError: see above; or there are fewer than two pairs, or all scores or all grades are equal.

    Example:
        >>> round(pearson([0.1, 0.2, 0.9], [1.0, 5.0, 3.0]), 4)
        0.1147
    """
    x, y = (values - values.mean() for values in _checked_pairs(scores, grades))
    return float(x @ y / np.sqrt((x @ x) * (y @ y)))


def _checked_pairs(scores: Any, grades: Any) -> tuple[np.ndarray, np.ndarray]:
    pairs = _to_host(scores).astype(np.float64), _to_host(grades).astype(np.float64)
    if pairs[0].ndim != 1 or pairs[0].shape != pairs[1].shape or len(pairs[0]) < 2:
        shapes = f"{pairs[0].shape} and {pairs[1].shape}"
        raise ArgumentError("scores", f"and grades are {shapes}, not [pairs] of at least two pairs")
    _check_finite(np.isfinite(np.stack(pairs, axis=1)), "pair")
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


def _ahead(scores: np.ndarray, wrong: np.ndarray, best: np.ndarray, place: np.ndarray, ties: Ties) -> np.ndarray:
    """Return the wrong candidates [items, candidates] that precede the right one of a row.

    Args:
        scores: [items, candidates].
        wrong: [items, candidates] bool, the wrong candidates that are present.
        best: [items], the best score of right candidates.
        place: [items], its index, the first of equals.
        ties: the rule for ties.
    """
    ahead, equal = scores > best[:, None], scores == best[:, None]
    if ties == "strict":
        ahead |= equal
    elif ties == "first":
        ahead |= equal & (np.arange(scores.shape[1]) < place[:, None])
    return ahead & wrong


def _checked_choices(scores: Any, true: Any, ties: str, present: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Check scores, indices of true candidates [items] and the mask of candidates; return them as NumPy arrays."""
    scores, true = _to_host(scores), _to_host(true)
    _check_ties(ties)
    if scores.ndim != 2:
        raise ArgumentError("scores", f"are {scores.shape}, not [items, candidates]")
    true = _checked_true(np.broadcast_to(true, len(scores)) if true.ndim == 0 else true, scores)
    present = np.ones(scores.shape, dtype=bool) if present is None else _to_host(present)
    if present.shape != scores.shape or present.dtype != bool:
        raise ArgumentError("present", f"is {present.dtype} of shape {present.shape}, not bool of {scores.shape}")
    absent = ~present[np.arange(len(true)), true]
    if absent.any():
        raise _item_error("present", "item", absent, "whose true candidate is absent")
    alone = present.sum(axis=1) < 2
    if alone.any():
        raise _item_error("present", "item", alone, "with only one candidate")
    _check_finite(np.isfinite(scores) | ~present, "item")
    return scores, true, present


def _checked_true(true: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Check indices of columns of scores, one for each row."""
    if true.ndim != 1 or (true.size and true.dtype.kind not in "iu"):
        raise ArgumentError("indices", f"are {true.dtype} of shape {true.shape}, not [items] of integers")
    if len(true) != len(scores):
        raise ArgumentError("indices", f"are {len(true)} for {len(scores)} rows of scores")
    outside = (true < 0) | (true >= scores.shape[1])
    if outside.any():
        raise _item_error("indices", "item", outside, f"with {true[outside][0]}, which is not among {scores.shape[1]}")
    return true.astype(np.int64)


def _checked_right(right: Any) -> np.ndarray:
    right = _to_host(right)
    if right.ndim != 1 or right.dtype != bool:
        raise ArgumentError("right", f"is {right.dtype} of shape {right.shape}, not [items] of bool")
    if not len(right):
        raise ArgumentError("right", "has no items")
    return right


def _check_finite(fine: np.ndarray, row: str, first: int = 0) -> None:
    """Raise for the first row of scores that is not finite; rows are counted from ``first``."""
    broken = ~fine.all(axis=1)
    if broken.any():
        raise _item_error("scores", row, broken, "with scores that are NaN or infinite", first)


def _item_error(argument: str, row: str, wrong: Any, fault: str, first: int = 0) -> ArgumentError:
    """Return the error of the first of the wrong items of an argument."""
    return ArgumentError(
        argument, f"are wrong: {row} {first + int(wrong.argmax())} is the first of {int(wrong.sum())} {fault}"
    )


def _check_ties(ties: str) -> None:
    if ties not in get_args(Ties):
        raise ArgumentError("ties", f"are {ties}, not one of {', '.join(get_args(Ties))}")


def _to_host(array: Any) -> np.ndarray:
    """Convert a tensor on any device, or anything like an array, to NumPy."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() and array.element_size() < 4 else array  # no bfloat16
    return np.asarray(array)
