"""An evaluation of all suites against scoring item by item, with open_clip and raw files."""

from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file

from recompose.backbones.clip import Backbone, build
from recompose.backbones.pixels import write_pixels
from recompose.data.pictures import Picture
from recompose.recipes.plan import Recipe
from recompose.tracks.building import COSTS, EMBEDDINGS
from recompose.tracks.vlc.attribution import store
from recompose.tracks.vlc.data.index import pictures, write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.evaluation import evaluate
from recompose.tracks.vlc.methods.clip import UntunedCLIP
from recompose.tracks.vlc.suites.scores import FILE, read_scores
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool, Triplets
from tests.clips import random_clip, write_backbone
from tests.precision import cosine_error
from tests.tracks.documents import document, recipe_of
from tests.tracks.vlc.tiny_suites import plain_image, plain_text, tiny_suites, write_tiny_suites

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

ATOL = cosine_error(64)  # embeddings and cosines are kept in 32 bits


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A backbone, and two collections of suites with their pictures, of the same raw files."""
    folder = tmp_path_factory.mktemp("world")
    built = write_tiny_suites(folder) | {"backbone": folder / "backbone"}
    built["backbone"].mkdir()
    write_backbone(random_clip(), built["backbone"])
    return built


def clip_recipe(save: tuple[str, ...] = (), activation: str = "own") -> Recipe:
    return recipe_of(document(UntunedCLIP, {"scoring": {"activation": activation}}, save=save))


def by_hand(clip: Backbone, root: Path, suites: list[Suite]) -> dict[str, np.ndarray]:
    """The scores of suites, each image and each text encoded by itself; of classes their probabilities."""
    scores: dict[str, np.ndarray] = {}
    for suite in suites:
        rows_of_texts = np.array([plain_text(clip, text) for text in suite.texts])
        rows_of_images = np.array([plain_image(clip, root, each) for each in suite.images])
        table = rows_of_images @ rows_of_texts.T
        for name, task in suite.tasks.items():
            match task:
                case Choices():
                    scores[name] = np.full(task.offered.shape, np.nan)
                    for item, offered in enumerate(task.offered):
                        for column, one in enumerate(offered):
                            if one != ABSENT:
                                pair = (task.asked[item], one) if task.query == "i2t" else (one, task.asked[item])
                                scores[name][item, column] = table[pair]
                case Groups():
                    both = zip(task.images, task.texts, strict=True)
                    scores[name] = np.array([[[table[i, t] for t in texts] for i in images] for images, texts in both])
                case Triplets():
                    between = rows_of_texts @ rows_of_texts.T
                    three = zip(task.images, *task.texts.T, strict=True)
                    scores[name] = np.array(
                        [[*table[i, [p, q, n]], between[p, q], between[p, n], between[q, n]] for i, p, q, n in three]
                    )
                case Classes():
                    texts = [rows_of_texts[[*prompts]].mean(axis=0) for prompts in task.prompts]
                    units = np.array([text / np.linalg.norm(text) for text in texts])
                    powers = np.exp(100 * rows_of_images[task.images] @ units.T)
                    scores[name] = powers / powers.sum(axis=1, keepdims=True)
                case Pool():
                    captions = table[task.images][:, task.texts].T
                    right = [captions[caption, image] for caption, image in enumerate(task.image_of)]
                    scores[f"{name}/t2i"] = (captions > np.array(right)[:, None] + ATOL).sum(axis=1)
    return scores


def assert_equal(result: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    """Ranks of captions are left out: captions that occur twice tie, which test_scores is about."""
    assert set(expected) == {name for name in result if name != "coco/i2t"}
    for name, scores in expected.items():
        atol = 100 * ATOL if name.startswith("elevater") else ATOL  # CLIP's factor, before the softmax
        np.testing.assert_allclose(result[name], scores, atol=atol, err_msg=name)


def test_an_evaluation_equals_scoring_item_by_item(needs: dict[str, Path], tmp_path: Path) -> None:
    evaluate({tmp_path: clip_recipe()}, needs)
    assert_equal(read_scores(tmp_path / FILE), by_hand(random_clip(), needs["backbone"].parent, tiny_suites()))
    assert {path.name for path in tmp_path.iterdir()} == {FILE, COSTS}


def test_the_other_activation_is_that_of_an_evaluation_alone(needs: dict[str, Path], tmp_path: Path) -> None:
    other = build("shapes-clip", "quick_gelu").eval()
    other.load_state_dict(random_clip().state_dict())
    evaluate({tmp_path: clip_recipe(activation="other")}, needs)
    result = read_scores(tmp_path / FILE)
    assert_equal(result, by_hand(other, needs["backbone"].parent, tiny_suites()))
    own = by_hand(random_clip(), needs["backbone"].parent, tiny_suites())
    assert np.abs(result["winoground"] - own["winoground"]).max() > 10 * ATOL


def test_attribution_is_kept_of_aro_where_it_is_asked_for(needs: dict[str, Path], tmp_path: Path) -> None:
    folder, texts = tmp_path / "aro", ("the dog is on the box", "the box is on the dog")
    task = Choices("i2t", np.array([0]), np.array([[1, 0]]), np.array([1]), ("on",))
    write_suites([Suite("aro", (Picture("images/0.png"),), texts, {"aro/vg_relation": task})], folder)
    (tmp_path / "pixels").mkdir()
    write_pixels(pictures(folder), needs["backbone"].parent, tmp_path / "pixels", 32)
    asked = {"backbone": needs["backbone"], "suites-aro": folder, "pixels-aro": tmp_path / "pixels"}
    evaluate({tmp_path: clip_recipe(save=("attribution",))}, asked)
    (stored,) = store.read(tmp_path / store.FILE).values()
    words = [texts[0][start:end] for start, end in stored.spans[0] if start >= 0]
    assert words == texts[0].split()
    assert {*stored.scores} == {"attention", "gradcam", "perturbation", "gradient"}


def test_kept_embeddings_are_those_of_pictures_and_texts(needs: dict[str, Path], tmp_path: Path) -> None:
    evaluate({tmp_path: clip_recipe(save=("embeddings",))}, needs)
    stored, clip, root = load_file(tmp_path / EMBEDDINGS), random_clip(), needs["backbone"].parent
    assert set(stored) == {f"{name}/{what}" for name in ("one", "two") for what in ("images", "texts")}
    for row, picture in zip(stored["two/images"], pictures(needs["suites-two"]), strict=True):
        np.testing.assert_allclose(row, plain_image(clip, root, picture), atol=ATOL)
    assert len(stored["one/texts"]) == 12  # all suites have the same ones
