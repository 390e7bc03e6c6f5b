"""A data set's splits in the closed and the open world: which pairs can be answers, and how a method is put to the test."""

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.data.pairs import Pair, PairData
from recompose.metrics.czsl import Best, best_pairs, curve, report

WORLDS = ("closed", "open")
TESTED = ("val", "test")
IMAGE_BLOCK = 512
PAIR_BLOCK = 4096

# texts of a block of pairs, once; then the scores [images, pairs] of the images at these rows of the data set
Scorer = Callable[[list[Pair]], Callable[[np.ndarray], np.ndarray]]


@dataclass(frozen=True)
class World:
    """The images of a split and the pairs that they are told from."""

    rows: np.ndarray  # [images], positions in the data set
    pairs: list[Pair]
    targets: np.ndarray  # [images], indices in pairs
    seen: np.ndarray  # [pairs] bool
    candidates: np.ndarray  # [pairs] bool

    @classmethod
    def of(cls, data: PairData, split: str, name: str) -> "World":
        """The closed world: pairs of training and of this split. The open world: every state with every object."""
        pairs = data.pairs if name == "closed" else data.all_pairs
        candidates = data.closed_world(split) if name == "closed" else np.ones(len(pairs), dtype=bool)
        return cls(data.rows(split), pairs, data.targets(split, pairs), data.is_seen(pairs), candidates)

    def block(self, scores: np.ndarray, images: slice | np.ndarray, pairs: slice) -> Best:
        """The best pairs of some images (positions in the split) among some pairs, from their scores [images, pairs]."""
        targets = self.targets[images]
        within = (targets >= pairs.start) & (targets < pairs.stop)
        return best_pairs(
            scores,
            np.where(within, targets - pairs.start, -1),
            self.seen[targets],
            self.seen[pairs],
            self.candidates[pairs],
        )


def _blocks(length: int, size: int) -> Iterator[slice]:
    return (slice(start, min(start + size, length)) for start in range(0, length, size))


def joined(parts: list[Best]) -> Best:
    """The images of several parts, one after another."""
    return Best(*(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Best)))


def best_of_world(world: World, scorer: Scorer) -> Best:
    """Each image's best pairs, computed block by block: never all scores at once."""
    best: Best | None = None
    for pairs in _blocks(len(world.pairs), PAIR_BLOCK):
        score = scorer(world.pairs[pairs])
        images = _blocks(len(world.rows), IMAGE_BLOCK)
        found = joined([world.block(score(world.rows[block]), block, pairs) for block in images])
        best = found if best is None else best.merge(found)
    assert best is not None
    return best


def evaluate(data: PairData, scorer: Scorer, folder: Path) -> None:
    """Test a method on validation and test images in both worlds; writes ``scores.safetensors``.

    It holds each image's best pairs, from which ``measured`` computes every number.
    """
    bests = {
        f"{split}/{world}": best_of_world(World.of(data, split, world), scorer) for split in TESTED for world in WORLDS
    }
    tensors = {
        f"{key}/{field.name}": np.ascontiguousarray(getattr(best, field.name))
        for key, best in bests.items()
        for field in fields(Best)
    }
    save_file(tensors, folder / "scores.safetensors")


def read_bests(path: Path) -> dict[str, Best]:
    """What ``evaluate`` wrote: the best pairs under ``<split>/<world>``."""
    tensors = load_file(path)
    return {
        f"{split}/{world}": Best(*(tensors[f"{split}/{world}/{field.name}"] for field in fields(Best)))
        for split in TESTED
        for world in WORLDS
    }


def measured(bests: dict[str, Best]) -> dict[str, Any]:
    """The numbers of each split and world, as fractions."""
    return {key: asdict(report(curve(best))) for key, best in bests.items()}
