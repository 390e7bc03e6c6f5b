"""The best seen and the best unseen pair of each image, gathered from blocks of scores.

Accuracies under any calibration bias need only these pairs, and they can be gathered block by block, however many pairs
there are.

Ties are broken once, for every sweep and in any order of blocks: among equal scores of its kind the pair with the
lowest index wins, and between the best seen and the best unseen pair the seen one does.

Scores are torch tensors, on any device, or NumPy arrays: they are reduced on their device, through the array API
standard, and only a few numbers per image leave it. Nothing here imports torch.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from array_api_compat import array_namespace, device

from recompose.errors import ArgumentError
from recompose.tracks.arrays import check_shape, to_host

NONE = -1  # the index of an absent pair


@dataclass(frozen=True)
class Best:
    """The best seen and the best unseen pair of each image [images], as NumPy arrays."""

    seen_score: np.ndarray  # float64, -inf if no seen pair is a candidate
    seen_pair: np.ndarray  # int64, -1 if there is none
    unseen_score: np.ndarray
    unseen_pair: np.ndarray
    target: np.ndarray  # int64, the true pair
    is_seen: np.ndarray  # bool, whether the true pair is a seen one

    @property
    def seen_right(self) -> np.ndarray:
        """The images whose best seen pair is the true one, as a mask [images]."""
        return self.seen_pair == self.target

    @property
    def unseen_right(self) -> np.ndarray:
        """The images whose best unseen pair is the true one, as a mask [images]."""
        return self.unseen_pair == self.target

    @property
    def switch_bias(self) -> np.ndarray:
        """The calibration bias [images] above which the unseen pair is predicted; +inf without an unseen pair, -inf
        without a seen one.

        Raises:
            ArgumentError: an image has neither pair.
        """
        empty = (self.seen_pair == NONE) & (self.unseen_pair == NONE)
        if empty.any():
            place, fault = f"scores[{int(empty.argmax())}]", f"are missing, the first of {int(empty.sum())} images"
            raise ArgumentError(place, fault, code="no-score")
        return self.seen_score - self.unseen_score

    def predictions(self, bias: float) -> np.ndarray:
        """Return the predicted pair [images] at a calibration bias."""
        return np.where(self.switch_bias < bias, self.unseen_pair, self.seen_pair)

    def seen_only(self) -> "Best":
        """Return the best pairs without any unseen candidate."""
        nothing = np.full(len(self.target), -np.inf), np.full(len(self.target), NONE)
        return replace(self, unseen_score=nothing[0], unseen_pair=nothing[1])

    def merge(self, other: "Best") -> "Best":
        """Return the best of two sets of blocks, for the same images."""
        better: dict[str, np.ndarray] = {}
        for kind in ("seen", "unseen"):
            mine, theirs = getattr(self, f"{kind}_score"), getattr(other, f"{kind}_score")
            my_pair, their_pair = getattr(self, f"{kind}_pair"), getattr(other, f"{kind}_pair")
            take = (theirs > mine) | ((theirs == mine) & (their_pair < my_pair))
            better[f"{kind}_score"] = np.where(take, theirs, mine)
            better[f"{kind}_pair"] = np.where(take, their_pair, my_pair)
        return replace(self, **better)


class RunningBest:
    """The best pair of each image among the scores so far; its arrays are on the device of the scores.

    Args:
        images: their number.
        like: scores, or anything else of their array library on their device.
    """

    def __init__(self, images: int, like: Any) -> None:
        xp = array_namespace(like)
        self.score = xp.full((images,), -np.inf, dtype=xp.float64, device=device(like))
        self.pair = xp.full((images,), NONE, dtype=xp.int64, device=device(like))

    def take(self, scores: Any, images: Any, pairs: Any) -> None:
        """Take the better of the current scores and these scores [images, pairs], all on one device."""
        self._keep(*self._contenders(scores, images), pairs)

    def climb(self, scores: Any, images: Any, pairs: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Take scores, and return all entries that beat the scores before them: their images, pairs and scores
        [entries].
        """
        xp = array_namespace(scores)
        scores, images, top = self._contenders(scores, images)
        held, held_pair = xp.take(self.score, images)[:, None], xp.take(self.pair, images)[:, None]
        row, column = xp.nonzero((scores > held) | ((scores == held) & (pairs[None, :] < held_pair)))
        entries = xp.take(images, row), xp.take(pairs, column), xp.astype(scores[row, column], xp.float64)
        self._keep(scores, images, top, pairs)
        return to_host(entries[0]), to_host(entries[1]), to_host(entries[2])

    def _contenders(self, scores: Any, images: Any) -> tuple[Any, Any, Any]:
        """Return the rows whose best score reaches the current one, their images and these scores; most blocks have
        few.
        """
        xp = array_namespace(scores)
        top = xp.max(scores, axis=1)
        rows = xp.nonzero(top >= xp.take(self.score, images))[0]
        return xp.take(scores, rows, axis=0), xp.take(images, rows), xp.take(top, rows)

    def _keep(self, scores: Any, images: Any, top: Any, pairs: Any) -> None:
        """Store the best of contenders' scores, and of equal ones the pair with the lowest index."""
        if not images.shape[0]:
            return
        xp = array_namespace(scores)
        winner = xp.min(xp.where(scores == top[:, None], pairs[None, :], np.iinfo(np.int64).max), axis=1)
        top, old_pair = xp.astype(top, xp.float64), xp.take(self.pair, images)
        better = (top > xp.take(self.score, images)) | (winner < old_pair)
        self.score[images] = top
        self.pair[images] = xp.where(better, winner, old_pair)


class Evaluator:
    """An evaluator that gathers each image's best pairs from blocks of scores, in any order, without a whole matrix of
    scores in memory.

    Args:
        targets: [images], the index of each image's true pair.
        seen: [pairs] bool, the pairs of training.
        candidates: [pairs] bool, pairs that may be predicted; by default all.

    Example:
        >>> evaluator = Evaluator(targets=np.array([0, 2]), seen=np.array([True, True, False]))
        >>> evaluator.update(np.array([[0.9], [0.3]]), pairs=np.array([2]))
        >>> evaluator.update(np.array([[1.0, 0.2], [0.4, 0.1]]), pairs=np.array([0, 1]))
        >>> evaluator.best().switch_bias.round(2).tolist()
        [0.1, 0.1]
    """

    def __init__(self, targets: np.ndarray, seen: np.ndarray, candidates: np.ndarray | None = None) -> None:
        self._targets, self._seen = targets, seen
        self._candidates = np.ones_like(seen) if candidates is None else candidates
        self._running: dict[bool, RunningBest] = {}  # of seen and of unseen pairs, once there are scores

    def update(self, scores: Any, images: Any | None = None, pairs: np.ndarray | None = None) -> None:
        """Take a block of scores [block's images, block's pairs], higher is likelier.

        Args:
            scores: floating point of any width; those of other pairs than candidates are ignored.
            images: [block's images], their positions, each once; by default all in order.
            pairs: [block's pairs], their indices; by default all in order.

        Raises:
            ArgumentError: the shapes do not fit, or a candidate's score is NaN or infinite; the message names the first
                such image.
        """
        images = np.arange(len(self._targets)) if images is None else to_host(images)
        pairs = np.arange(len(self._seen)) if pairs is None else pairs
        expected = (len(images), len(pairs))
        check_shape("scores", scores, tuple(scores.shape) == expected, f"{expected} as images and pairs require")
        if not len(images):
            return
        scores = scores.detach() if hasattr(scores, "detach") else scores
        _check_finite(scores, images, np.flatnonzero(self._candidates[pairs]))
        xp, where = array_namespace(scores), device(scores)
        self._running = self._running or {kind: RunningBest(len(self._targets), scores) for kind in (True, False)}
        rows = xp.asarray(images, device=where)
        for kind in (True, False):
            columns = np.flatnonzero(self._candidates[pairs] & (self._seen[pairs] == kind))
            if len(columns):
                self._take(kind, _columns(scores, columns), rows, xp.asarray(pairs[columns], device=where))

    def _take(self, kind: bool, scores: Any, images: Any, pairs: Any) -> None:
        """Take the scores [images, pairs] of one kind of pairs."""
        self._running[kind].take(scores, images, pairs)

    def best(self) -> Best:
        """Return the best pairs so far; an image without scores has none."""
        bests: dict[str, np.ndarray] = {}
        for name, kind in (("seen", True), ("unseen", False)):
            running = self._running.get(kind) or RunningBest(len(self._targets), np.empty(0))
            bests[f"{name}_score"] = to_host(running.score).copy()
            bests[f"{name}_pair"] = to_host(running.pair).copy()
        return Best(**bests, target=self._targets, is_seen=self._seen[self._targets])


def _check_finite(scores: Any, images: np.ndarray, columns: np.ndarray) -> None:
    """Check that the scores [images, pairs] at these columns are finite.

    Raises:
        ArgumentError: some are NaN or infinite; the message names the first such image.
    """
    xp = array_namespace(scores)
    with np.errstate(over="ignore", invalid="ignore"):
        if bool(xp.all(xp.isfinite(xp.sum(scores, axis=1)))):
            return  # a sum with NaN or infinity in it is never finite; this is the fastest test
    wrong = to_host(~xp.all(xp.isfinite(_columns(scores, columns)), axis=1))
    if wrong.any():
        first = int(images[wrong].min())
        fault = f"are NaN or infinite, the first of {int(wrong.sum())} images"
        raise ArgumentError(f"scores[{first}]", fault, code="not-finite")


def _columns(scores: Any, columns: np.ndarray) -> Any:
    """Return these columns of scores, without a copy if they are adjacent."""
    if len(columns) and columns[-1] - columns[0] + 1 == len(columns):
        return scores[:, int(columns[0]) : int(columns[-1]) + 1]
    xp = array_namespace(scores)
    return xp.take(scores, xp.asarray(columns, device=device(scores)), axis=1)
