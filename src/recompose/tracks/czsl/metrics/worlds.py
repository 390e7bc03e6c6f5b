"""The scoring of images in the closed and in the open world, and its result.

Every metric follows from the result: each image's best pairs, and in the open world its best unseen pair at every
feasibility threshold. The metrics are in ``recompose.tracks.czsl.metric_values``.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import write_atomically
from recompose.progress import bar
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.czsl.data.worlds import EVALUATED_SPLITS, SCORED_WORLDS, World
from recompose.tracks.czsl.metrics.best import Best, Evaluator
from recompose.tracks.czsl.metrics.feasibility import LadderBuilder, ThresholdProfile
from recompose.tracks.czsl.metrics.top import Top

FILE = "scores.safetensors"
IMAGE_BLOCK = 512
PAIR_BLOCK = 4096
TOP = 5  # pairs of each test image, for figures
BEST_FIELDS = tuple(field.name for field in fields(Best))
RUNG_FIELDS = ("image", "pair", "score")

Blocks = list[list[Pair]]
# from the blocks of pairs of each world, "closed" and "open", once; then from the images at these rows of the data set
# to the parts of their scores in each block of each world: mostly the scores, [images, pairs], on any device
Scorer = Callable[[Mapping[str, Blocks]], Callable[[np.ndarray], Mapping[str, Iterable[Any]]]]
Fusion = Callable[[Any], Any]  # from the parts of a block's scores to the scores
Watch = Callable[
    [int], AbstractContextManager[object]
]  # a context for the work that serves only the fusion at this position
# a scorer of one world
WorldScorer = Callable[[Blocks, str], Callable[[np.ndarray], Iterable[Any]]]


def world_by_world(scorer: WorldScorer) -> Scorer:
    """Return a scorer of both worlds from a scorer of one world; the worlds share no work."""

    def score_both(worlds: Mapping[str, Blocks]) -> Callable[[np.ndarray], Mapping[str, Iterable[Any]]]:
        scores = {world: scorer(blocks, world) for world, blocks in worlds.items()}
        return lambda rows: {world: of_world(rows) for world, of_world in scores.items()}

    return score_both


class Sink(Protocol):
    """A receiver of blocks of scores."""

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Take scores [block's images, block's pairs] of these images of a split and these pairs of a world."""


@dataclass(frozen=True)
class SinkPair:
    """Two sinks for the same blocks."""

    first: Sink
    second: Sink

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Feed both sinks."""
        self.first.update(scores, images, pairs)
        self.second.update(scores, images, pairs)


@dataclass(frozen=True)
class Feed:
    """A world, the sinks of its scores, for each fusion by split, and the order [pairs] of its pairs."""

    world: World
    sinks: Sequence[Mapping[str, Sink]]
    order: np.ndarray


def feed(
    feeds: Iterable[Feed], scorer: Scorer, fusions: Sequence[Fusion], title: str = "", watch: Watch = nullcontext
) -> None:
    """Feed sinks with the scores of all images and pairs, block by block, in one pass over the images for all worlds
    and fusions.
    """
    in_blocks = [(world_feed, _blocks(world_feed.order, PAIR_BLOCK)) for world_feed in feeds]
    score = scorer(
        {
            world_feed.world.name: [[world_feed.world.pairs[pair] for pair in block] for block in world_blocks]
            for world_feed, world_blocks in in_blocks
        }
    )
    rows = in_blocks[0][0].world.rows  # all worlds have the same rows
    image_blocks = [(split, block) for split in rows for block in _blocks(np.arange(len(rows[split])), IMAGE_BLOCK)]
    label = f"{title}: closed and open world" if title else "closed and open world"
    for split, images in bar(image_blocks, label, "blocks of images"):
        world_parts = score(rows[split][images])
        for world_feed, world_blocks in in_blocks:
            for pairs, parts in zip(world_blocks, world_parts[world_feed.world.name], strict=True):
                for position, (fuse, sinks) in enumerate(zip(fusions, world_feed.sinks, strict=True)):
                    with watch(position):
                        sinks[split].update(fuse(parts), images, pairs)


def _blocks(positions: np.ndarray, size: int) -> list[np.ndarray]:
    return [positions[start : start + size] for start in range(0, len(positions), size)]


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
        rungs = {split: {name: tensors[f"{split}/ladder/{name}"] for name in RUNG_FIELDS} for split in EVALUATED_SPLITS}
        return cls(
            bests,
            {
                split: ThresholdProfile(
                    bests[split, "open"].seen_only(), **rungs[split], feasibility=tensors["feasibility"]
                )
                for split in EVALUATED_SPLITS
            },
            top,
        )


def score_worlds(data: PairData, scorer: Scorer, feasibility: np.ndarray | None = None, title: str = "") -> PairScores:
    """Score validation and test images in the closed and in the open world.

    Args:
        data: the data set.
        scorer: the method.
        feasibility: [states, objects]; None for no calibration.
        title: the title of progress reports.

    Example:
        >>> from recompose.tracks.czsl.data.pairs import Sample
        >>> pairs = {"train": [("red", "cat")], "val": [("red", "dog")], "test": [("blue", "dog")]}
        >>> samples = [Sample("0.png", "red", "cat", "train"), Sample("1.png", "red", "dog", "val")]
        >>> data = PairData(pairs, [*samples, Sample("2.png", "blue", "dog", "test")])
        >>> def likes_dogs(blocks, world):
        ...     return lambda rows: [np.array([[float(o == "dog") for _, o in block]] * len(rows)) for block in blocks]
        >>> best = score_worlds(data, world_by_world(likes_dogs)).bests["test", "open"]
        >>> best.seen_score.tolist(), best.unseen_score.tolist(), best.unseen_right.tolist()
        ([0.0], [1.0], [True])
    """
    (scores,) = score_worlds_by(data, scorer, [_identity], feasibility, title)
    return scores


def _identity(scores: Any) -> Any:
    return scores


def score_worlds_by(
    data: PairData,
    scorer: Scorer,
    fusions: Sequence[Fusion],
    feasibility: np.ndarray | None = None,
    title: str = "",
    watch: Watch = nullcontext,
) -> list[PairScores]:
    """Score in one pass with several fusions of the scorer's parts.

    Args:
        fusions: functions from parts to scores.
        watch: a context for the work that serves only the fusion at a position.
    """
    closed, everything = World.closed(data), World.open(data)
    sinks = [_FusionSinks(closed, everything, feasibility) for _ in fusions]
    # seen pairs first: columns of one kind are then adjacent and need no copy
    in_closed = Feed(
        closed, [gathered_scores.closed for gathered_scores in sinks], np.argsort(~closed.seen, kind="stable")
    )
    if feasibility is None:
        order = np.argsort(~everything.seen, kind="stable")
    else:
        order = np.lexsort((-feasibility.ravel(), ~everything.seen))
    feed(
        [in_closed, Feed(everything, [gathered_scores.open for gathered_scores in sinks], order)],
        scorer,
        fusions,
        title,
        watch,
    )
    return [gathered_scores.scores() for gathered_scores in sinks]


class _FusionSinks:
    """The sinks of one fusion: ``closed`` and ``open``, each by split."""

    def __init__(self, closed: World, everything: World, feasibility: np.ndarray | None) -> None:
        self._evaluators = {split: _evaluator(closed, split) for split in EVALUATED_SPLITS}
        self._top = Top(len(closed.rows["test"]), closed.candidates["test"], TOP)
        self.closed: Mapping[str, Sink] = self._evaluators | {"test": SinkPair(self._evaluators["test"], self._top)}
        self.open: dict[str, Evaluator | LadderBuilder] = {
            split: _evaluator(everything, split)
            if feasibility is None
            else LadderBuilder(everything.targets[split], everything.seen, feasibility.ravel())
            for split in EVALUATED_SPLITS
        }

    def scores(self) -> PairScores:
        """Return the gathered scores."""
        bests = {
            (split, world): builder.best()
            for world, of_splits in (("closed", self._evaluators), ("open", self.open))
            for split, builder in of_splits.items()
        }
        ladders = {
            split: builder.ladder() for split, builder in self.open.items() if isinstance(builder, LadderBuilder)
        }
        return PairScores(bests, ladders, self._top.pairs)


def _evaluator(world: World, split: str) -> Evaluator:
    return Evaluator(world.targets[split], world.seen, world.candidates[split])
