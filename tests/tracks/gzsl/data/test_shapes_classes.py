"""Drawn classes: the same from the same seed, what their strengths and splits say, and files as the field has them."""

import hashlib
import os
import subprocess
import sys
from collections import Counter
from itertools import combinations
from pathlib import Path
from random import Random

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat

from recompose.errors import ArgumentError, DataError
from recompose.synthetic.creatures import ASPECTS, SIZE
from recompose.tracks.gzsl.data import shapes_classes
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData
from recompose.tracks.gzsl.data.shapes_classes import (
    ATTRIBUTES,
    SyntheticClasses,
    choose_classes,
    draw,
    image_values,
    plan_images,
    read,
    word_vectors,
)
from tests.errors import raises

pytestmark = pytest.mark.slow

IMAGES = {"trainval": 120, "test_seen": 60, "test_unseen": 40}
SEEDS = range(8)


def digests(folder: Path) -> dict[str, str]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("drawn")
    draw(folder, seed=3, images=IMAGES)
    return folder


@pytest.fixture(scope="module")
def data(root: Path) -> ClassData:
    return read(root, IMAGES)


@pytest.fixture(scope="module")
def worlds() -> list[SyntheticClasses]:
    return [choose_classes(seed) for seed in SEEDS]


def signatures(world: SyntheticClasses) -> np.ndarray:
    """Probabilities [classes, attributes] that an image shows an attribute."""
    return np.array([drawn.signature() for drawn in world.classes]) / 100


def indicators(values: dict[str, str]) -> list[bool]:
    return [values.get(aspect) == value for aspect, each in ASPECTS.items() for value in each]


# the same from the same seed


def test_the_same_seed_gives_the_same_bytes_in_another_process_at_another_time(root: Path, tmp_path: Path) -> None:
    code = (
        "import sys, types, time; from pathlib import Path; sys.modules['torch'] = types.ModuleType('torch');"
        "time.asctime = lambda *_: 'another time';"
        "from recompose.tracks.gzsl.data.shapes_classes import draw;"
        f"draw(Path(sys.argv[1]), seed=3, images={IMAGES})"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, env=os.environ | {"PYTHONHASHSEED": "77"})
    assert digests(tmp_path) == digests(root)


def test_another_seed_gives_other_classes_splits_and_images(
    root: Path, tmp_path: Path, worlds: list[SyntheticClasses]
) -> None:
    draw(tmp_path, seed=4, images=IMAGES)
    same = set(digests(tmp_path).values()) & set(digests(root).values())
    assert same == {digests(root)[name] for name in ("attributes.txt", "words.npy")}
    assert len({world.unseen for world in worlds}) == len({world.validation for world in worlds}) == len(worlds)


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
        data.signatures, signatures(choose_classes(3)) / np.linalg.norm(strengths / 100, axis=0)[:, None], rtol=1e-6
    )


def test_files_say_nothing_of_when_they_were_written(root: Path) -> None:
    for name in ("res101.mat", "att_splits.mat"):
        assert (root / name).read_bytes()[:116].strip() == b"MATLAB 5.0 MAT-file, drawn"


def test_a_data_set_drawn_with_other_counts_is_refused(root: Path) -> None:
    with raises(DataError, "wrong-count"):
        read(root, IMAGES | {"test_seen": 90})


def test_images_that_cannot_be_as_many_of_each_class_are_refused(tmp_path: Path) -> None:
    with raises(ArgumentError, place="images"):
        draw(tmp_path, seed=0, images=IMAGES | {"test_unseen": 41})


def test_flags_of_hard_images_are_those_that_were_drawn(data: ClassData) -> None:
    world = choose_classes(3)
    assert data.hard.tolist() == [image.values(world, 3)[1] for image in plan_images(world, IMAGES)]
    assert 0.08 < data.hard.mean() < 0.22


# classes


def test_splits_share_no_class_and_validation_is_of_seen_ones(worlds: list[SyntheticClasses]) -> None:
    for world in worlds:
        assert (len(world.seen), len(world.unseen), len(world.validation)) == (30, 10, 7)
        assert not set(world.seen) & set(world.unseen)
        assert set(world.validation) < set(world.seen)


def test_unseen_classes_have_seen_relatives_and_unseen_ones(worlds: list[SyntheticClasses]) -> None:
    for world in worlds:
        assert all(len(world.seen_relatives(label)) >= 2 for label in range(40))
        assert Counter(Counter(index // 5 for index in world.unseen).values()) == {2: 5}


def test_classes_of_training_show_every_attribute(worlds: list[SyntheticClasses]) -> None:
    for world in worlds:
        training = [index for index in world.seen if index not in world.validation]
        assert (np.sum(signatures(world)[training] >= 0.75, axis=0) >= 2).all()


def test_no_two_classes_are_alike(worlds: list[SyntheticClasses]) -> None:
    for world in worlds:
        unit = signatures(world) / np.linalg.norm(signatures(world), axis=1, keepdims=True)
        assert max(float(one @ other) for one, other in combinations(unit, 2)) < 0.93
        assert len({drawn.name for drawn in world.classes}) == 40


def test_attributes_are_long_tailed(worlds: list[SyntheticClasses]) -> None:
    frequencies = np.array([np.sort(signatures(world).mean(axis=0)) for world in worlds])
    assert (frequencies[:, -3:].mean(axis=1) > 2 * frequencies[:, :10].mean(axis=1)).all()
    assert (frequencies[:, 0] > 0.02).all()


def test_attributes_co_occur_more_than_by_chance(worlds: list[SyntheticClasses]) -> None:
    """Of attributes of different aspects: than where each aspect's values are dealt to classes anew."""
    aspects = np.repeat(np.arange(len(ASPECTS)), [len(values) for values in ASPECTS.values()])

    def strength(probabilities: np.ndarray) -> float:
        return float((np.corrcoef(probabilities.T)[aspects[:, None] < aspects] ** 2).mean())

    rng = np.random.default_rng(0)
    for world in worlds:
        own = signatures(world)
        deals = [rng.permuted(np.tile(np.arange(40), (len(ASPECTS), 1)), axis=1) for _ in range(10)]
        dealt = [strength(own[deal[aspects].T, np.arange(len(aspects))]) for deal in deals]
        assert strength(own) > 1.1 * np.mean(dealt)


# images


def test_clean_images_show_attributes_as_often_as_strengths_say() -> None:
    world, rng, counted = choose_classes(0), Random(0), 1500
    for label in (0, 13, 39):
        clean = [values for values, hard in (image_values(world, label, rng) for _ in range(counted)) if not hard]
        frequency = np.array([indicators(values) for values in clean]).mean(axis=0)
        np.testing.assert_allclose(frequency, signatures(world)[label], atol=0.06)


def test_hard_images_are_less_typical_of_their_class_and_as_many_as_said() -> None:
    world, rng = choose_classes(0), Random(0)
    kept: dict[bool, list[float]] = {True: [], False: []}
    for number in range(4000):
        drawn = world.classes[number % 40]
        values, hard = image_values(world, number % 40, rng)
        kept[hard].append(float(np.mean([values.get(aspect) == value for aspect, value in drawn.typical.items()])))
        assert "body_shape" in values
    assert len(kept[True]) / 4000 == pytest.approx(shapes_classes.HARD / 100, abs=0.02)
    assert np.mean(kept[True]) < np.mean(kept[False]) - 0.2


def test_images_with_what_they_show_tell_classes_apart_but_for_hard_ones() -> None:
    """The most that a method could reach: by Bayes' rule from the attributes that were drawn, among unseen classes."""
    world, rng = choose_classes(0), Random(1)
    strengths = np.clip(signatures(world)[list(world.unseen)], 0.02, 0.98)
    right: dict[bool, list[bool]] = {True: [], False: []}
    for number in range(1000):
        values, hard = image_values(world, world.unseen[number % 10], rng)
        present = np.array(indicators(values))
        likelihood = np.where(present, np.log(strengths), np.log1p(-strengths)).sum(axis=1)
        right[hard].append(int(likelihood.argmax()) == number % 10)
    assert np.mean(right[False]) > 0.95
    assert 0.5 < np.mean(right[True]) < 0.95


# words


def test_words_of_one_kind_are_nearer_each_other_than_others() -> None:
    words = word_vectors()
    assert (words.shape, words.dtype) == ((30, 64), np.float32)
    unit = words / np.linalg.norm(words, axis=1, keepdims=True)
    near = unit @ unit.T
    place = {name: row for row, name in enumerate(ATTRIBUTES)}
    aspects = [name.split("::")[0] for name in ATTRIBUTES]
    same = np.equal.outer(aspects, aspects)
    assert near[same & (near < 0.999)].mean() > near[~same].mean() + 0.2
    assert near[place["has_body_colour::red"], place["has_head_colour::red"]] > 0.4
    assert len(np.unique(words, axis=0)) == 30
