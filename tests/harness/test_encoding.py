"""Embeddings of suites: each equal to its image's or text's alone, once, and also after a kill."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

from recompose.backbones.arrays import ArrayWriter
from recompose.backbones.clip import Backbone, build
from recompose.data.pictures import Picture
from recompose.errors import DataError
from recompose.harness import encoding
from recompose.harness.encoding import Encoded, encode, without_crop
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.tasks import Choices, Task
from tests.calls import watch
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import ROUNDING
from tests.tracks.vlc.tiny_suites import captions, plain_image, plain_text, tiny_suites, write_images
from tests.training.small import KilledError

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

CPU = torch.device("cpu")
Calls = dict[str, list[int]]


@pytest.fixture(scope="module")
def clip() -> Backbone:
    return random_clip()


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    write_images(folder)
    return folder


@pytest.fixture
def calls(clip: Backbone, monkeypatch: pytest.MonkeyPatch) -> Calls:
    """How many images and texts each call of the towers was of."""
    counted: Calls = {"encode_image": [], "encode_text": []}
    for name, sizes in counted.items():
        watch(monkeypatch, clip, name, lambda inputs, sizes=sizes: sizes.append(len(inputs)))
    return counted


def encode_suites(
    clip: Backbone, root: Path, folder: Path, suites: list[Suite] | None = None, **options: Any
) -> Encoded:
    options = {"batch_size": 3, **options}
    return encode(clip, clip.preprocess, clip.tokens, suites or tiny_suites(), root, folder, CPU, **options)


def test_each_row_is_its_image_s_and_its_text_s_own(clip: Backbone, root: Path, tmp_path: Path) -> None:
    encoded = encode_suites(clip, root, tmp_path)
    assert isinstance(encoded.images, np.memmap)
    assert encoded.images.dtype == encoded.texts.dtype == np.float32
    for picture, row in encoded.picture_rows.items():
        np.testing.assert_allclose(encoded.images[row], plain_image(clip, root, picture), rtol=ROUNDING)
    for text, row in encoded.text_rows.items():
        np.testing.assert_allclose(encoded.texts[row], plain_text(clip, text), rtol=ROUNDING)


def test_each_unique_image_and_text_is_encoded_once(clip: Backbone, root: Path, tmp_path: Path, calls: Calls) -> None:
    suites = tiny_suites()
    encoded = encode_suites(clip, root, tmp_path, suites)
    shown = {picture for suite in suites for picture in suite.images}
    assert {*encoded.picture_rows} == shown and sum(calls["encode_image"]) == len(shown) == 8 + 3 + 8
    assert sum(calls["encode_text"]) == 1 + len({text for suite in suites for text in suite.texts})  # one for the width
    for sizes in calls.values():
        sizes.clear()
    again = encode_suites(clip, root, tmp_path)
    assert calls == {"encode_image": [], "encode_text": []}  # a finished pass leaves nothing to do
    np.testing.assert_array_equal(encoded.images, again.images)


@pytest.mark.parametrize("block", range(2 + 4))  # of texts, then of pictures
def test_a_killed_pass_goes_on_and_equals_an_unbroken_one(
    clip: Backbone, root: Path, tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    whole = encode_suites(clip, root, tmp_path / "whole", batch_size=6)
    for sizes in calls.values():
        sizes.clear()
    come = iter(range(100))

    def dying(*_: Any) -> None:
        if next(come) == block:
            raise KilledError

    with monkeypatch.context() as during:
        watch(during, ArrayWriter, "append", dying)
        with pytest.raises(KilledError):
            encode_suites(clip, root, tmp_path / "killed", batch_size=6)
    again = encode_suites(clip, root, tmp_path / "killed", batch_size=6)
    np.testing.assert_array_equal(again.images, whole.images)
    np.testing.assert_array_equal(again.texts, whole.texts)
    assert (again.picture_rows, again.text_rows) == (whole.picture_rows, whole.text_rows)
    sizes = [*calls["encode_text"], *calls["encode_image"]]
    assert len(sizes) == 1 + 2 + 4 + 1  # the width, all blocks, the one that the kill lost


def test_other_weights_other_images_and_other_texts_are_encoded_anew(
    root: Path, tmp_path: Path, clip: Backbone
) -> None:
    data = tmp_path / "data"
    write_images(data)
    other = random_clip()
    first = encode_suites(other, data, tmp_path / "out").images.copy()
    with torch.no_grad():
        other.model.visual.proj[0] += 0.1  # of all rows it would change nothing: what is projected has mean 0
    second = encode_suites(other, data, tmp_path / "out").images.copy()
    assert not np.allclose(first, second)
    Image.new("RGB", (44, 33), "red").save(data / "images" / "0.png")
    third = encode_suites(other, data, tmp_path / "out")
    row = third.picture_rows[Picture("images/0.png")]
    assert not np.allclose(second[row], third.images[row])
    fewer = encode_suites(other, data, tmp_path / "out", tiny_suites()[:1])
    assert len(fewer.images) == 6


def test_the_activation_is_part_of_what_was_encoded(clip: Backbone) -> None:
    quick = build("shapes-clip", "quick_gelu")
    quick.load_state_dict(clip.state_dict())
    assert encoding._model_digest(quick) != encoding._model_digest(clip)
    same = build("shapes-clip", "gelu")
    same.load_state_dict(clip.state_dict())
    assert encoding._model_digest(same) == encoding._model_digest(clip)


def truncated(path: Path) -> None:
    whole = path.with_name("0.png").read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


BROKEN: dict[str, tuple[str, Callable[[Path], object] | None, str]] = {
    "missing": ("images/bad.png", None, "does not exist"),
    "truncated": ("images/bad.png", truncated, "is no readable image"),
    "thin": ("images/bad.png", lambda path: Image.new("L", (1, 100_000)).save(path), "is too thin"),
    "outside": ("../images/0.png", None, "is no path inside the folder"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_image_is_named_with_its_first_item_or_left_out(clip: Backbone, tmp_path: Path, name: str) -> None:
    file, break_it, why = BROKEN[name]
    data = tmp_path / "data"
    write_images(data)
    if break_it:
        break_it(data / file)
    asked, offered = np.array([0, 0, 0, 0, 1]), np.array([[0, 1]] * 5)  # the last item alone shows it
    tasks: dict[str, Task] = {"sugarcrepe/swap_obj": Choices("i2t", asked, offered, np.zeros(5, dtype=int))}
    suite = Suite("sugarcrepe", (Picture("images/0.png"), Picture(file)), captions(2), tasks)
    with raises(DataError, "broken-image", f"{file}, item 4 (from 0) of sugarcrepe/swap_obj") as error:
        encode_suites(clip, data, tmp_path / "out", [suite])
    assert why in str(error.value)
    for _ in range(2):  # also where it was found by an earlier pass
        encoded = encode_suites(clip, data, tmp_path / "out", [suite], skip_broken=True)
        assert [each.picture.path for each in encoded.broken] == [file]
        features = encoded.features(suite)
        assert features.image_rows[1] == -1
        np.testing.assert_allclose(
            encoded.images[features.image_rows[0]], plain_image(clip, data, suite.images[0]), rtol=ROUNDING
        )


def test_embeddings_that_are_not_finite_are_refused(clip: Backbone, root: Path, tmp_path: Path) -> None:
    other = random_clip()
    with torch.no_grad():
        other.model.visual.proj.fill_(torch.inf)
    with raises(DataError, "infinite-embedding", "images/0.png"):
        encode_suites(other, root, tmp_path)


def test_a_crop_that_cannot_be_taken_away_is_refused() -> None:
    with raises(DataError, "unknown-crop", "preprocess"):
        without_crop(lambda _: torch.zeros(3, 4, 4))
