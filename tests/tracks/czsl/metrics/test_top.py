"""The pairs with the highest scores of each image against sorting all of them."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.metrics.top import Top
from tests.tracks.czsl.metrics.derivations import top_pairs


def sorted_scores(row: list[float], candidates: list[bool], count: int) -> list[float]:
    """Their scores, minus infinity where there are no more."""
    actual = sorted((score for pair, score in enumerate(row) if candidates[pair]), reverse=True)
    return (actual + [-np.inf] * count)[:count]


def assert_top(top: Top, scores: np.ndarray, candidates: list[bool], count: int) -> None:
    assert top.pairs.tolist() == [top_pairs(row, candidates, count) for row in scores.tolist()]
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
@given(problems(), st.integers(1, 6), st.booleans())
def test_blocks_in_any_order_give_what_sorting_gives(
    problem: tuple[np.ndarray, list[bool], list[tuple[np.ndarray, np.ndarray]]], count: int, tensors: bool
) -> None:
    scores, candidates, blocks = problem
    top = Top(len(scores), np.array(candidates), count)
    for images, pairs in blocks:
        block = scores[np.ix_(images, pairs)]
        top.update(torch.tensor(block) if tensors else block, images, pairs)
    assert_top(top, scores, candidates, count)


def test_scores_that_differ_in_their_last_bit_are_no_ties() -> None:
    scores = np.full((1, 4), 25.0, dtype=np.float32)
    scores[0, 2] = np.nextafter(np.float32(25), np.float32(26))
    scores[0, 1] = np.nextafter(np.float32(25), np.float32(24))
    top = Top(1, np.ones(4, dtype=bool), 4)
    for pairs in ([3, 1], [0, 2]):
        top.update(scores[:, pairs], np.array([0]), np.array(pairs))
    assert top.pairs.tolist() == [[2, 0, 3, 1]]


def test_images_without_scores_have_no_pairs() -> None:
    top = Top(3, np.ones(2, dtype=bool), 2)
    top.update(np.array([[1.0, 2.0]]), np.array([1]), np.arange(2))
    assert top.pairs.tolist() == [[-1, -1], [1, 0], [-1, -1]]


def test_scores_of_pairs_that_are_no_candidates_do_not_matter() -> None:
    top = Top(1, np.array([True, False, True]), 2)
    top.update(np.array([[1.0, np.nan, 2.0]]), np.array([0]), np.arange(3))
    assert top.pairs.tolist() == [[2, 0]]
