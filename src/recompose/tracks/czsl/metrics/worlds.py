"""The scoring of images in the closed and in the open world, and its result.

Every metric follows from the result: each image's best pairs, and in the open world its best unseen pair at every
feasibility threshold. The metrics are in ``recompose.tracks.czsl.metric_values``.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import write_atomically
from recompose.progress import bar
from recompose.tracks.arrays import to_host
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.czsl.data.worlds import EVALUATED_SPLITS, SCORED_WORLDS, World
from recompose.tracks.czsl.metrics.best import NONE, Best, Evaluator
from recompose.tracks.czsl.metrics.feasibility import LadderBuilder, ThresholdProfile

IMAGE_BLOCK = 512
PAIR_BLOCK = 4096
TOP = 5  # pairs of each test image, for figures
BEST_FIELDS = tuple(field.name for field in fields(Best))
RUNG_FIELDS = ("image", "pair", "score")


@dataclass(frozen=True)
class PairScores:
    """The result of an evaluation, from which all its metrics follow."""

    bests: dict[tuple[str, str], Best]  # of (split, "closed" or "open")
    ladders: dict[str, ThresholdProfile]  # of each split in the open world; empty without feasibility
    top: np.ndarray  # [images, TOP], the pairs of the closed world with the highest scores, of test images

    def write(self, path: Path) -> None:
        """Write a safetensors file."""
        tensors = {
            f"{split}/{world}/{name}": getattr(best, name)
            for (split, world), best in self.bests.items()
            for name in BEST_FIELDS
        }
        for split, ladder in self.ladders.items():
            tensors |= {f"{split}/ladder/{name}": getattr(ladder, name) for name in RUNG_FIELDS}
            tensors["feasibility"] = ladder.feasibility
        tensors["test/closed/top"] = self.top
        arrays = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
        write_atomically(path, lambda temporary: save_file(arrays, temporary))

    @classmethod
    def read(cls, path: Path) -> "PairScores":
        """Read a file of ``write``."""
        tensors = load_file(path)
        bests = {
            (split, world): Best(*(tensors[f"{split}/{world}/{name}"] for name in BEST_FIELDS))
            for split in EVALUATED_SPLITS
            for world in SCORED_WORLDS
        }
        top = tensors["test/closed/top"]
        if "feasibility" not in tensors:
            return cls(bests, {}, top)
        ladders = {}
        for split in EVALUATED_SPLITS:
            rungs = {name: tensors[f"{split}/ladder/{name}"] for name in RUNG_FIELDS}
            ground, feasibility = bests[split, "open"].seen_only(), tensors["feasibility"]
            ladders[split] = ThresholdProfile(ground, **rungs, feasibility=feasibility)
        return cls(bests, ladders, top)


@dataclass(frozen=True)
class ImageBlock:
    """A block of images: their positions [images] in a split, and their rows [images] in the data set."""

    split: str
    positions: np.ndarray
    rows: np.ndarray


class Top:
    """A sink that gathers the top pairs of each image from blocks of images and pairs, in any order; among equal scores
    the pair with the lowest index comes first.

    Args:
        images: their number.
        candidates: [pairs] bool, pairs that may be predicted.
        count: the number of pairs of each image.

    Example:
        >>> top = Top(images=1, candidates=np.array([True, False, True]), count=2)
        >>> top.update(np.array([[0.1, 0.9, 0.4]]), images=np.array([0]), pairs=np.arange(3))
        >>> top.pairs.tolist()
        [[2, 0]]
    """

    def __init__(self, images: int, candidates: np.ndarray, count: int) -> None:
        self.pairs = np.full((images, count), NONE)
        self.scores = np.full((images, count), -np.inf)
        self._candidates = candidates

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Take scores [block's images, block's pairs]."""
        allowed = self._candidates[pairs]
        values = np.concatenate([self.scores[images], to_host(scores)[:, allowed].astype(np.float64)], axis=1)
        held = self.pairs[images]
        fresh = np.broadcast_to(pairs[allowed], (len(images), int(allowed.sum())))
        candidates = np.concatenate([held, fresh], axis=1)
        order = np.lexsort((candidates, -values), axis=1)[:, : held.shape[1]]
        self.pairs[images] = np.take_along_axis(candidates, order, axis=1)
        self.scores[images] = np.take_along_axis(values, order, axis=1)


class WorldEvaluation:
    """The evaluation of validation and test images in the closed and in the open world, block by block, by one or
    several scorings.

    ``pairs`` are the blocks of pairs of each world, of which ``update`` takes the scores, each once for each block of
    ``images`` and each scoring.

    Args:
        data: the data set.
        feasibility: [states, objects]; None for no calibration.
        scorings: their number.
    """

    def __init__(self, data: PairData, feasibility: np.ndarray | None = None, scorings: int = 1) -> None:
        closed, everything = World.closed(data), World.open(data)
        self._rows = closed.rows
        orders = {"closed": _order(closed, None), "open": _order(everything, feasibility)}
        self._blocks = {name: _blocks(order, PAIR_BLOCK) for name, order in orders.items()}
        self.pairs: dict[str, list[list[Pair]]] = {
            world.name: [[world.pairs[pair] for pair in block] for block in self._blocks[world.name]]
            for world in (closed, everything)
        }
        self._best: list[dict[tuple[str, str], Evaluator]] = [
            {
                (split, world.name): Evaluator(world.targets[split], world.seen, world.candidates[split])
                if world is closed or feasibility is None
                else LadderBuilder(world.targets[split], world.seen, feasibility.ravel())
                for world in (closed, everything)
                for split in EVALUATED_SPLITS
            }
            for _ in range(scorings)
        ]
        self._top = [Top(len(closed.rows["test"]), closed.candidates["test"], TOP) for _ in range(scorings)]

    def images(self, title: str = "") -> Iterator[ImageBlock]:
        """Yield all images in blocks, with a progress report of this title."""
        blocks = [
            ImageBlock(split, positions, rows[positions])
            for split, rows in self._rows.items()
            for positions in _blocks(np.arange(len(rows)), IMAGE_BLOCK)
        ]
        label = f"{title}: closed and open world" if title else "closed and open world"
        yield from bar(blocks, label, "blocks of images")

    def update(self, images: ImageBlock, world: str, block: int, scores: Any, scoring: int = 0) -> None:
        """Take the scores [images, pairs], on any device, of images and the pairs of a world's block."""
        pairs = self._blocks[world][block]
        self._best[scoring][images.split, world].update(scores, images.positions, pairs)
        if (images.split, world) == ("test", "closed"):
            self._top[scoring].update(scores, images.positions, pairs)

    def result(self, scoring: int = 0) -> PairScores:
        """Return the result of a scoring."""
        gathered = self._best[scoring]
        bests = {place: evaluator.best() for place, evaluator in gathered.items()}
        ladders = {split: each.ladder() for (split, _), each in gathered.items() if isinstance(each, LadderBuilder)}
        return PairScores(bests, ladders, self._top[scoring].pairs)


def _order(world: World, feasibility: np.ndarray | None) -> np.ndarray:
    """Return the order [pairs] of a world's pairs: seen ones first, so that columns of one kind are adjacent and need
    no copy; then the most feasible.
    """
    infeasibility = np.zeros(len(world.seen)) if feasibility is None else -feasibility.ravel()
    return np.lexsort((infeasibility, ~world.seen))


def _blocks(positions: np.ndarray, size: int) -> list[np.ndarray]:
    return [positions[start : start + size] for start in range(0, len(positions), size)]


def score_worlds(
    data: PairData,
    score: Callable[[np.ndarray, list[Pair]], Any],
    feasibility: np.ndarray | None = None,
    title: str = "",
) -> PairScores:
    """Score validation and test images in the closed and in the open world by a function.

    Args:
        data: the data set.
        score: from the rows [images] of images in the data set, and pairs, to scores [images, pairs].
        feasibility: [states, objects]; None for no calibration.
        title: the title of progress reports.

    Example:
        >>> from recompose.tracks.czsl.data.pairs import Sample
        >>> pairs = {"train": [("red", "cat")], "val": [("red", "dog")], "test": [("blue", "dog")]}
        >>> samples = [Sample("0.png", "red", "cat", "train"), Sample("1.png", "red", "dog", "val")]
        >>> data = PairData(pairs, [*samples, Sample("2.png", "blue", "dog", "test")])
        >>> likes_dogs = lambda rows, pairs: np.array([[float(o == "dog") for _, o in pairs]] * len(rows))
        >>> best = score_worlds(data, likes_dogs).bests["test", "open"]
        >>> best.seen_score.tolist(), best.unseen_score.tolist(), best.unseen_right.tolist()
        ([0.0], [1.0], [True])
    """
    evaluation = WorldEvaluation(data, feasibility)
    for images in evaluation.images(title):
        for world, blocks in evaluation.pairs.items():
            for block, pairs in enumerate(blocks):
                evaluation.update(images, world, block, score(images.rows, pairs))
    return evaluation.result()
