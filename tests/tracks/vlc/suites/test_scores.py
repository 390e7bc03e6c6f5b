"""Scores from embeddings against scoring item by item with open_clip, and against plain loops over random rows."""

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from recompose.backbones.clip import Backbone
from recompose.harness.encoding import encode
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites import scores as module
from recompose.tracks.vlc.suites.scores import (
    BROKEN,
    LEFT_OUT,
    Features,
    read_scores,
    write_scores,
)
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool, Task, Triplets
from tests.clips import random_clip
from tests.tracks.vlc.tiny_suites import plain_image, plain_text, tiny_suites, write_images

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


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[Backbone, Path, list[Suite], dict[str, np.ndarray]]:
    root = tmp_path_factory.mktemp("world")
    write_images(root)
    clip, suites = random_clip(), tiny_suites()
    encoded = encode(clip, clip.preprocess, clip.tokens, suites, root, root / "out", torch.device("cpu"), batch_size=5)
    scores = {name: array for suite in suites for name, array in suite.scores(encoded.features(suite)).items()}
    return clip, root, suites, scores


World = tuple[Backbone, Path, list[Suite], dict[str, np.ndarray]]


def test_choices_and_groups_equal_scoring_item_by_item(world: World) -> None:
    clip, root, suites, scores = world
    for suite in suites:
        for name, task in suite.tasks.items():
            if isinstance(task, Choices):
                for item, row in enumerate(scores[name]):
                    for column, offered in enumerate(task.offered[item]):
                        if offered == ABSENT:
                            assert np.isnan(row[column])
                            continue
                        pair = (task.asked[item], offered) if task.query == "i2t" else (offered, task.asked[item])
                        own = plain_image(clip, root, suite.images[pair[0]]) @ plain_text(clip, suite.texts[pair[1]])
                        assert row[column] == pytest.approx(own, abs=1e-5)
            elif isinstance(task, Groups):
                for item, square in enumerate(scores[name]):
                    for i in (0, 1):
                        for j in (0, 1):
                            picture, caption = suite.images[task.images[item, i]], suite.texts[task.texts[item, j]]
                            own = plain_image(clip, root, picture) @ plain_text(clip, caption)
                            assert square[i, j] == pytest.approx(own, abs=1e-5)


def test_classes_and_retrieval_equal_scoring_item_by_item(world: World) -> None:
    clip, root, suites, scores = world
    told, pool = suites[4], suites[5]
    for name, task in told.tasks.items():
        assert isinstance(task, Classes)
        classes = []
        for prompts in task.prompts:
            mean = sum(plain_text(clip, told.texts[prompt]) for prompt in prompts) / len(prompts)
            classes.append(mean / np.linalg.norm(mean))
        for row, number in zip(scores[name], task.images, strict=True):
            own = plain_image(clip, root, told.images[number])
            odds = np.exp([100 * float(own @ each) for each in classes])
            np.testing.assert_allclose(row, odds / odds.sum(), atol=1e-3)
    task = pool.tasks["coco"]
    assert isinstance(task, Pool)
    table = np.array(
        [
            [
                plain_image(clip, root, pool.images[number]) @ plain_text(clip, pool.texts[caption])
                for caption in task.texts
            ]
            for number in task.images
        ]
    )
    numbers = [*task.texts]  # captions 9, 10 and 11 are texts 0, 1 and 2 again, of another image
    for row in range(4):
        order = sorted(range(12), key=lambda caption: (-table[row, numbers.index(numbers[caption])], caption))
        first = next(place for place, caption in enumerate(order) if task.image_of[caption] == row)
        assert scores["coco/i2t"][row] == first
    for column in range(12):
        assert scores["coco/t2i"][column] == np.sum(table[:, column] > table[task.image_of[column], column])


@given(st.integers(0, 2**32 - 1), st.sampled_from(["i2t", "t2i"]))
def test_choices_equal_a_plain_loop(seed: int, query: Literal["i2t", "t2i"]) -> None:
    rng = np.random.default_rng(seed)
    asked, offered = rng.integers(0, 5, 7), rng.integers(-1, 6, (7, 4))
    given_features = features(seed, 6, 6, broken=(2,))
    found = task_scores(Choices(query, asked, offered, np.zeros(7, int)), given_features)
    for item in range(7):
        shown = [asked[item]] if query == "i2t" else [each for each in offered[item] if each != ABSENT]
        for column in range(4):
            if offered[item, column] == ABSENT or 2 in shown:
                assert np.isnan(found[item, column])
                continue
            pair = (asked[item], offered[item, column])
            i, t = pair if query == "i2t" else pair[::-1]
            assert found[item, column] == pytest.approx(image(given_features, i) @ text(given_features, t), abs=1e-6)


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
    found = task_scores(Choices("i2t", rng.integers(0, 5, 40), offered, np.zeros(40, int)), given_features)
    same = offered[:, :1] == offered
    assert (found[:, :1] == found)[same].all()
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


def test_triplets_are_cosines_with_the_image_and_between_texts() -> None:
    given_features = features(7, 4, 5, broken=(2,))
    task = Triplets(np.arange(4), np.array([[0, 1, 2], [3, 4, 3], [0, 1, 2], [4, 0, 1]]))
    scores = task_scores(task, given_features)
    for item, (first, second, false) in enumerate(task.texts):
        if item == 2:
            assert np.isnan(scores[item]).all()
            continue
        pairs = [(first, second), (first, false), (second, false)]
        expected = [image(given_features, item) @ text(given_features, number) for number in (first, second, false)]
        expected += [text(given_features, one) @ text(given_features, other) for one, other in pairs]
        np.testing.assert_allclose(scores[item], expected, atol=1e-6)
    assert scores[1, 0] == scores[1, 2] and scores[1, 3] == scores[1, 5]  # the false caption is the first true one


def test_groups_and_classes_leave_out_what_cannot_be_read() -> None:
    given_features = features(6, 6, 6, broken=(3,))
    squares = task_scores(Groups(np.arange(6).reshape(3, 2), np.arange(6).reshape(3, 2)), given_features)
    assert np.isnan(squares[1]).all() and not np.isnan(squares[[0, 2]]).any()
    told = task_scores(Classes(np.arange(6), np.zeros(6, int), ((0,), (1,)), ("a", "b")), given_features)
    assert np.isnan(told[3]).all()
    np.testing.assert_allclose(np.delete(told, 3, axis=0).sum(axis=1), 1, atol=1e-6)


def test_scores_are_read_as_they_were_written(world: World, tmp_path: Path) -> None:
    scores = world[3]
    write_scores(scores, tmp_path / "scores.safetensors")
    read = read_scores(tmp_path / "scores.safetensors")
    assert {*read} == {*scores} >= {"sugarcrepe/swap_obj", "winoground", "coco/i2t", "coco/t2i"}
    for name, array in scores.items():
        np.testing.assert_array_equal(read[name], array)
        assert read[name].dtype == array.dtype
