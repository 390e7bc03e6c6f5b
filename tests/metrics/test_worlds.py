"""Which pairs can be answers in which world, and that blocks, files and dense matrices tell the same."""

import json
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import numpy as np
import pytest

from recompose.data.pairs import Pair, PairData, Sample
from recompose.metrics import worlds
from recompose.metrics.czsl import Best, best_pairs
from recompose.metrics.worlds import World, best_of_world, evaluate, joined, measured, read_bests

RED_CAT, RED_DOG, BLUE_CAT, BLUE_DOG, GREEN_CAT, GREEN_DOG = (
    (state, name) for state in ("red", "blue", "green") for name in ("cat", "dog")
)


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
        ("test", GREEN_DOG),
    ]
    return PairData(pairs, [Sample(f"images/{n}.png", *pair, split) for n, (split, pair) in enumerate(labels)])


@pytest.fixture
def larger() -> PairData:
    """Seven states, five objects, 60 images in mixed order."""
    rng = np.random.default_rng(3)
    everything = [(f"s{i}", f"o{j}") for i in range(7) for j in range(5)]
    mixed = [everything[i] for i in rng.permutation(len(everything))]
    pairs = {"train": mixed[:20], "val": [*mixed[:4], *mixed[20:24]], "test": [*mixed[4:8], *mixed[24:29]]}
    splits = rng.permutation(["train"] * 20 + ["val"] * 20 + ["test"] * 20)
    return PairData(
        pairs,
        [
            Sample(f"{n}.png", *pairs[split][n % len(pairs[split])] if n % 7 else pairs[split][-1], split)
            for n, split in enumerate(splits.tolist())
        ],
    )


class DenseScores:
    """A scorer with a score for each sample and pair, small integers for many ties. It notes what it was asked."""

    def __init__(self, data: PairData) -> None:
        self.column = {pair: index for index, pair in enumerate(data.all_pairs)}
        self.scores = np.random.default_rng(0).integers(0, 4, (len(data.samples), len(self.column))).astype(np.float32)
        self.asked: list[tuple[list[Pair], list[int]]] = []

    def __call__(self, pairs: list[Pair]) -> Callable[[np.ndarray], np.ndarray]:
        self.asked.append((pairs, []))

        def score(rows: np.ndarray) -> np.ndarray:
            self.asked[-1][1].append(len(rows))
            return self.scores[np.ix_(rows, [self.column[pair] for pair in pairs])]

        return score


def always_the_label(data: PairData, liked: tuple[Pair, ...] = ()) -> worlds.Scorer:
    """Scores the label 1, the liked pairs 2 and all others 0."""

    def scorer(pairs: list[Pair]) -> Callable[[np.ndarray], np.ndarray]:
        def score(rows: np.ndarray) -> np.ndarray:
            labels = [(data.samples[row].state, data.samples[row].object) for row in rows]
            return np.array([[2.0 if p in liked else float(p == label) for p in pairs] for label in labels])

        return score

    return scorer


def dense_pass(world: World, dense: DenseScores) -> Best:
    scores = dense.scores[np.ix_(world.rows, [dense.column[pair] for pair in world.pairs])]
    return best_pairs(scores, world.targets, world.seen[world.targets], world.seen, world.candidates)


def assert_same(one: Best, other: Best) -> None:
    for field in fields(Best):
        np.testing.assert_array_equal(
            getattr(one, field.name), getattr(other, field.name), err_msg=field.name, strict=True
        )


def test_closed_world_holds_the_pairs_of_all_splits(data: PairData) -> None:
    for split in ("val", "test"):
        world = World.of(data, split, "closed")
        assert world.pairs == [BLUE_CAT, BLUE_DOG, GREEN_DOG, RED_CAT, RED_DOG]
        assert world.seen.tolist() == [False, True, False, True, True]


def test_closed_world_answers_pairs_of_training_and_of_its_split(data: PairData) -> None:
    assert World.of(data, "val", "closed").candidates.tolist() == [True, True, False, True, True]
    assert World.of(data, "test", "closed").candidates.tolist() == [False, True, True, True, True]


def test_open_world_answers_every_state_with_every_object(data: PairData) -> None:
    for split in ("val", "test"):
        world = World.of(data, split, "open")
        assert world.pairs == [BLUE_CAT, BLUE_DOG, GREEN_CAT, GREEN_DOG, RED_CAT, RED_DOG]
        assert world.seen.tolist() == [False, True, False, False, True, True]
        assert world.candidates.tolist() == [True] * 6


def test_a_world_holds_the_images_of_its_split_with_their_labels(data: PairData) -> None:
    closed, open_ = World.of(data, "val", "closed"), World.of(data, "test", "open")
    assert (closed.rows.tolist(), closed.targets.tolist()) == ([2, 4, 5], [0, 3, 0])
    assert (open_.rows.tolist(), open_.targets.tolist()) == ([0, 3, 7], [3, 1, 3])


@pytest.mark.parametrize(("images", "pairs"), [(1, 1), (3, 2), (20, 4), (7, 1000), (1000, 3), (1000, 1000)])
@pytest.mark.parametrize("name", worlds.WORLDS)
@pytest.mark.parametrize("split", worlds.TESTED)
def test_blocks_of_any_size_equal_one_dense_pass(
    larger: PairData, monkeypatch: pytest.MonkeyPatch, split: str, name: str, images: int, pairs: int
) -> None:
    monkeypatch.setattr(worlds, "IMAGE_BLOCK", images)
    monkeypatch.setattr(worlds, "PAIR_BLOCK", pairs)
    world, dense = World.of(larger, split, name), DenseScores(larger)
    assert_same(best_of_world(world, dense), dense_pass(world, dense))
    assert [pair for block, _ in dense.asked for pair in block] == world.pairs
    assert all(len(block) <= pairs for block, _ in dense.asked)
    assert all(sum(sizes) == len(world.rows) and max(sizes) <= images for _, sizes in dense.asked)


def test_a_block_takes_positions_as_well_as_a_slice(larger: PairData) -> None:
    world = World.of(larger, "test", "open")
    scores = np.random.default_rng(1).integers(0, 4, (len(world.rows), len(world.pairs))).astype(np.float32)
    pairs, order = slice(5, 25), np.array([7, 3, 11])
    picked = world.block(scores[order, 5:25], order, pairs)
    one_by_one = [world.block(scores[i : i + 1, 5:25], slice(i, i + 1), pairs) for i in order.tolist()]
    assert_same(picked, joined(one_by_one))


def test_what_evaluate_writes_is_read_back_bit_by_bit(larger: PairData, tmp_path: Path) -> None:
    dense = DenseScores(larger)
    evaluate(larger, dense, tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["scores.safetensors"]
    bests = read_bests(tmp_path / "scores.safetensors")
    assert set(bests) == {"val/closed", "val/open", "test/closed", "test/open"}
    for key, best in bests.items():
        split, name = key.split("/")
        assert_same(best, dense_pass(World.of(larger, split, name), dense))


def test_a_method_that_is_always_right_measures_ones(data: PairData, tmp_path: Path) -> None:
    evaluate(data, always_the_label(data), tmp_path)
    numbers = measured(read_bests(tmp_path / "scores.safetensors"))
    ones = {"seen": 1.0, "unseen": 1.0, "harmonic_mean": 1.0, "auc": 1.0}
    assert json.loads(json.dumps(numbers)) == dict.fromkeys(
        ("val/closed", "val/open", "test/closed", "test/open"), ones
    )


def test_a_pair_of_the_other_split_distracts_in_the_open_world_only(data: PairData, tmp_path: Path) -> None:
    evaluate(data, always_the_label(data, liked=(BLUE_CAT, GREEN_DOG)), tmp_path)
    unseen = {key: row["unseen"] for key, row in measured(read_bests(tmp_path / "scores.safetensors")).items()}
    # in the open world the first of the two equally liked pairs wins: val's own, which distracts in test
    assert unseen == {"val/closed": 1, "test/closed": 1, "val/open": 1, "test/open": 0}


def test_numbers_need_nothing_but_the_written_file(data: PairData, tmp_path: Path) -> None:
    evaluate(data, DenseScores(data), tmp_path)
    numbers = measured(read_bests(tmp_path / "scores.safetensors"))
    again = {key: best_of_world(World.of(data, *key.split("/")), DenseScores(data)) for key in numbers}
    assert numbers == measured(again)
