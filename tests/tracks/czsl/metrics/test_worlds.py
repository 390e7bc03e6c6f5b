"""Which pairs can be answers in which world, and that blocks, files and numbers tell what a dense matrix does."""

import json
import math
import subprocess
import sys
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recompose.tracks.czsl.data.pairs import Pair, PairData, Sample
from recompose.tracks.czsl.metric_names import WORLDS
from recompose.tracks.czsl.metric_values import CalibratedScores, compute_metrics, read_metrics
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.worlds import PairScores, World, score_worlds
from tests.tracks.czsl.metrics.derivations import (
    Problem,
    assert_best,
    assert_same,
    close,
    couples_auc,
    sweep_numbers,
    top_pairs,
    world_numbers,
)

RED_CAT, RED_DOG, BLUE_CAT, BLUE_DOG, GREEN_CAT, GREEN_DOG = (
    (state, name) for state in ("red", "blue", "green") for name in ("cat", "dog")
)
EVERY_SIZE = [(3, 2), (7, 1000), (1000, 3)]


@pytest.fixture
def data() -> PairData:
    """Training shows three pairs; blue cats are new in val, green dogs in test; nobody ever saw a green cat."""
    pairs = {
        "train": [RED_CAT, RED_DOG, BLUE_DOG],
        "val": [RED_CAT, BLUE_CAT],
        "test": [BLUE_DOG, GREEN_DOG],
    }
    labels = [
        ("test", GREEN_DOG),
        ("train", RED_CAT),
        ("val", BLUE_CAT),
        ("test", BLUE_DOG),
        ("val", RED_CAT),
        ("val", BLUE_CAT),
        ("train", BLUE_DOG),
        ("train", RED_CAT),
        ("test", GREEN_DOG),
    ]
    return PairData(pairs, [Sample(f"images/{n}.png", *pair, split) for n, (split, pair) in enumerate(labels)])


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


def always_the_label(data: PairData, liked: tuple[Pair, ...] = ()) -> Callable[[np.ndarray, list[Pair]], np.ndarray]:
    """Scores the label 1, the liked pairs 2 and all others 0."""

    def score(rows: np.ndarray, pairs: list[Pair]) -> np.ndarray:
        labels = [(data.samples[row].state, data.samples[row].object) for row in rows]
        return np.array([[2.0 if p in liked else float(p == label) for p in pairs] for label in labels])

    return score


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

    def calibrated(self, split: str, world: str, threshold: float) -> Problem:
        """The problem of the open world with a threshold, excluded pairs left out or multiplied by 0."""
        problem = self.plain(split, "open")
        values = list(zip(self.flat, problem.seen, strict=True))
        if world == "feasible":
            return problem._replace(candidates=[seen or value >= threshold for value, seen in values])
        factors = [int((0.0 if seen else value) >= threshold) + seen for value, seen in values]
        rows = [[score * by for score, by in zip(row, factors, strict=True)] for row in problem.scores]
        return problem._replace(scores=rows)

    @property
    def flat(self) -> list[float]:
        """Feasibilities in the order of the open world's pairs."""
        return [value for row in self.feasibility.tolist() for value in row]

    def threshold(self, world: str) -> float:
        """The first, rising, with the best AUC on validation."""
        seen = self.plain("val", "open").seen
        unseen = [value for value, one in zip(self.flat, seen, strict=True) if not one]
        tried = sorted(set(unseen)) if world == "feasible" else np.linspace(min(unseen), max(unseen), 50).tolist()
        best: tuple[Any, float] = (-1, math.nan)
        for threshold in tried:
            problem = self.calibrated("val", world, threshold)
            auc = couples_auc(problem) if world == "feasible" else sweep_numbers(problem, "field")["auc"]
            if auc > best[0]:
                best = auc, threshold
        return best[1]

    def problem(self, split: str, world: str) -> Problem:
        if world in ("closed", "open"):
            return self.plain(split, world)
        return self.calibrated(split, world, self.threshold(world))

    def numbers(self, split: str, world: str) -> dict[str, Any]:
        problem, pairs = self.problem(split, world), self.pairs("closed" if world == "closed" else "open")
        shown = [sum((s.state, s.object) == pair for s in self.data.samples if s.split == "train") for pair in pairs]
        numbers = world_numbers(problem, pairs, shown)
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


# worlds


def test_closed_world_holds_the_pairs_of_all_splits(data: PairData) -> None:
    world = World.closed(data)
    assert world.pairs == [BLUE_CAT, BLUE_DOG, GREEN_DOG, RED_CAT, RED_DOG]
    assert world.seen.tolist() == [False, True, False, True, True]
    assert world.training_images.tolist() == [0, 1, 0, 2, 0]
    assert world.primitives.tolist() == [[0, 0], [0, 1], [1, 1], [2, 0], [2, 1]]


def test_closed_world_answers_pairs_of_training_and_of_the_split(data: PairData) -> None:
    world = World.closed(data)
    assert world.candidates["val"].tolist() == [True, True, False, True, True]
    assert world.candidates["test"].tolist() == [False, True, True, True, True]


def test_open_world_answers_every_state_with_every_object(data: PairData) -> None:
    world = World.open(data)
    assert world.pairs == [BLUE_CAT, BLUE_DOG, GREEN_CAT, GREEN_DOG, RED_CAT, RED_DOG]
    assert world.seen.tolist() == [False, True, False, False, True, True]
    assert world.training_images.tolist() == [0, 1, 0, 0, 2, 0]
    assert world.primitives.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    assert [world.candidates[split].tolist() for split in ("val", "test")] == [[True] * 6] * 2


def test_a_world_holds_the_images_of_validation_and_test_with_their_labels(data: PairData) -> None:
    closed, everything = World.closed(data), World.open(data)
    for world in (closed, everything):
        assert {split: rows.tolist() for split, rows in world.rows.items()} == {"val": [2, 4, 5], "test": [0, 3, 8]}
    assert {split: t.tolist() for split, t in closed.targets.items()} == {"val": [0, 3, 0], "test": [2, 1, 2]}
    assert {split: t.tolist() for split, t in everything.targets.items()} == {"val": [0, 4, 0], "test": [3, 1, 3]}


# blocks


@pytest.mark.parametrize("calibrates", [False, True])
@pytest.mark.parametrize(("images", "pairs"), EVERY_SIZE)
def test_blocks_of_any_size_equal_one_dense_pass_and_are_asked_for_once(
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
        assert_best(best, derived.plain(split, world))
    assert set(scores.ladders) == ({"val", "test"} if calibrates else set())
    for split, ladder in scores.ladders.items():
        for threshold in [-1.0, *sorted(set(derived.flat)), 2.0]:
            assert_best(ladder.at(threshold), derived.calibrated(split, "feasible", threshold))
    closed = derived.plain("test", "closed")
    assert scores.top.tolist() == [top_pairs(row, closed.candidates, 5) for row in closed.scores]
    asked = [pair for block, _ in dense.blocks.values() for pair in block]
    split_at = len(derived.pairs("closed"))
    for world, of_world in (("closed", asked[:split_at]), ("open", asked[split_at:])):
        assert sorted(of_world) == derived.pairs(world)
        is_seen = [pair in larger.pairs_of["train"] for pair in of_world]
        assert is_seen == sorted(is_seen, reverse=True), "columns of one kind are adjacent"
    tested = [row for row, sample in enumerate(larger.samples) if sample.split != "train"]
    for block, rows in dense.blocks.values():
        assert len(block) <= pairs
        assert max(map(len, rows)) <= images
        assert sorted(chain(*rows)) == tested


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
    assert set(actual) == set(expected)
    assert actual == close(expected)


def test_thresholds_are_chosen_on_validation_alone(larger: PairData, feasibility: np.ndarray) -> None:
    dense = DenseScores(larger)
    scores = CalibratedScores(score_worlds(larger, dense, feasibility))
    derived = Derived(larger, dense, feasibility)
    assert scores.thresholds == {name: derived.threshold(name) for name in ("feasible", "feasible-released")}
    tested = [row for row, sample in enumerate(larger.samples) if sample.split == "test"]
    dense.scores[tested] = dense.scores[tested[::-1]]
    again = CalibratedScores(score_worlds(larger, dense, feasibility))
    assert again.thresholds == scores.thresholds
    for world in WORLDS:
        assert_best(again.best("test", world), derived.problem("test", world))


def test_without_feasibility_there_are_the_closed_and_the_open_world_only(larger: PairData) -> None:
    scores = score_worlds(larger, DenseScores(larger))
    assert CalibratedScores(scores).worlds == ("closed", "open")
    assert CalibratedScores(scores).thresholds == {}
    actual = ["/".join(name.split("/")[:2]) for name in compute_metrics(larger, scores)]
    assert list(dict.fromkeys(actual)) == ["val/closed", "val/open", "test/closed", "test/open"]


def test_feasibility_changes_nothing_in_the_closed_and_the_open_world(
    larger: PairData, feasibility: np.ndarray
) -> None:
    without, with_ = (score_worlds(larger, DenseScores(larger), given) for given in (None, feasibility))
    assert CalibratedScores(with_).worlds == WORLDS
    for key, best in without.bests.items():
        assert_same(best, with_.bests[key])
    numbers = compute_metrics(larger, with_)
    assert {name: numbers[name] for name in compute_metrics(larger, without)} == compute_metrics(larger, without)


def test_a_pair_of_the_other_split_distracts_in_the_open_world_only(data: PairData) -> None:
    scores = score_worlds(data, always_the_label(data, liked=(BLUE_CAT, GREEN_DOG)))
    actual, ending = compute_metrics(data, scores), "/dense/unseen"
    unseen = {name.removesuffix(ending): value for name, value in actual.items() if name.endswith(ending)}
    # in the open world the first of the two equally liked pairs wins: val's own, which distracts in test
    assert unseen == {"val/closed": 1, "test/closed": 1, "val/open": 1, "test/open": 0}


def test_an_infeasible_pair_distracts_where_nothing_is_excluded_only(data: PairData) -> None:
    # of unseen pairs green cats, which are liked best, are less feasible than the true ones, blue cats and green dogs
    feasibility = np.array([[0.5, 0.9], [-0.8, 0.5], [0.9, 0.9]])
    scores = score_worlds(data, always_the_label(data, liked=(GREEN_CAT,)), feasibility)
    actual = compute_metrics(data, scores)
    assert [actual[f"val/{world}/dense/unseen"] for world in ("closed", "open", "feasible")] == [1, 0, 1]
    assert actual["test/feasible/dense/unseen"] == 1
    assert actual["test/feasible/threshold"] == 0.5


def test_numbers_that_do_not_exist_are_left_out(data: PairData) -> None:
    """Without images of unseen pairs there is no AUC, and without unseen pairs there is no threshold."""
    shown = [sample for sample in data.samples if (sample.state, sample.object) in data.pairs_of["train"]]
    some = PairData(data.pairs_of, shown)
    actual = compute_metrics(some, score_worlds(some, always_the_label(some), np.zeros((3, 2))))
    assert actual["test/closed/dense/seen"] == actual["test/closed/groups/unbiased/medium"] == 1.0
    assert not {
        name for name in actual if name.endswith(("/auc", "/dense/unseen", "/harmonic_mean", "groups/unbiased/unseen"))
    }
    whole = PairData({split: [RED_CAT] for split in ("train", "val", "test")}, [Sample("0.png", *RED_CAT, "train")])
    assert not [
        name
        for name in compute_metrics(whole, score_worlds(whole, always_the_label(whole), np.zeros((1, 1))))
        if "threshold" in name
    ]


# files


@pytest.mark.parametrize("calibrates", [False, True])
def test_what_is_written_is_read_back_bit_by_bit(
    larger: PairData, feasibility: np.ndarray, tmp_path: Path, calibrates: bool
) -> None:
    scores = score_worlds(larger, DenseScores(larger), feasibility if calibrates else None)
    path = tmp_path / "scores.safetensors"
    scores.write(path)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.safetensors"]
    again = PairScores.read(path)
    np.testing.assert_array_equal(again.top, scores.top, strict=True)
    assert set(again.bests) == set(scores.bests)
    for key, best in scores.bests.items():
        assert_same(best, again.bests[key])
    assert set(again.ladders) == set(scores.ladders) == ({"val", "test"} if calibrates else set())
    for split, ladder in scores.ladders.items():
        assert_same(ladder.ground, again.ladders[split].ground)
        for name in ("image", "pair", "score", "feasibility"):
            one, other = getattr(ladder, name), getattr(again.ladders[split], name)
            np.testing.assert_array_equal(one, other, err_msg=name, strict=True)


@pytest.mark.slow
def test_measures_are_read_from_two_folders_without_torch(
    larger: PairData, feasibility: np.ndarray, tmp_path: Path
) -> None:
    larger.write(tmp_path / "index")
    scores = score_worlds(larger, DenseScores(larger), feasibility)
    (tmp_path / "evaluation").mkdir()
    scores.write(tmp_path / "evaluation" / "scores.safetensors")
    code = f"""
import json, sys
from pathlib import Path
from recompose.tracks.czsl.metric_values import read_metrics
print(json.dumps(read_metrics(Path({str(tmp_path / "index")!r}), Path({str(tmp_path / "evaluation")!r}))))
sys.exit("torch" in sys.modules)
"""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert (
        json.loads(done.stdout)
        == compute_metrics(larger, scores)
        == read_metrics(tmp_path / "index", tmp_path / "evaluation")
    )
