"""The pairs with the highest scores of each image against sorting all of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.metrics import worlds
from recompose.tracks.czsl.metrics.top import Top
from recompose.tracks.czsl.metrics.worlds import TOP, PairScores, score_worlds

Make = Callable[[np.ndarray], Any]
MAKERS: dict[str, Make] = {
    "numpy-float32": lambda rows: rows.astype(np.float32),
    "numpy-float64": lambda rows: rows,
    "torch-float32": lambda rows: torch.tensor(rows, dtype=torch.float32),
    "torch-float64": torch.tensor,
}


def sorted_pairs(row: list[float], candidates: list[bool], count: int) -> list[int]:
    """A row's candidates, the highest score first and of equal ones the lowest index; -1 where there are no more."""
    actual = sorted((-score, pair) for pair, score in enumerate(row) if candidates[pair])
    return ([pair for _, pair in actual] + [-1] * count)[:count]


def sorted_scores(row: list[float], candidates: list[bool], count: int) -> list[float]:
    """Their scores, minus infinity where there are no more."""
    actual = sorted((score for pair, score in enumerate(row) if candidates[pair]), reverse=True)
    return (actual + [-np.inf] * count)[:count]


def assert_top(top: Top, scores: np.ndarray, candidates: list[bool], count: int) -> None:
    assert top.pairs.tolist() == [sorted_pairs(row, candidates, count) for row in scores.tolist()]
    assert top.scores.tolist() == [sorted_scores(row, candidates, count) for row in scores.tolist()]


@st.composite
def blocks_of(draw: st.DrawFn, length: int) -> list[np.ndarray]:
    """All positions in an order of their own, in blocks of any size."""
    order = draw(st.permutations(range(length)))
    cuts = sorted(draw(st.sets(st.integers(1, length - 1), max_size=3))) if length > 1 else []
    return np.split(np.array(order), cuts)


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, list[bool], list[tuple[np.ndarray, np.ndarray]]]:
    """Scores with many ties, candidates, and blocks of images and of pairs in any order."""
    images, pairs = draw(st.integers(1, 4)), draw(st.integers(1, 9))
    row = st.lists(st.integers(-2, 2), min_size=pairs, max_size=pairs)
    scores = draw(st.lists(row, min_size=images, max_size=images))
    candidates = draw(st.lists(st.booleans(), min_size=pairs, max_size=pairs))
    blocks = [(some, others) for some in draw(blocks_of(length=images)) for others in draw(blocks_of(length=pairs))]
    return np.array(scores, dtype=np.float64), candidates, draw(st.permutations(blocks))


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(problems(), st.integers(1, 6), st.sampled_from(sorted(MAKERS)))
def test_blocks_in_any_order_give_what_sorting_gives(
    problem: tuple[np.ndarray, list[bool], list[tuple[np.ndarray, np.ndarray]]], count: int, maker: str
) -> None:
    scores, candidates, blocks = problem
    top = Top(len(scores), np.array(candidates), count)
    for images, pairs in blocks:
        top.update(MAKERS[maker](scores[np.ix_(images, pairs)]), images, pairs)
    assert_top(top, scores, candidates, count)


@pytest.mark.parametrize("library", ["numpy", "torch"])
def test_scores_that_differ_in_their_last_bit_are_no_ties(library: str) -> None:
    scores = np.full((1, 4), 25.0, dtype=np.float32)
    scores[0, 2] = np.nextafter(np.float32(25), np.float32(26))
    scores[0, 1] = np.nextafter(np.float32(25), np.float32(24))
    top = Top(1, np.ones(4, dtype=bool), 4)
    for pairs in ([3, 1], [0, 2]):
        block = scores[:, pairs]
        top.update(torch.from_numpy(block) if library == "torch" else block, np.array([0]), np.array(pairs))
    assert top.pairs.tolist() == [[2, 0, 3, 1]]


def test_images_without_scores_have_no_pairs() -> None:
    top = Top(3, np.ones(2, dtype=bool), 2)
    top.update(np.array([[1.0, 2.0]]), np.array([1]), np.arange(2))
    assert top.pairs.tolist() == [[-1, -1], [1, 0], [-1, -1]]


def test_scores_of_pairs_that_are_no_candidates_do_not_matter() -> None:
    top = Top(1, np.array([True, False, True]), 2)
    top.update(np.array([[1.0, np.nan, 2.0]]), np.array([0]), np.arange(3))
    assert top.pairs.tolist() == [[2, 0]]


# of a test


STATES, OBJECTS = ["blue", "green", "red"], ["cat", "dog", "fish"]
EVERYTHING = [(state, name) for state in STATES for name in OBJECTS]
PAIRS = {
    "train": [EVERYTHING[0], EVERYTHING[4], EVERYTHING[8], EVERYTHING[1]],
    "val": [EVERYTHING[0], EVERYTHING[2], EVERYTHING[3]],
    "test": [EVERYTHING[4], EVERYTHING[6], EVERYTHING[5]],
}


def data_of(pairs: dict[str, list[tuple[str, str]]]) -> PairData:
    """Twelve images of each split, the splits mixed."""
    splits = np.random.default_rng(2).permutation(["train", "val", "test"] * 12).tolist()
    return PairData(
        pairs, [Sample(f"{n}.png", *pairs[split][n % len(pairs[split])], split) for n, split in enumerate(splits)]
    )


@pytest.fixture
def data() -> PairData:
    return data_of(PAIRS)


@pytest.fixture
def table(data: PairData) -> np.ndarray:
    """A score of each image for each state and object, with ties."""
    return np.random.default_rng(3).integers(-3, 4, (len(data.samples), len(EVERYTHING))).astype(np.float32)


@pytest.fixture(params=[(1, 1), (5, 2), (1000, 1000)])
def blocks(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Images and pairs are scored in blocks of several sizes."""
    for name, size in zip(("IMAGE_BLOCK", "PAIR_BLOCK"), request.param, strict=True):
        monkeypatch.setattr(worlds, name, size)


def scorer_of(table: np.ndarray, make: Make) -> Callable[[np.ndarray, list[tuple[str, str]]], Any]:
    return lambda rows, pairs: make(table[rows][:, [EVERYTHING.index(pair) for pair in pairs]])


def expected_top(data: PairData, table: np.ndarray, lists: dict[str, list[tuple[str, str]]]) -> list[list[int]]:
    """Of test images, by their order, positions among the pairs of all splits; of these training and test have
    candidates.
    """
    closed = sorted({pair for pairs in lists.values() for pair in pairs})
    allowed = [pair in lists["train"] or pair in lists["test"] for pair in closed]
    rows = [row.tolist() for row, sample in zip(table, data.samples, strict=True) if sample.split == "test"]
    return [sorted_pairs([row[EVERYTHING.index(pair)] for pair in closed], allowed, TOP) for row in rows]


@pytest.mark.parametrize("maker", ["numpy-float32", "torch-float32"])
@pytest.mark.parametrize("calibrates", [False, True])
@pytest.mark.usefixtures("blocks")
def test_an_evaluation_keeps_the_best_pairs_of_the_closed_world_of_each_test_image(
    data: PairData, table: np.ndarray, calibrates: bool, maker: str
) -> None:
    feasibility = np.linspace(-1, 1, 9).reshape(3, 3) if calibrates else None
    scores = score_worlds(data, scorer_of(table, MAKERS[maker]), feasibility)
    assert scores.top.tolist() == expected_top(data, table, PAIRS)


def test_a_small_closed_world_leaves_places_empty() -> None:
    pairs = {"train": EVERYTHING[:2], "val": EVERYTHING[1:3], "test": EVERYTHING[1:2] + EVERYTHING[4:5]}
    data = data_of(pairs)
    table = np.random.default_rng(4).normal(size=(len(data.samples), 9)).astype(np.float32)
    top = score_worlds(data, scorer_of(table, MAKERS["torch-float32"])).top
    assert top.tolist() == expected_top(data, table, pairs)
    assert (top[:, :3] >= 0).all()
    assert (top[:, 3:] == -1).all()


@pytest.mark.parametrize("calibrates", [False, True])
def test_it_is_written_and_read_back(data: PairData, table: np.ndarray, tmp_path: Path, calibrates: bool) -> None:
    feasibility = np.linspace(-1, 1, 9).reshape(3, 3) if calibrates else None
    scores = score_worlds(data, scorer_of(table, MAKERS["numpy-float32"]), feasibility)
    scores.write(tmp_path / "scores.safetensors")
    np.testing.assert_array_equal(PairScores.read(tmp_path / "scores.safetensors").top, scores.top, strict=True)
