"""Which pairs can be answers in which world, and that blocks, files and numbers tell what a dense matrix does."""

import math
from fractions import Fraction
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample
from recompose.tracks.czsl.metric_values import WORLDS, compute_metrics
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.worlds import PairScores, score_worlds
from tests.tracks.czsl.metrics import derivations
from tests.tracks.czsl.metrics.derivations import Calibrated, Problem
from tests.tracks.loops import assert_same


@pytest.fixture
def larger() -> PairData:
    """Seven states, five objects, 100 images in mixed order."""
    rng = np.random.default_rng(3)
    everything = [(f"s{i}", f"o{j}") for i in range(7) for j in range(5)]
    mixed = [everything[i] for i in rng.permutation(len(everything))]
    pairs = {"train": mixed[:20], "val": [*mixed[:4], *mixed[20:24]], "test": [*mixed[4:8], *mixed[24:29]]}
    splits = rng.permutation(["train"] * 60 + ["val"] * 20 + ["test"] * 20)
    return PairData(
        pairs,
        [
            Sample(f"{n}.png", *pairs[split][n % len(pairs[split])] if n % 7 else pairs[split][-1], split)
            for n, split in enumerate(splits.tolist())
        ],
    )


@pytest.fixture
def feasibility() -> np.ndarray:
    """Of each of the seven states with each of the five objects, some equal, some negative."""
    return np.random.default_rng(4).integers(-4, 9, (7, 5)) / 8


class DenseScores:
    """A scorer with a score for each sample and pair, small integers for many ties. It notes what it was asked."""

    def __init__(self, data: PairData, library: str = "numpy", high: int = 4, low: int = -2) -> None:
        everything = [(state, name) for state in data.states for name in data.objects]
        self.column = {pair: index for index, pair in enumerate(everything)}
        rng = np.random.default_rng(0)
        scores = rng.integers(low, high, (len(data.samples), len(everything))).astype(np.float32)
        for row, sample in enumerate(data.samples):
            scores[row, self.column[sample.state, sample.object]] += 2
        self.scores: Any = torch.tensor(scores) if library == "torch" else scores
        self.blocks: dict[int, tuple[list[Pair], list[list[int]]]] = {}  # blocks of pairs, and the images of each

    def __call__(self, rows: np.ndarray, pairs: list[Pair]) -> Any:
        self.blocks.setdefault(id(pairs), (pairs, []))[1].append(rows.tolist())
        return self.scores[rows][:, [self.column[pair] for pair in pairs]]


class Derived:
    """All that a test measures, from the dense matrix of scores and the lists of pairs alone."""

    def __init__(self, data: PairData, dense: DenseScores, feasibility: np.ndarray | None = None) -> None:
        self.data, self.dense, self.feasibility = data, dense, feasibility

    def pairs(self, world: str) -> list[Pair]:
        lists = self.data.pairs_of
        if world == "closed":
            return sorted({*lists["train"], *lists["val"], *lists["test"]})
        states, objects = (sorted({pair[part] for pair in chain(*lists.values())}) for part in (0, 1))
        return [(state, name) for state in states for name in objects]

    def plain(self, split: str, world: str) -> Problem:
        """The problem of a split in the closed or the open world."""
        lists, pairs = self.data.pairs_of, self.pairs(world)
        images = [row for row, sample in enumerate(self.data.samples) if sample.split == split]
        labels = [(self.data.samples[row].state, self.data.samples[row].object) for row in images]
        return Problem(
            scores=[[int(self.dense.scores[row, self.dense.column[pair]]) for pair in pairs] for row in images],
            targets=[pairs.index(label) for label in labels],
            seen=[pair in lists["train"] for pair in pairs],
            candidates=[world == "open" or pair in lists["train"] or pair in lists[split] for pair in pairs],
        )

    def calibrated(self, split: str) -> Calibrated:
        """The problem of a split in the open world with the feasibility of each pair."""
        return Calibrated(self.plain(split, "open"), self.feasibility.ravel().tolist())

    def threshold(self, world: str) -> float:
        """The first, rising, with the best AUC on validation."""
        val, best = self.calibrated("val"), (Fraction(-1), math.nan)
        ends = val.thresholds[0], val.thresholds[-1]
        for threshold in val.thresholds if world == "feasible" else np.linspace(*ends, 50).tolist():
            if world == "feasible":
                auc = derivations.couples_auc(val.at(threshold))
            else:
                auc = derivations.sweep_numbers(val.multiplied(threshold), "field")["auc"]
            if auc > best[0]:
                best = auc, threshold
        return best[1]

    def problem(self, split: str, world: str) -> Problem:
        if world in ("closed", "open"):
            return self.plain(split, world)
        calibrated, threshold = self.calibrated(split), self.threshold(world)
        return calibrated.at(threshold) if world == "feasible" else calibrated.multiplied(threshold)

    def shown(self, world: str) -> list[int]:
        """The number of training images of each pair."""
        labels = [(sample.state, sample.object) for sample in self.data.samples if sample.split == "train"]
        return [labels.count(pair) for pair in self.pairs(world)]

    def numbers(self, split: str, world: str) -> dict[str, Any]:
        own = "closed" if world == "closed" else "open"
        numbers = derivations.world_numbers(self.problem(split, world), self.pairs(own), self.shown(own))
        return numbers if world in ("closed", "open") else {**numbers, "threshold": self.threshold(world)}


def flat(numbers: dict[str, Any], prefix: str) -> dict[str, float]:
    """Nested numbers under flat names; those that do not exist are left out."""
    entries: dict[str, float] = {}
    for name, value in numbers.items():
        if isinstance(value, dict):
            entries |= flat(value, f"{prefix}/{name}")
        elif math.isfinite(value):
            entries[f"{prefix}/{name}"] = float(value)
    return entries


@pytest.mark.parametrize(("images", "pairs", "calibrates"), [(3, 2, True), (7, 1000, False)])
def test_blocks_of_any_size_equal_one_dense_pass_and_are_scored_once(
    larger: PairData,
    feasibility: np.ndarray,
    monkeypatch: pytest.MonkeyPatch,
    images: int,
    pairs: int,
    calibrates: bool,
) -> None:
    monkeypatch.setattr(worlds, "IMAGE_BLOCK", images)
    monkeypatch.setattr(worlds, "PAIR_BLOCK", pairs)
    dense = DenseScores(larger, "torch")
    derived = Derived(larger, dense, feasibility)
    scores = score_worlds(larger, dense, feasibility if calibrates else None)
    assert set(scores.bests) == {(split, world) for split in ("val", "test") for world in ("closed", "open")}
    for (split, world), best in scores.bests.items():
        derivations.assert_best(best, derived.plain(split, world))
    assert set(scores.ladders) == ({"val", "test"} if calibrates else set())
    for split, ladder in scores.ladders.items():
        for threshold in [-1.0, *derived.calibrated(split).thresholds, 2.0]:
            derivations.assert_best(ladder.at(threshold), derived.calibrated(split).at(threshold))
    closed = derived.plain("test", "closed")
    assert scores.top.tolist() == [derivations.top_pairs(row, closed.candidates, 5) for row in closed.scores]
    tested = [row for row, sample in enumerate(larger.samples) if sample.split != "train"]
    for block, rows in dense.blocks.values():
        assert len(block) <= pairs and max(map(len, rows)) <= images
        assert sorted(chain(*rows)) == tested
    scored = [pair for block, _ in dense.blocks.values() for pair in block]
    assert sorted(scored) == sorted([*derived.pairs("closed"), *derived.pairs("open")])


# numbers


@pytest.mark.slow
@pytest.mark.parametrize(("high", "low"), [(4, -2), (1, -9)])
def test_numbers_of_all_worlds_are_those_of_plain_loops(
    larger: PairData, feasibility: np.ndarray, high: int, low: int
) -> None:
    dense = DenseScores(larger, high=high, low=low)
    actual = compute_metrics(larger, score_worlds(larger, dense, feasibility))
    derived = Derived(larger, dense, feasibility)
    names = [f"{split}/{world}" for split in ("val", "test") for world in WORLDS]
    expected: dict[str, float] = {}
    for name in names:
        expected |= flat(derived.numbers(*name.split("/")), name)
    assert {name: actual[name] for name in expected} == derivations.close(expected)


def test_numbers_that_do_not_exist_are_left_out(larger: PairData) -> None:
    """Without images of unseen pairs there is no AUC, and without feasibility no threshold."""
    seen = larger.pairs_of["train"]
    shown = PairData(larger.pairs_of, [sample for sample in larger.samples if (sample.state, sample.object) in seen])
    metrics = compute_metrics(shown, score_worlds(shown, DenseScores(shown)))
    assert "test/closed/dense/seen" in metrics
    absent = ("/auc", "/dense/unseen", "/harmonic_mean", "groups/unbiased/unseen", "threshold")
    assert not [name for name in metrics if name.endswith(absent) or "feasible" in name]


# files


@pytest.mark.parametrize("calibrates", [False, True])
def test_what_is_written_is_read_back_bit_by_bit(
    larger: PairData, feasibility: np.ndarray, tmp_path: Path, calibrates: bool
) -> None:
    scores = score_worlds(larger, DenseScores(larger), feasibility if calibrates else None)
    path = tmp_path / "scores.safetensors"
    scores.write(path)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.safetensors"]
    assert set(scores.ladders) == ({"val", "test"} if calibrates else set())
    assert_same(PairScores.read(path), scores)
