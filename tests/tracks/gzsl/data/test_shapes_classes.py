"""Drawn classes: the same from the same seed, what their strengths and splits say, and files as the field has them."""

from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat

from recompose.synthetic.creatures import ASPECTS, SIZE
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.shapes_classes import (
    ATTRIBUTES,
    SyntheticClasses,
    choose_classes,
    draw,
    image_values,
    read,
)
from tests.precision import ROUNDING

pytestmark = pytest.mark.slow

IMAGES = {"trainval": 120, "test_seen": 60, "test_unseen": 40}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw(folder, seed=3, images=IMAGES)
    return folder


@pytest.fixture(scope="module")
def data(root: Path) -> ClassData:
    return read(root, IMAGES)


def signatures(world: SyntheticClasses) -> np.ndarray:
    """Probabilities [classes, attributes] that an image shows an attribute."""
    return np.array([drawn.signature() for drawn in world.classes]) / 100


def indicators(values: dict[str, str]) -> list[bool]:
    return [values.get(aspect) == value for aspect, each in ASPECTS.items() for value in each]


# the same from the same seed


# as the field's benchmarks are on disk


def test_a_drawn_data_set_passes_its_own_checks(root: Path, data: ClassData) -> None:
    assert (len(data.classes), data.attributes) == (40, ATTRIBUTES)
    assert data.statistics["training_images"] + data.statistics["validation_images"] == IMAGES["trainval"]
    assert {split: len(data.rows(split)) for split in SPLITS} == IMAGES
    with Image.open(root / data.paths[0]) as picture:
        assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (SIZE, SIZE))


def test_every_class_of_a_split_has_as_many_images(data: ClassData) -> None:
    for split in SPLITS:
        counts = np.bincount(data.labels[data.rows(split)], minlength=40)
        own = ~data.seen if split == "test_unseen" else data.seen
        assert set(counts[own]) == {IMAGES[split] // own.sum()}
        assert not counts[~own].any()


def test_signatures_are_strengths_over_their_length(root: Path, data: ClassData) -> None:
    fields = loadmat(root / "att_splits.mat")
    strengths = fields["original_att"]
    assert strengths.min() == 0
    assert strengths.max() == 100
    np.testing.assert_allclose(fields["att"], strengths / np.linalg.norm(strengths, axis=0), rtol=1e-12)
    np.testing.assert_allclose(
        data.signatures, signatures(choose_classes(3)) / np.linalg.norm(strengths / 100, axis=0)[:, None], rtol=ROUNDING
    )


# classes


def test_splits_share_no_class_and_validation_is_of_seen_ones() -> None:
    for world in map(choose_classes, range(8)):
        assert (len(world.seen), len(world.unseen), len(world.validation)) == (30, 10, 7)
        assert not set(world.seen) & set(world.unseen)
        assert set(world.validation) < set(world.seen)


def test_classes_of_training_show_every_attribute() -> None:
    for world in map(choose_classes, range(8)):
        training = [index for index in world.seen if index not in world.validation]
        assert (np.sum(signatures(world)[training] >= 0.75, axis=0) >= 2).all()


# images


def test_clean_images_show_attributes_as_often_as_strengths_say() -> None:
    world, rng, counted = choose_classes(0), Random(0), 1500
    for label in (0, 13, 39):
        clean = [values for values, hard in (image_values(world, label, rng) for _ in range(counted)) if not hard]
        frequency = np.array([indicators(values) for values in clean]).mean(axis=0)
        np.testing.assert_allclose(frequency, signatures(world)[label], atol=0.06)
