"""What is kept of attribution against looking at each caption by itself, and what ARO's captions speak of."""

from collections.abc import Sequence

import numpy as np
import pytest
import torch

from recompose.backbones.clip import Backbone, end_of_text
from recompose.data.pictures import Picture
from recompose.tracks.vlc.attribution.attribute import REPLACEMENTS, attributions
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, patches
from recompose.tracks.vlc.attribution.store import Attributed
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.embeddings import image_embeddings, text_embeddings
from recompose.tracks.vlc.suites.scores import Features
from recompose.tracks.vlc.suites.tasks import Choices
from recompose.tracks.vlc.text.aro_captions import ATTRIBUTES, RELATIONS, concepts_of
from tests.clips import random_clip
from tests.tracks.vlc.tiny_suites import plain_text

CPU = torch.device("cpu")
SAID = ("the dog is left of the red cup", "the cup is under the old dog", "a dog under a cup", "the dog is on the ball")
FALSE = (
    "the red cup is left of the dog",
    "the old dog is under the cup",
    "a cup under a dog",
    "the ball is on the dog",
)
GROUPS = ("left of", "under", "under", "on")
BOUND = ("the red dog and the blue cup", "the blue ball and the red box")
OTHERS = ("the blue dog and the red cup", "the red ball and the blue box")
ATOL = 1e-6
SALT = ("red", "salt and pepper pot")


@pytest.fixture(scope="module")
def clip() -> Backbone:
    return random_clip()


@pytest.fixture(scope="module")
def pixels() -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (5, 3, 32, 32), dtype=np.uint8)


def aro() -> Suite:
    """Items of two groups of captions; two of the first show the same image."""
    texts = (*SAID, *FALSE, *BOUND, *OTHERS)
    files = tuple(Picture(f"{number}.png") for number in range(4))
    shown = np.array([0, 0, 2, 3])
    relations = Choices("i2t", shown, np.stack([np.arange(4, 8), np.arange(4)], axis=1), np.ones(4, int), GROUPS)
    bound = np.array([[10, 8], [11, 9]])
    attributes = Choices("i2t", np.array([1, 2]), bound, np.ones(2, int), ("blue_red", "blue_red"))
    return Suite("aro", files, texts, {RELATIONS: relations, ATTRIBUTES: attributes})


def features_of(clip: Backbone, pixels: np.ndarray, rows: list[int]) -> Features:
    suite = aro()
    images, texts = image_embeddings(clip, pixels, CPU, "test"), text_embeddings(clip, suite.texts, CPU, "test")
    return Features(images, texts, np.array(rows), np.arange(len(suite.texts)))


@pytest.fixture(scope="module")
def stored(clip: Backbone, pixels: np.ndarray) -> dict[str, Attributed]:
    features = features_of(clip, pixels, [4, 1, 2, 3])  # of the first image the last pixels
    return attributions(clip, aro(), features, pixels, "test")


@pytest.mark.parametrize(
    ("task", "caption", "group", "expected"),
    [
        (RELATIONS, "the dog is in the box in the street", "in", ["dog", "in", "box in the street"]),
        (RELATIONS, "on the dog", "on", []),
        (ATTRIBUTES, "the red salt and pepper pot and the old cup", "red_old", [*SALT, "old", "cup"]),
        (ATTRIBUTES, "the red dog and the red cup", "red_red", ["red", "dog", "red", "cup"]),
        (ATTRIBUTES, "the (old dog and the red cup", "(old_red", ["(old", "dog", "red", "cup"]),
    ],
)
def test_what_captions_speak_of(task: str, caption: str, group: str, expected: Sequence[str]) -> None:
    assert [concept.text for concept in concepts_of(task, caption, group)] == expected


def test_items_captions_and_marks_are_those_of_the_suite(clip: Backbone, stored: dict[str, Attributed]) -> None:
    relations = stored[RELATIONS]
    assert relations.items.tolist() == [0, 1, 2, 3]
    for row, caption in enumerate(SAID):
        assert relations.ids[row].tolist() == clip.tokens([caption])[0, : relations.ids.shape[1]].tolist()
        concepts = concepts_of(RELATIONS, caption, GROUPS[row])
        for marked, are_objects in ((relations.objects, True), (relations.composition, False)):
            words = {caption[start:end] for start, end in relations.spans[row][marked[row]] if start >= 0}
            expected = [each.text.split() for each in concepts if (each.kind == "object") == are_objects]
            assert words == {word for parts in expected for word in parts}
    assert not relations.objects[2].any()  # is not of the template


def test_scores_are_those_of_each_caption_by_itself(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    shown = clip.from_bytes(torch.from_numpy(pixels[[4, 4, 2, 3]]))
    for row, caption in enumerate(SAID):
        ids = clip.tokens([caption])
        length = int(end_of_text(ids)) + 1
        for method, way in (("attention", attention), ("gradcam", gradcam), ("gradient", gradient)):
            expected = way(clip, shown[row : row + 1], ids)[0, :length].detach().numpy()
            result = stored[RELATIONS].scores[method][row]
            np.testing.assert_allclose(result[:length], expected, rtol=1e-3, atol=ATOL)
            assert np.isnan(result[length:]).all()


def test_a_drop_is_the_mean_over_what_a_concept_is_replaced_by(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    """Of two attributes each has one other, of four objects three: in four draws each of them at least once."""
    attributes = stored[ATTRIBUTES]
    image = image_embeddings(clip, pixels[[1]], CPU, "test")[0]
    caption, scale = BOUND[0], float(clip.logit_scale)
    place = next(number for number, (start, end) in enumerate(attributes.spans[0]) if caption[start:end] == "red")
    whole = image @ plain_text(clip, caption)
    drop = scale * (whole - image @ plain_text(clip, caption.replace("red", "blue")))
    assert attributes.scores["perturbation"][0, place] == pytest.approx(drop, rel=1e-3)
    others = [
        scale * (whole - image @ plain_text(clip, caption.replace("dog", word))) for word in ("cup", "ball", "box")
    ]
    place = next(number for number, (start, end) in enumerate(attributes.spans[0]) if caption[start:end] == "dog")
    means = {(sum(others) + twice) / REPLACEMENTS for twice in others}
    assert min(abs(attributes.scores["perturbation"][0, place] - mean) for mean in means) < 1e-3 * max(map(abs, means))
    assert np.isnan(attributes.scores["perturbation"][0, 0])  # the start of text


def test_similarity_is_with_the_relation_or_both_attributes(clip: Backbone, stored: dict[str, Attributed]) -> None:
    for row, (caption, group) in enumerate(zip(SAID, GROUPS, strict=True)):
        expected = plain_text(clip, caption) @ plain_text(clip, group)
        np.testing.assert_allclose(stored[RELATIONS].similarity[row], expected if row != 2 else np.nan, atol=1e-5)
    both = [plain_text(clip, BOUND[0]) @ plain_text(clip, attribute) for attribute in ("red", "blue")]
    assert stored[ATTRIBUTES].similarity[0] == pytest.approx(np.mean(both), abs=1e-5)


def test_patches_are_of_the_first_images_each_once(
    clip: Backbone, pixels: np.ndarray, stored: dict[str, Attributed]
) -> None:
    relations = stored[RELATIONS]
    assert relations.shown.tolist() == [0, 2, 3]
    for place, (row, number) in enumerate(((0, 4), (2, 2), (3, 3))):
        shown = clip.from_bytes(torch.from_numpy(pixels[[number]]))
        expected = patches(clip, shown, clip.tokens([SAID[row]]))[0].detach().numpy()
        np.testing.assert_allclose(relations.patches["gradcam"][place], expected, rtol=1e-3, atol=ATOL)


def test_an_item_without_a_readable_image_is_left_out_and_another_suite_has_nothing(
    clip: Backbone, pixels: np.ndarray
) -> None:
    suite = aro()
    features = features_of(clip, pixels, [-1, 1, 2, 3])
    result = attributions(clip, suite, features, pixels, "test")
    assert result[RELATIONS].items.tolist() == [2, 3]
    other = Suite("comvg", suite.images, suite.texts, {"comvg": suite.tasks[RELATIONS]})
    assert attributions(clip, other, features, pixels, "test") == {}
