"""Ranks of right candidates among wrong ones, and the rules for ties.

Scores of retrieval are ranks, so evaluations depend on this module; they do not depend on the metrics of scores. Ties
are frequent where captions are equal (order tasks, COCO's duplicates) or scores have half precision, and suites treat
them differently:

- ``strict``: the true candidate must score higher than all others, as in Winoground, EqBen, SugarCrepe and ComVG, whose
  code compares with ">". Argmax, which takes the first of equals, does the same if the true candidate is last: ARO's
  relations and attributes.
- ``lenient``: no other candidate may score higher. Argmax and a stable sort do this if the true candidate is first:
  ARO's order tasks, CREPE and WhatsUp.
- ``first``: the first candidate among equals is chosen, wherever the true one is: argmax in the order of the file, as
  in SPEC and in classification.

Scores, indices and flags are NumPy arrays, or torch tensors on any device, of any precision: scores are compared, never
added. This module does not import torch. Shapes that do not fit, scores that are NaN or infinite, and unknown rules for
ties are errors everywhere (ArgumentError).
"""

from typing import Any, Literal, get_args

import numpy as np

from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape, to_host

Ties = Literal["strict", "lenient", "first"]
BLOCK = 1 << 23  # pairs of a query and a candidate compared at a time, so that masks stay small


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
    scores, queries, candidates = to_host(scores), to_host(queries), to_host(candidates)
    check_ties(ties)
    expected = queries.shape + candidates.shape
    fits = scores.shape == expected and len(expected) == 2
    check_shape("scores", scores, fits, f"{expected} as queries and candidates")
    unmatched = ~np.isin(queries, candidates)
    if unmatched.any():
        raise item_error("candidates", "query", unmatched, "without a right one")
    rows = max(1, BLOCK // max(1, len(candidates)))
    hits = np.empty(len(queries), dtype=np.int64)
    for start in range(0, len(queries), rows):
        block = np.ascontiguousarray(scores[start : start + rows])
        check_finite(np.isfinite(block), "query", start)
        right = queries[start : start + rows, None] == candidates
        best = np.where(right, block, -np.inf).max(axis=1)
        place = (right & (block == best[:, None])).argmax(axis=1)
        hits[start : start + rows] = ahead(block, ~right, best, place, ties).sum(axis=1)
    return hits


def ahead(scores: np.ndarray, wrong: np.ndarray, best: np.ndarray, place: np.ndarray, ties: Ties) -> np.ndarray:
    """Return the wrong candidates [items, candidates] that precede the right one of a row.

    Args:
        scores: [items, candidates].
        wrong: [items, candidates] bool, the wrong candidates that are present.
        best: [items], the best score of right candidates.
        place: [items], its index, the first of equals.
        ties: the rule for ties.
    """
    before, equal = scores > best[:, None], scores == best[:, None]
    if ties == "strict":
        before |= equal
    elif ties == "first":
        before |= equal & (np.arange(scores.shape[1]) < place[:, None])
    return before & wrong


def check_finite(fine: np.ndarray, row: str, first: int = 0) -> None:
    """Raise for the first row of scores that is not finite; rows are counted from ``first``."""
    broken = ~fine.all(axis=1)
    if broken.any():
        raise item_error("scores", row, broken, "with scores that are NaN or infinite", first)


def item_error(argument: str, row: str, wrong: Any, fault: str, first: int = 0) -> ArgumentError:
    """Return the error of the first of the wrong items of an argument."""
    return ArgumentError(
        argument, f"are wrong: {row} {first + int(wrong.argmax())} is the first of {int(wrong.sum())} {fault}"
    )


def check_ties(ties: str) -> None:
    """Raise an ArgumentError for an unknown rule."""
    if ties not in get_args(Ties):
        raise ArgumentError("ties", f"are {ties}, not one of {', '.join(get_args(Ties))}")
