"""Scores from embeddings against scoring item by item with open_clip, and against plain loops over random rows."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recompose.tracks.vlc.suites import scores as module
from recompose.tracks.vlc.suites.scores import (
    BROKEN,
    LEFT_OUT,
    Features,
    read_scores,
    write_scores,
)
from recompose.tracks.vlc.suites.tasks import Choices, Classes, Pool, Task

pytestmark = pytest.mark.slow


def unit(rng: np.random.Generator, *shape: int) -> np.ndarray:
    rows = rng.normal(size=shape).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=-1, keepdims=True)


def features(seed: int, images: int, texts: int, broken: tuple[int, ...] = ()) -> Features:
    """Random rows, which images and texts take in another order."""
    rng = np.random.default_rng(seed)
    image_rows = rng.permutation(images)
    image_rows[list(broken)] = BROKEN
    return Features(unit(rng, images, 8), unit(rng, texts, 8), image_rows, rng.permutation(texts))


def task_scores(task: Task, given_features: Features) -> np.ndarray:
    (scores,) = task.scores("task", given_features).values()
    return scores


def pool_ranks(task: Pool, given_features: Features) -> tuple[np.ndarray, np.ndarray]:
    ranks = task.scores("task", given_features)
    return ranks["task/i2t"], ranks["task/t2i"]


def image(given_features: Features, number: int) -> np.ndarray:
    return given_features.images[given_features.image_rows[number]].astype(np.float64)


def text(given_features: Features, number: int) -> np.ndarray:
    return given_features.texts[given_features.text_rows[number]].astype(np.float64)


def test_blocks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    given_features = features(3, 9, 11)
    rng = np.random.default_rng(3)
    choices = Choices("i2t", rng.integers(0, 9, 30), rng.integers(0, 11, (30, 3)), np.zeros(30, int))
    classes = Classes(np.arange(9), np.arange(9) % 2, ((0, 1), (2, 3, 4)), ("a", "b"))
    pool = Pool(np.arange(9), np.arange(11), np.array([0, 1, 2, 3, 4, 5, 6, 7, 8, 0, 1]))
    whole = [
        task_scores(choices, given_features),
        task_scores(classes, given_features),
        *pool_ranks(pool, given_features),
    ]
    monkeypatch.setattr(module, "BLOCK", 20)
    parts = [
        task_scores(choices, given_features),
        task_scores(classes, given_features),
        *pool_ranks(pool, given_features),
    ]
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@given(st.integers(0, 2**32 - 1))
def test_equal_captions_score_equal_wherever_they_stand(seed: int) -> None:
    """A product of matrices may round a column by its place."""
    rng = np.random.default_rng(seed)
    given_features = Features(unit(rng, 5, 513), unit(rng, 4, 513), np.arange(5), np.arange(4))
    offered = rng.integers(0, 4, (40, 3))
    result = task_scores(Choices("i2t", rng.integers(0, 5, 40), offered, np.zeros(40, int)), given_features)
    same = offered[:, :1] == offered
    assert (result[:, :1] == result)[same].all()
    copies = rng.integers(0, 4, 37)
    image_of = np.arange(37) % 5
    to_text, _ = pool_ranks(Pool(np.arange(5), copies, image_of), given_features)
    for row in range(5):
        own = [given_features.images[row].astype(float) @ given_features.texts[copy].astype(float) for copy in range(4)]
        order = sorted(range(37), key=lambda caption: (-own[copies[caption]], caption))
        assert to_text[row] == next(place for place, caption in enumerate(order) if image_of[caption] == row)


def test_retrieval_leaves_out_what_cannot_be_read() -> None:
    given_features = features(5, 6, 9, broken=(1, 4))
    task = Pool(np.arange(6), np.arange(9), np.array([0, 1, 2, 3, 4, 5, 0, 1, 2]))
    to_text, to_image = pool_ranks(task, given_features)
    readable = [0, 2, 3, 5]
    for row in range(6):
        if row not in readable:
            assert to_text[row] == LEFT_OUT
            continue
        table = np.array([image(given_features, row) @ text(given_features, caption) for caption in range(9)])
        assert to_text[row] == np.sum(table[task.image_of != row] > table[task.image_of == row].max())
    for caption, own in enumerate(task.image_of):
        if own not in readable:
            assert to_image[caption] == LEFT_OUT
            continue
        table = {row: image(given_features, row) @ text(given_features, caption) for row in readable}
        assert to_image[caption] == sum(score > table[own] for score in table.values())


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    scores = {"winoground": unit(np.random.default_rng(0), 3, 2, 2), "coco/t2i": np.arange(4)[::-1]}
    write_scores(scores, tmp_path / "scores.safetensors")
    stored = read_scores(tmp_path / "scores.safetensors")
    for name, array in scores.items():
        np.testing.assert_array_equal(stored[name], array, strict=True)
