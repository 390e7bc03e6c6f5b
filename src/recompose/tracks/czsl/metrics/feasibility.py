"""Feasibility calibration of the open world: the feasibility of each pair, and the best pairs at every threshold.

Most combinations of a state and an object make no sense. A pair's feasibility measures how close its state and its
object are to those that training showed together; unseen pairs below a threshold are excluded, and the threshold is the
one with the best AUC on validation.

As the threshold falls, pairs are admitted, and an image's best unseen pair can only get better: a ladder of few rungs,
about the logarithm of the number of pairs. The ladders of all images contain the result at every threshold, so one pass
over the scores suffices.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from recompose.errors import ArgumentError
from recompose.tracks.arrays import to_host
from recompose.tracks.czsl.metrics.best import Best, Evaluator


def feasibility(states: np.ndarray, objects: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """Return the feasibility of each state with each object [states, objects], from -1 to 1; 1 if training showed the
    pair.

    NaN for a zero vector, which has no direction.

    It is the mean of two cosines: of the object and the nearest object seen with the state, and of the state and the
    nearest state seen with the object; -1 in place of one that does not exist (as in CSP at 660fcff, which takes GloVe
    vectors).

    Args:
        states: vectors [states, D], of words or of texts.
        objects: vectors [objects, D].
        seen: [states, objects] bool, the pairs of training.

    Example:
        >>> vectors = np.array([[1.0, 0.0], [0.0, 1.0]])
        >>> feasibility(vectors, vectors, seen=np.array([[True, False], [False, True]])).tolist()
        [[1.0, 0.0], [0.0, 1.0]]
    """
    of_objects = _nearest(_cosines(objects), seen)
    of_states = _nearest(_cosines(states), seen.T).T
    return (of_objects + of_states) / 2


def _cosines(vectors: np.ndarray) -> np.ndarray:
    unit = vectors.astype(np.float64)
    unit /= np.linalg.norm(unit, axis=1, keepdims=True)
    return unit @ unit.T


def _nearest(cosines: np.ndarray, partners: np.ndarray) -> np.ndarray:
    """Return the largest cosine [rows, names] between a name and the partners [rows, names] bool of a row."""
    return np.stack([cosines[:, row].max(axis=1, initial=-1.0) for row in partners])


@dataclass(frozen=True)
class ThresholdProfile:
    """Each image's best unseen pair at every threshold of feasibility.

    A rung is a pair that beats all those that are at least as feasible; rungs are in the order in which a falling
    threshold admits them.
    """

    ground: Best  # without any unseen pair
    image: np.ndarray  # [rungs], the image's position
    pair: np.ndarray  # [rungs]
    score: np.ndarray  # [rungs], float64
    feasibility: np.ndarray  # [pairs]; NaN for seen pairs, which no threshold excludes

    @property
    def thresholds(self) -> np.ndarray:
        """Every threshold that can make a difference, rising: the distinct feasibilities of unseen pairs."""
        return np.unique(self.feasibility[~np.isnan(self.feasibility)])

    def at(self, threshold: float) -> Best:
        """Return each image's best pairs without the unseen pairs below the threshold."""
        rungs = slice(0, np.searchsorted(-self.feasibility[self.pair], -threshold, side="right"))
        score, pair = self.ground.unseen_score.copy(), self.ground.unseen_pair.copy()
        score[self.image[rungs]] = self.score[rungs]  # of an image's rungs the last one stays
        pair[self.image[rungs]] = self.pair[rungs]
        return replace(self.ground, unseen_score=score, unseen_pair=pair)


class LadderBuilder(Evaluator):
    """An evaluator that also builds ladders. Unseen pairs have to come in the order of falling feasibility, images in
    any order.

    Args:
        targets: [images], the index of each image's true pair.
        seen: [pairs] bool, the pairs of training.
        feasibility: [pairs]; those of seen pairs are ignored.

    Raises:
        ArgumentError: an unseen pair's feasibility is NaN, or a target is not a pair.

    Example:
        >>> seen, feasibility = np.array([True, False, False]), np.array([0.0, 0.2, 0.8])
        >>> builder = LadderBuilder(np.array([1]), seen=seen, feasibility=feasibility)
        >>> builder.update(np.array([[0.5, 0.6, 0.9]]), pairs=np.array([0, 2, 1]))
        >>> ladder = builder.ladder()
        >>> ladder.thresholds.tolist()
        [0.2, 0.8]
        >>> [ladder.at(threshold).unseen_pair.tolist() for threshold in (0.9, 0.8, 0.2)]
        [[-1], [2], [1]]
    """

    def __init__(self, targets: Any, seen: np.ndarray, feasibility: np.ndarray) -> None:
        super().__init__(targets, seen)
        self._feasibility = np.where(seen, np.nan, feasibility)
        undefined = ~seen & np.isnan(feasibility)
        if undefined.any():
            place = f"feasibility[{int(undefined.argmax())}]"
            raise ArgumentError(place, "is NaN, and the pair is unseen", code="not-finite")
        self._lowest = np.full(len(targets), np.inf)  # the feasibility of each image's last unseen pair so far
        self._fed = np.zeros(len(targets), dtype=np.int64)  # and the number of them
        self._climbs: list[tuple[np.ndarray, ...]] = [(np.empty(0, np.int64), np.empty(0, np.int64), np.empty(0))]

    def _take(self, kind: bool, scores: Any, images: Any, pairs: Any) -> None:
        """Take the scores [images, pairs] of one kind of pairs; of unseen ones also the entries that beat all before
        them.

        Chunks are as long as all that came before; each then has about one rung per image.

        Raises:
            ArgumentError: unseen pairs do not come in the order of falling feasibility.
        """
        if kind:
            super()._take(kind, scores, images, pairs)
            return
        rows, falling = to_host(images), self._feasibility[to_host(pairs)]
        if (np.diff(falling) > 0).any() or falling[0] > self._lowest[rows].min():
            raise ArgumentError("pairs", "have to come in the order of falling feasibility", code="wrong-order")
        start = 0
        while start < len(falling):
            stop = start + max(1, start, int(self._fed[rows].min()))
            self._climbs.append(self._running[kind].climb(scores[:, start:stop], images, pairs[start:stop]))
            start = stop
        self._lowest[rows] = falling[-1]
        self._fed[rows] += len(falling)

    def ladder(self) -> ThresholdProfile:
        """Return the ladders of all images."""
        image, pair, score = map(np.concatenate, zip(*self._climbs, strict=True))
        by_image = np.argsort(image, kind="stable")  # stable: an image's entries stay in their order
        rungs = by_image[_rising(image[by_image], score[by_image], pair[by_image])]
        rungs = rungs[np.argsort(-self._feasibility[pair[rungs]], kind="stable")]
        return ThresholdProfile(self.best().seen_only(), image[rungs], pair[rungs], score[rungs], self._feasibility)


def _rising(image: np.ndarray, score: np.ndarray, pair: np.ndarray) -> np.ndarray:
    """Return which entries [entries] beat all earlier ones of the same image: a higher score, or an equal one of a
    lower pair.
    """
    rank = np.empty(len(image), dtype=np.int64)
    rank[np.lexsort((-pair, score))] = np.arange(len(image))
    rank += image * len(image)  # each image begins above the one before
    highest = np.maximum.accumulate(rank)
    return np.append(True, rank[1:] > highest[:-1])[: len(rank)]
