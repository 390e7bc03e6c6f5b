"""A data set's validation and test images in the closed and the open world, and how a method is put to the test in them.

What is kept of a test is what every number follows from: each image's best pairs, and in the open world its best unseen pair at
every threshold of feasibility.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.progress import bar
from recompose.tracks.czsl.data.pairs import Pair, PairData
from recompose.tracks.czsl.metrics.czsl import SWEEPS, Best, Evaluator, harmonic_means, report_of
from recompose.tracks.czsl.metrics.feasibility import (
    Ladder,
    LadderBuilder,
    as_released,
    best_threshold,
    released_threshold,
)
from recompose.tracks.czsl.metrics.groups import frequency_groups, group_accuracies
from recompose.tracks.czsl.metrics.top import Top

FILE = "scores.safetensors"
WORLDS = (
    "closed",  # the pairs of training and of the split
    "open",  # every state with every object
    "feasible",  # of these the seen and the feasible ones, by the threshold with the best AUC on validation
    "feasible-released",  # the same as the released code does it, defects included
)
TESTED = ("val", "test")
IMAGE_BLOCK = 512
PAIR_BLOCK = 4096
TOP = 5  # pairs that are kept of each test image, for figures
BEST = tuple(field.name for field in fields(Best))
RUNG = ("image", "pair", "score")
NUMBERS = ("seen", "unseen", "harmonic_mean", "auc")

# for the blocks of pairs of a world, "closed" or "open", once; then, for the images at these rows of the data set, their scores [images, pairs] in
# each block, on any device
Scorer = Callable[[list[list[Pair]], str], Callable[[np.ndarray], Iterable[Any]]]


class Sink(Protocol):
    """What gathers blocks of scores."""

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Take scores [block's images, block's pairs] of these images of a split and these pairs of a world."""


@dataclass(frozen=True)
class Both:
    """Two sinks for the same blocks."""

    first: Sink
    second: Sink

    def update(self, scores: Any, images: np.ndarray, pairs: np.ndarray) -> None:
        """Feed both."""
        self.first.update(scores, images, pairs)
        self.second.update(scores, images, pairs)


@dataclass(frozen=True)
class World:
    """The pairs that images are told from, and the images of validation and test."""

    name: str  # closed or open
    pairs: list[Pair]
    seen: np.ndarray  # [pairs] bool
    shown: np.ndarray  # [pairs], images of training
    primitives: np.ndarray  # [pairs, 2], the indices of state and object
    rows: dict[str, np.ndarray]  # split -> [images], positions in the data set
    targets: dict[str, np.ndarray]  # split -> [images], indices in pairs
    candidates: dict[str, np.ndarray]  # split -> [pairs] bool

    @classmethod
    def closed(cls, data: PairData) -> "World":
        """The pairs of all splits; candidates are those of training and of the images' own split."""
        return cls._of("closed", data, data.pairs, {split: data.closed_world(split) for split in TESTED})

    @classmethod
    def open(cls, data: PairData) -> "World":
        """Every state with every object, all of them candidates."""
        pairs = data.all_pairs
        return cls._of("open", data, pairs, {split: np.ones(len(pairs), dtype=bool) for split in TESTED})

    @classmethod
    def _of(cls, name: str, data: PairData, pairs: list[Pair], candidates: dict[str, np.ndarray]) -> "World":
        return cls(
            name,
            pairs,
            data.is_seen(pairs),
            np.bincount(data.targets("train", pairs), minlength=len(pairs)),
            data.indices(pairs),
            {split: data.rows(split) for split in TESTED},
            {split: data.targets(split, pairs) for split in TESTED},
            candidates,
        )

    def evaluator(self, split: str) -> Evaluator:
        """An evaluator of the images of a split."""
        return Evaluator(self.targets[split], self.seen, self.candidates[split])

    def feed(self, scorer: Scorer, sinks: Mapping[str, Sink], order: np.ndarray) -> None:
        """Feed each split's sink with the scores of its images and all pairs, in this order [pairs], block by block."""
        blocks = _blocks(order, PAIR_BLOCK)
        score = scorer([[self.pairs[pair] for pair in block] for block in blocks], self.name)
        of_images = [
            (split, block) for split in sinks for block in _blocks(np.arange(len(self.rows[split])), IMAGE_BLOCK)
        ]
        for split, images in bar(of_images, f"{self.name} world", "blocks of images"):
            for pairs, scores in zip(blocks, score(self.rows[split][images]), strict=True):
                sinks[split].update(scores, images, pairs)


def _blocks(positions: np.ndarray, size: int) -> list[np.ndarray]:
    return [positions[start : start + size] for start in range(0, len(positions), size)]


@dataclass(frozen=True)
class Scores:
    """What is kept of a test, and all that its numbers follow from."""

    bests: dict[tuple[str, str], Best]  # of (split, "closed" or "open")
    ladders: dict[str, Ladder]  # of each split in the open world; none where no feasibility was given
    top: np.ndarray  # [images, TOP], the pairs of the closed world with the highest scores, of test images

    @property
    def worlds(self) -> tuple[str, ...]:
        """The worlds in which there are numbers."""
        return WORLDS if self.ladders else WORLDS[:2]

    @cached_property
    def thresholds(self) -> dict[str, float]:
        """The threshold of feasibility of each calibrated world, chosen on validation."""
        if not self.ladders:
            return {}
        return {
            "feasible": best_threshold(self.ladders["val"]),
            "feasible-released": released_threshold(self.ladders["val"]),
        }

    def best(self, split: str, world: str) -> Best:
        """The best pairs of a split's images in a world."""
        if world == "feasible":
            return self.ladders[split].at(self.thresholds[world])
        if world == "feasible-released":
            return as_released(self.ladders[split], self.thresholds[world])
        return self.bests[split, world]

    def write(self, path: Path) -> None:
        """Write a safetensors file."""
        tensors = {
            f"{split}/{world}/{name}": getattr(best, name)
            for (split, world), best in self.bests.items()
            for name in BEST
        }
        for split, ladder in self.ladders.items():
            tensors |= {f"{split}/ladder/{name}": getattr(ladder, name) for name in RUNG}
            tensors["feasibility"] = ladder.feasibility
        tensors["test/closed/top"] = self.top
        save_file({name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}, path)

    @classmethod
    def read(cls, path: Path) -> "Scores":
        """Read what ``write`` wrote."""
        tensors = load_file(path)
        bests = {
            (split, world): Best(*(tensors[f"{split}/{world}/{name}"] for name in BEST))
            for split in TESTED
            for world in WORLDS[:2]
        }
        top = tensors["test/closed/top"]
        if "feasibility" not in tensors:
            return cls(bests, {}, top)
        rungs = {split: {name: tensors[f"{split}/ladder/{name}"] for name in RUNG} for split in TESTED}
        return cls(
            bests,
            {
                split: Ladder(bests[split, "open"].without_unseen(), **rungs[split], feasibility=tensors["feasibility"])
                for split in TESTED
            },
            top,
        )


def evaluate(data: PairData, scorer: Scorer, feasibility: np.ndarray | None = None) -> Scores:
    """Test a method on validation and test images in the closed and the open world.

    Args:
        data: the data set.
        scorer: the method.
        feasibility: [states, objects]; without it there is no calibration.
    """
    closed, everything = World.closed(data), World.open(data)
    bests: dict[tuple[str, str], Best] = {}
    evaluators = {split: closed.evaluator(split) for split in TESTED}
    # seen pairs first: columns of one kind then stand side by side, and need not be copied
    top = Top(len(closed.rows["test"]), closed.candidates["test"], TOP)
    sinks = evaluators | {"test": Both(evaluators["test"], top)}
    closed.feed(scorer, sinks, np.argsort(~closed.seen, kind="stable"))
    bests |= {(split, "closed"): evaluator.best() for split, evaluator in evaluators.items()}
    if feasibility is None:
        evaluators = {split: everything.evaluator(split) for split in TESTED}
        everything.feed(scorer, evaluators, np.argsort(~everything.seen, kind="stable"))
        bests |= {(split, "open"): evaluator.best() for split, evaluator in evaluators.items()}
        return Scores(bests, {}, top.pairs)
    builders = {
        split: LadderBuilder(everything.targets[split], everything.seen, feasibility.ravel()) for split in TESTED
    }
    everything.feed(scorer, builders, np.lexsort((-feasibility.ravel(), ~everything.seen)))
    bests |= {(split, "open"): builder.best() for split, builder in builders.items()}
    return Scores(bests, {split: builder.ladder() for split, builder in builders.items()}, top.pairs)


def measured(data: PairData, scores: Scores) -> dict[str, Any]:
    """The numbers of each split and world, as fractions, under ``<split>/<world>``."""
    worlds = {"closed": World.closed(data), "open": World.open(data)}
    return {
        f"{split}/{name}": _numbers(scores.best(split, name), worlds.get(name, worlds["open"]))
        | ({"threshold": scores.thresholds[name]} if name in scores.thresholds else {})
        for split in TESTED
        for name in scores.worlds
    }


def _numbers(best: Best, world: World) -> dict[str, Any]:
    """Both sweeps' numbers; of single answers, at bias 0 and where the harmonic mean is best, accuracies by part and by frequency."""
    reports = {sweep: report_of(best, sweep, world.primitives) for sweep in SWEEPS}
    curve = reports["dense"].curve
    # a curve's point holds from just above its bias
    balanced = float(np.nextafter(curve.bias[harmonic_means(curve).argmax()], np.inf))
    groups = frequency_groups(world.shown, world.seen)
    return {
        **{sweep: {name: getattr(report, name) for name in NUMBERS} for sweep, report in reports.items()},
        "state": reports["dense"].state,
        "object": reports["dense"].object,
        "groups": {
            name: group_accuracies(best.answers(bias), best.target, groups)
            for name, bias in (("unbiased", 0.0), ("balanced", balanced))
        },
    }
