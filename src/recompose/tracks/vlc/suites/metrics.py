"""The numbers of suites of images and captions: choices among captions or images, groups of Winoground's form, recall
at K, and the metrics of ELEVATER's zero-shot classification.

A choice, a group or a retrieval is first told right or wrong item by item, then averaged: over items, or over groups of
items. A number is a fraction. Equal scores are frequent where captions are equal (order tasks, COCO's duplicates) or
scores come in half precision, and suites count them differently:

- ``strict``: the true candidate has to score higher than all others, as in Winoground, EqBen, SugarCrepe and ComVG,
  whose code compares by ">". An argmax, which takes the first of equals, comes to the same where the true candidate
  stands last: ARO's relations and attributes.
- ``lenient``: no other candidate may score higher. An argmax comes to that where the true candidate stands first: ARO's
  order tasks and WhatsUp.
- ``first``: the candidate that stands first among equals is chosen, wherever the true one stands: an argmax in the
  order of the file, as in SPEC and in classification.

Scores, indices and flags are NumPy arrays, or torch tensors on any device, of any precision: scores are compared, never
added. Nothing here imports torch.
"""

from collections.abc import Callable
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

Ties = Literal["strict", "lenient", "first"]
BLOCK = 1 << 23  # pairs of a query and a candidate that are compared at a time, so that masks stay small


class GroupRight(NamedTuple):
    """Which items are right [items], in each of the senses of Winoground."""

    text: np.ndarray  # each image's own caption is chosen among the captions
    image: np.ndarray  # each caption's own image is chosen among the images
    group: np.ndarray  # both


class RetrievalHits(NamedTuple):
    """How many wrong candidates stand before the first right one of each query."""

    image_to_text: np.ndarray  # [images]
    text_to_image: np.ndarray  # [captions]


def right_choices(scores: Any, true: Any, ties: Ties, present: Any = None) -> np.ndarray:
    """Whether the true candidate is chosen [items]: a caption of an image, or an image of a caption.

    Args:
        scores: [items, candidates], higher fits better.
        true: [items], the index of each item's true candidate, or one index for all.
        ties: how the true candidate fares among equals, see above.
        present: [items, candidates] bool, where items have different numbers of candidates; scores elsewhere are not
            looked at. All are present by default.

    Raises:
        ValueError: shapes do not fit, a true candidate is none that is present, an item has no other candidate, a score
            is NaN or infinite, or the rule for ties is none.

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
    """Whether captions and images that belong together in pairs find each other (Thrush et al., 2022).

    Args:
        scores: [items, k captions, k images], higher fits better; caption i belongs to image i. Two in all suites.
        ties: how a true candidate fares among equals, see above.

    Raises:
        ValueError: an item has one caption or not as many captions as images, or a score is NaN or infinite, or the
            rule for ties is none.

    Example:
        >>> right = right_groups(np.array([[[3.0, 2.0], [1.0, 4.0]], [[3.0, 1.0], [4.0, 5.0]]]))
        >>> right.text.tolist(), right.image.tolist(), right.group.tolist()
        ([True, False], [True, True], [True, False])
    """
    scores = _to_host(scores)
    if scores.ndim != 3 or scores.shape[1] != scores.shape[2]:
        raise ValueError(f"scores are [items, k captions, k images], not {scores.shape}")
    items, k, _ = scores.shape
    own = np.tile(np.arange(k), items)
    text, image = (
        np.all(right_choices(rows.reshape(items * k, k), own, ties).reshape(items, k), axis=1)
        for rows in (scores.transpose(0, 2, 1), scores)
    )
    return GroupRight(text, image, text & image)


def accuracy(right: Any) -> float:
    """The share of items that are right: all items count alike.

    Args:
        right: [items] bool.

    Raises:
        ValueError: there are no items, or they are not bool.

    Example:
        >>> accuracy(np.array([True, False, True, True]))
        0.75
    """
    return float(_checked_right(right).mean())


def macro_accuracy(right: Any, groups: Any, at_least: int = 1) -> float:
    """The mean over groups of items of the share that is right: all groups count alike.

    ARO reports relations and attribute pairs so, of the latter those with 25 items or more.

    Args:
        right: [items] bool.
        groups: [items], the name or number of each item's group.
        at_least: groups with fewer items are left out.

    Raises:
        ValueError: there are no items, they are not bool, there are not as many groups, or none is large enough.

    Example:
        >>> macro_accuracy(np.array([True, False, True]), ["on", "on", "under"])
        0.75
        >>> macro_accuracy(np.array([True, False, True]), ["on", "on", "under"], at_least=2)
        0.5
    """
    right, groups = _checked_right(right), _to_host(groups)
    if groups.shape != right.shape:
        raise ValueError(f"groups are {groups.shape}, not {right.shape} as the items")
    _, member = np.unique(groups, return_inverse=True)
    sizes = np.bincount(member)
    large = sizes >= at_least
    if not large.any():
        raise ValueError(f"no group has {at_least} items: the largest of {len(sizes)} has {sizes.max()}")
    return float((np.bincount(member, weights=right)[large] / sizes[large]).mean())


def retrieval_hits(scores: Any, image_of: Any, ties: Ties = "first") -> RetrievalHits:
    """How far down the first right candidate stands, of images among all captions and of captions among all images.

    An image has one caption or several. What standing before means among equals is the rule for ties; released code
    sorts, or takes the K highest, and leaves it open.

    Args:
        scores: [images, captions], higher fits better.
        image_of: [captions], the index of each caption's image.
        ties: how right candidates fare among equals, see above.

    Raises:
        ValueError: shapes do not fit, a caption's image is none, an image has no caption, a score is NaN or infinite,
            or the rule for ties is none.

    Example:
        >>> hits = retrieval_hits(np.array([[2.0, 1.0, 3.0], [1.0, 4.0, 2.0]]), image_of=np.array([0, 0, 1]))
        >>> hits.image_to_text.tolist(), hits.text_to_image.tolist()
        ([1, 1], [0, 1, 1])
    """
    scores, image_of = _to_host(scores), _to_host(image_of)
    if scores.ndim != 2:
        raise ValueError(f"scores are [images, captions], not {scores.shape}")
    images = np.arange(len(scores))
    return RetrievalHits(
        image_to_text=first_hits(scores, images, image_of, ties),
        text_to_image=first_hits(scores.T, image_of, images, ties),
    )


def first_hits(scores: Any, queries: Any, candidates: Any, ties: Ties = "first") -> np.ndarray:
    """How many wrong candidates stand before the first right one of each query [queries]: 0 where the best is right.

    Queries do not depend on each other, so that those of a large set can be told in parts.

    Args:
        scores: [queries, candidates], higher fits better.
        queries: [queries], what each query shows, as a number; of captions and images that is the image's.
        candidates: [candidates], the same of each candidate; those with the query's number are right.
        ties: how the best of the right candidates fares among equals, see above.

    Raises:
        ValueError: shapes do not fit, a query has no right candidate, a score is NaN or infinite, or the rule for ties
            is none.

    Example:
        >>> first_hits(np.array([[2.0, 1.0, 3.0]]), queries=[0], candidates=[0, 0, 1]).tolist()
        [1]
    """
    scores, queries, candidates = _to_host(scores), _to_host(queries), _to_host(candidates)
    _check_ties(ties)
    expected = queries.shape + candidates.shape
    if scores.shape != expected or len(expected) != 2:
        raise ValueError(f"scores are {scores.shape}, not {expected} as queries and candidates say")
    lonely = ~np.isin(queries, candidates)
    if lonely.any():
        raise ValueError(f"query {int(lonely.argmax())} is the first of {int(lonely.sum())} without a right candidate")
    rows = max(1, BLOCK // max(1, len(candidates)))
    hits = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), rows):
        block = np.ascontiguousarray(scores[start : start + rows])
        _check_finite(np.isfinite(block), "query", start)
        right = queries[start : start + rows, None] == candidates
        own = np.where(right, block, -np.inf).max(axis=1)
        place = (right & (block == own[:, None])).argmax(axis=1)
        hits[start : start + rows] = _ahead(block, ~right, own, place, ties).sum(axis=1)
    return hits


def recall_at(hits: Any, k: int) -> float:
    """R@K: the share of queries with at least one right candidate among the K that score highest.

    Args:
        hits: [queries], how many wrong candidates stand before the first right one.
        k: how many candidates count, from 1.

    Raises:
        ValueError: there are no queries, or k is below 1.

    Example:
        >>> recall_at(np.array([0, 3, 1]), k=1), recall_at(np.array([0, 3, 1]), k=5)
        (0.3333333333333333, 1.0)
    """
    if k < 1:
        raise ValueError(f"K is {k}, and counts from 1")
    return accuracy(_to_host(hits) < k)


def class_accuracy(scores: Any, targets: Any) -> float:
    """The share of images whose class scores highest; the first of equal ones is predicted.

    Args:
        scores: [images, classes], higher is likelier.
        targets: [images], the index of each image's class.

    Raises:
        ValueError: shapes do not fit, a target is no class, a score is NaN or infinite, or there are no images.

    Example:
        >>> class_accuracy(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), targets=np.array([0, 0, 1]))
        0.6666666666666666
    """
    return accuracy(right_choices(scores, targets, "first"))


def mean_per_class(scores: Any, targets: Any) -> float:
    """The mean over classes of the share of a class's images that are told right.

    Classes without images are not counted. ELEVATER's code (00d0af7, through vision-evaluation) does not let them be
    predicted either; each of its data sets has images of all classes.

    Args:
        scores: [images, classes], higher is likelier.
        targets: [images], the index of each image's class.

    Raises:
        ValueError: shapes do not fit, a target is no class, a score is NaN or infinite, or there are no images.

    Example:
        >>> mean_per_class(np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3]]), targets=np.array([0, 0, 1]))
        0.5
    """
    return macro_accuracy(right_choices(scores, targets, "first"), targets)


def mean_average_precision(scores: Any, labels: Any) -> float:
    """The mean over classes of the precision at eleven recalls, 0, 0.1, ..., 1: the best at that recall or a higher one
    (VOC 2007).

    Equal scores are told together. As ELEVATER's code has it (00d0af7, through vision-evaluation 37491aa and
    scikit-learn), the precision at recall 0 is 1 whatever the scores, since the curve ends there; Everingham et al.
    (2010) take the best of all, so that a class is up to 1/11 lower. Classes without images are left out.

    Args:
        scores: [images, classes], higher is likelier.
        labels: [images, classes] bool, whether an image shows a class.

    Raises:
        ValueError: shapes do not fit, labels are not bool, a score is NaN or infinite, or no class has an image.

    Example:
        >>> mean_average_precision(np.array([[0.9], [0.8], [0.7]]), np.array([[False], [True], [False]]))
        0.5454545454545454
    """
    scores, labels = _to_host(scores), _to_host(labels)
    if labels.dtype != bool or labels.ndim != 2:
        raise ValueError(f"labels are [images, classes] of bool, not {labels.dtype} of shape {labels.shape}")
    if scores.shape != labels.shape:
        raise ValueError(f"scores are {scores.shape}, not {labels.shape} as labels")
    _check_finite(np.isfinite(scores), "image")
    shown = np.flatnonzero(labels.any(axis=0))
    if not len(shown):
        raise ValueError("no class has an image")
    return float(np.mean([_average_precision(scores[:, one], labels[:, one]) for one in shown]))


def roc_auc(scores: Any, targets: Any) -> float:
    """The share of couples of an image of class 1 and one of class 0 whose scores stand in that order; of equal scores
    a half: the area under the ROC curve.

    Args:
        scores: [images, 2], probabilities of classes: the second's alone are looked at, as ELEVATER's code does.
        targets: [images], 0 or 1.

    Raises:
        ValueError: shapes do not fit, a target is no class, a score is NaN or infinite, or a class has no images.

    Example:
        >>> roc_auc(np.array([[0.9, 0.1], [0.4, 0.6], [0.2, 0.8], [0.4, 0.6]]), targets=np.array([0, 0, 1, 1]))
        0.875
    """
    scores, targets = _to_host(scores), _to_host(targets)
    if scores.ndim != 2 or scores.shape[1] != 2:
        raise ValueError(f"scores are [images, 2], not {scores.shape}")
    targets = _checked_true(targets, scores)
    _check_finite(np.isfinite(scores), "image")
    lower, upper = (np.sort(scores[targets == one, 1]) for one in (0, 1))
    if not len(lower) or not len(upper):
        raise ValueError(f"there are {len(lower)} images of class 0 and {len(upper)} of class 1: the area needs both")
    below = np.searchsorted(lower, upper, side="left").sum()
    not_above = np.searchsorted(lower, upper, side="right").sum()
    return float((below + not_above) / (2 * len(lower) * len(upper)))


CLASSIFICATION: dict[str, Callable[[Any, Any], float]] = {  # as ELEVATER's settings name them
    "accuracy": class_accuracy,
    "mean-per-class": mean_per_class,
    "11point_mAP": mean_average_precision,
    "roc_auc": roc_auc,
}


def spearman(scores: Any, grades: Any) -> float:
    """Spearman's correlation of scores [pairs] with grades [pairs]: Pearson's of their ranks, of equal ones the
    mean of theirs.

    Raises:
        ValueError: there are not two pairs, one is NaN or infinite, or all scores or all grades are equal.

    Example:
        >>> spearman([0.1, 0.2, 0.9], [1.0, 5.0, 3.0])
        0.5
    """
    from scipy.stats import rankdata  # a second to import

    return pearson(*(rankdata(each) for each in _checked_pairs(scores, grades)))


def pearson(scores: Any, grades: Any) -> float:
    """Pearson's correlation of scores [pairs] with grades [pairs].

    Raises:
        ValueError: there are not two pairs, one is NaN or infinite, or all scores or all grades are equal.

    Example:
        >>> round(pearson([0.1, 0.2, 0.9], [1.0, 5.0, 3.0]), 4)
        0.1147
    """
    one, other = (each - each.mean() for each in _checked_pairs(scores, grades))
    return float(one @ other / np.sqrt((one @ one) * (other @ other)))


def _checked_pairs(scores: Any, grades: Any) -> tuple[np.ndarray, np.ndarray]:
    pairs = _to_host(scores).astype(np.float64), _to_host(grades).astype(np.float64)
    if pairs[0].ndim != 1 or pairs[0].shape != pairs[1].shape or len(pairs[0]) < 2:
        raise ValueError(f"scores and grades are [pairs] of two pairs at least, not {pairs[0].shape}, {pairs[1].shape}")
    _check_finite(np.isfinite(np.stack(pairs, axis=1)), "pair")
    for name, each in zip(("scores", "grades"), pairs, strict=True):
        if (each == each[0]).all():
            raise ValueError(f"all {name} are {each[0]:g}: nothing goes with them")
    return pairs


def _average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    """The mean precision of one class at eleven recalls."""
    order = np.argsort(-scores.astype(np.float64), kind="stable")
    ends = np.append(np.flatnonzero(np.diff(scores[order])), len(order) - 1)  # where a run of equal scores ends
    found = np.cumsum(labels[order])[ends]
    precision = found / (ends + 1)
    reached = 10 * found >= np.arange(1, 11)[:, None] * labels.sum()  # recalls of 0.1 to 1, in whole numbers
    return float((1 + np.where(reached, precision, 0).max(axis=1).sum()) / 11)


def _ahead(scores: np.ndarray, wrong: np.ndarray, own: np.ndarray, place: np.ndarray, ties: Ties) -> np.ndarray:
    """The wrong candidates [items, candidates] that stand before the right one of a row.

    Args:
        scores: [items, candidates].
        wrong: [items, candidates] bool, what there is besides right candidates.
        own: [items], the score of the right one, the best where there are several.
        place: [items], its index, the first of equals.
        ties: what equal scores mean.
    """
    own, level = own[:, None], scores == own[:, None]
    ahead = scores > own
    if ties == "strict":
        ahead |= level
    elif ties == "first":
        ahead |= level & (np.arange(scores.shape[1]) < place[:, None])
    return ahead & wrong


def _checked_choices(scores: Any, true: Any, ties: str, present: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores, indices of true candidates [items] and which candidates are present, as NumPy arrays."""
    scores, true = _to_host(scores), _to_host(true)
    _check_ties(ties)
    if scores.ndim != 2:
        raise ValueError(f"scores are [items, candidates], not {scores.shape}")
    true = _checked_true(np.broadcast_to(true, len(scores)) if true.ndim == 0 else true, scores)
    present = np.ones(scores.shape, dtype=bool) if present is None else _to_host(present)
    if present.shape != scores.shape or present.dtype != bool:
        raise ValueError(f"present is {scores.shape} of bool as scores, not {present.dtype} of shape {present.shape}")
    absent = ~present[np.arange(len(true)), true]
    if absent.any():
        raise ValueError(
            f"item {int(absent.argmax())} is the first of {int(absent.sum())} whose true candidate is not present"
        )
    alone = present.sum(axis=1) < 2
    if alone.any():
        raise ValueError(f"item {int(alone.argmax())} is the first of {int(alone.sum())} with one candidate alone")
    _check_finite(np.isfinite(scores) | ~present, "item")
    return scores, true, present


def _checked_true(true: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Indices of columns of scores, one for each row."""
    if true.ndim != 1 or (true.size and true.dtype.kind not in "iu"):
        raise ValueError(f"indices are [items] of integers, not {true.dtype} of shape {true.shape}")
    if len(true) != len(scores):
        raise ValueError(f"there are {len(true)} indices for {len(scores)} rows of scores")
    outside = (true < 0) | (true >= scores.shape[1])
    if outside.any():
        item = int(outside.argmax())
        raise ValueError(
            f"item {item} is the first of {int(outside.sum())} whose index is none: "
            f"{true[item]} is not among {scores.shape[1]}"
        )
    return true.astype(np.int64)


def _checked_right(right: Any) -> np.ndarray:
    right = _to_host(right)
    if right.ndim != 1 or right.dtype != bool:
        raise ValueError(f"right is [items] of bool, not {right.dtype} of shape {right.shape}")
    if not len(right):
        raise ValueError("there are no items, and no share of them")
    return right


def _check_finite(fine: np.ndarray, row: str, first: int = 0) -> None:
    """Raises for the first row of scores that is not fine; rows are counted from first."""
    broken = ~fine.all(axis=1)
    if broken.any():
        place = first + int(broken.argmax())
        raise ValueError(f"{row} {place} is the first of {int(broken.sum())} with scores that are NaN or infinite")


def _check_ties(ties: str) -> None:
    if ties not in get_args(Ties):
        raise ValueError(f"ties are {', '.join(get_args(Ties))}, not {ties}")


def _to_host(array: Any) -> np.ndarray:
    """A NumPy array of a tensor on any device, or of anything like an array."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() and array.element_size() < 4 else array  # no bfloat16
    return np.asarray(array)
