"""shapes-classes: a synthetic data set of classes that attributes describe, in the format of the field's benchmarks.

A seed determines a replicate: its classes, the seen ones among them, and its images. Classes belong to genera, whose
species share much of their appearance, so that attributes co-occur and classes have near relatives. A class shows a
value of an aspect with a certain probability, the strength of the attribute. Some images are hard: typical values of
their class are missing in them, or mislead towards another class.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from random import Random

import numpy as np
from scipy.io import savemat

from recompose.synthetic.creatures import ASPECTS, draw_creature
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.gzsl.data.classes import SPLITS, ClassData

GENERA, SPECIES = 8, 5
CLASSES, UNSEEN, VALIDATION = GENERA * SPECIES, 10, 7
ATTRIBUTES = tuple(f"has_{aspect}::{value}" for aspect, values in ASPECTS.items() for value in values)
# aspects that have a value in all classes
ALWAYS = ("body_shape", "body_colour", "head_shape", "head_colour", "tail_shape")
INHERITED = 70  # percent of a genus's typical values that a species shares
APART = 3  # minimal number of aspects in which any two classes differ
TYPICAL = (75, 100)  # percent of a class's images that show its typical value of an aspect, from and to
SHOWN_BY = 2  # minimal number of training classes of which an attribute is typical
HARD = 15  # percent of images
MISSING = 3  # typical values that an incomplete hard image lacks
WORD_WIDTH = 64
HEADER = b"MATLAB 5.0 MAT-file, drawn".ljust(116)  # without the time that scipy would write here
SYLLABLES = ("ba", "do", "fe", "gu", "ka", "li", "mo", "nu", "pe", "ra", "si", "to", "ve", "zu")

Values = dict[str, str]  # aspect -> value; without absent aspects


@dataclass(frozen=True)
class DrawnClass:
    """A class of creatures."""

    name: str
    typical: Values
    strengths: dict[str, dict[str, int]]  # aspect -> value -> percent of images; the remaining images show no value

    def signature(self) -> list[int]:
        """Return the strength of each attribute [attributes] in the class, in percent."""
        return [self.strengths[aspect].get(value, 0) for aspect, values in ASPECTS.items() for value in values]

    def values(self, rng: Random) -> Values:
        """Return random values of an image of the class."""
        values: Values = {}
        for aspect, strengths in self.strengths.items():
            absent = 100 - sum(strengths.values())
            (value,) = rng.choices([*strengths, ""], [*strengths.values(), absent])
            if value:
                values[aspect] = value
        return values


@dataclass(frozen=True)
class SyntheticClasses:
    """The classes of a seed, in the order of their labels, and their split."""

    classes: tuple[DrawnClass, ...]
    unseen: tuple[int, ...]  # classes that training leaves out
    validation: tuple[int, ...]  # seen classes that validation treats as unseen

    @property
    def seen(self) -> tuple[int, ...]:
        return tuple(index for index in range(len(self.classes)) if index not in self.unseen)

    def seen_relatives(self, label: int) -> list[int]:
        """Return the other seen classes of a class's genus."""
        return [index for index in self.seen if index // SPECIES == label // SPECIES and index != label]

    def split_classes(self, split: str) -> tuple[int, ...]:
        """Return the classes that have images in a split."""
        return self.unseen if split == "test_unseen" else self.seen


def _typical(orders: dict[str, list[str]], rng: Random) -> Values:
    """Return typical values by the long tail of each aspect; a third of the classes has none for an aspect outside
    ``ALWAYS``.
    """
    typical = {}
    for aspect, order in orders.items():
        if aspect in ALWAYS or rng.randrange(3):
            (typical[aspect],) = rng.choices(order, [12 // (rank + 2) for rank in range(len(order))])
    return typical


def _species(genus: Values, orders: dict[str, list[str]], other_classes: list[Values], rng: Random) -> Values:
    """Return the typical values of a species: many of its genus's, and enough differences from every other class."""
    while True:
        species = _typical(orders, rng)
        typical = {}
        for aspect in ASPECTS:
            value = (genus if rng.randrange(100) < INHERITED else species).get(aspect)
            if value:
                typical[aspect] = value
        if all(len(_differing(typical, classmate)) >= APART for classmate in other_classes):
            return typical


def _differing(first: Values, second: Values) -> list[str]:
    return [aspect for aspect in ASPECTS if first.get(aspect) != second.get(aspect)]


def _strengths(typical: Values, rng: Random) -> dict[str, dict[str, int]]:
    """Return strengths with the typical value highest, and a second value with the remaining share or a part of it."""
    strengths: dict[str, dict[str, int]] = {}
    low, high = TYPICAL
    for aspect, values in ASPECTS.items():
        main = low + rng.randrange(high - low + 1)
        second = rng.choice([value for value in values if value != typical.get(aspect)])
        share = 100 - main if aspect in ALWAYS else rng.randrange(101 - main)
        strengths[aspect] = {second: share} | ({typical[aspect]: main} if aspect in typical else {})
    return strengths


def _names(rng: Random) -> list[str]:
    """Return names of two words, as in biology: the species of a genus share the first word."""
    words = [first + second for first in SYLLABLES for second in SYLLABLES if first != second]
    chosen = rng.sample(words, GENERA * (1 + SPECIES))
    genera, species = chosen[:GENERA], chosen[GENERA:]
    return [f"{index + 1:03d}.{genera[index // SPECIES].title()}_{word}" for index, word in enumerate(species)]


def _generate(rng: Random) -> SyntheticClasses:
    orders = {aspect: rng.sample(values, len(values)) for aspect, values in ASPECTS.items()}
    typical: list[Values] = []
    for _ in range(GENERA):
        genus = _typical(orders, rng)
        for _ in range(SPECIES):
            typical.append(_species(genus, orders, typical, rng))
    classes = tuple(
        DrawnClass(name, values, _strengths(values, rng)) for name, values in zip(_names(rng), typical, strict=True)
    )
    return SyntheticClasses(classes, *_split(rng))


def _split(rng: Random) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return the unseen classes and those of validation, two or three of a genus, no genus in both, so that their
    relatives are seen.
    """
    genera = rng.sample(range(GENERA), GENERA)
    orders = [rng.sample(range(genus * SPECIES, (genus + 1) * SPECIES), SPECIES) for genus in genera]
    unseen = [index for order in orders[: UNSEEN // 2] for index in order[:2]]
    seen = [index for position in range(SPECIES) for index in (order[position] for order in orders[UNSEEN // 2 :])]
    return tuple(sorted(unseen)), tuple(sorted(seen[:VALIDATION]))


def _teaches_all(replicate: SyntheticClasses) -> bool:
    """Return whether the training classes show every attribute."""
    training = [replicate.classes[index].typical for index in replicate.seen if index not in replicate.validation]
    return all(
        sum(typical.get(aspect) == value for typical in training) >= SHOWN_BY
        for aspect, values in ASPECTS.items()
        for value in values
    )


def choose_classes(seed: int) -> SyntheticClasses:
    """Return the first classes of a seed whose training shows every attribute."""
    rng = Random(f"classes/{seed}")
    while not _teaches_all(replicate := _generate(rng)):
        pass
    return replicate


def _missing(values: Values, drawn: DrawnClass, rng: Random) -> Values:
    """Return an image that lacks some of its class's typical values."""
    lost = rng.sample([aspect for aspect in drawn.typical if aspect != "body_shape"], MISSING)
    return {aspect: value for aspect, value in values.items() if aspect not in lost}


def _misleading(values: Values, drawn: DrawnClass, rival: DrawnClass, rng: Random) -> Values:
    """Return an image with a rival's values in half of the aspects in which the two classes differ."""
    differing = _differing(drawn.typical, rival.typical)
    mixed = dict(values)
    for aspect in rng.sample(differing, (len(differing) + 1) // 2):
        mixed.pop(aspect, None)
        if aspect in rival.typical:
            mixed[aspect] = rival.typical[aspect]
    return mixed


def image_values(replicate: SyntheticClasses, label: int, rng: Random) -> tuple[Values, bool]:
    """Return the values of an image of a class, and whether the image is hard: like a seen relative, or incomplete."""
    drawn = replicate.classes[label]
    values = drawn.values(rng)
    hard = rng.randrange(100) < HARD
    if hard and rng.randrange(2):
        return _missing(values, drawn, rng), hard
    if hard:
        return _misleading(values, drawn, replicate.classes[rng.choice(replicate.seen_relatives(label))], rng), hard
    return values, hard


@dataclass(frozen=True)
class DrawnImage:
    """An image to draw; its number counts the images of a split and seeds its random numbers."""

    label: int
    split: str
    number: int

    def values(self, replicate: SyntheticClasses, seed: int) -> tuple[Values, bool, Random]:
        rng = Random(f"image/{seed}/{self.split}/{self.number}")
        return *image_values(replicate, self.label, rng), rng


def plan_images(replicate: SyntheticClasses, images: dict[str, int]) -> list[DrawnImage]:
    """Return all images by class; all classes of a split have the same number."""
    planned = []
    for split in SPLITS:
        classes = replicate.split_classes(split)
        planned += [DrawnImage(classes[number % len(classes)], split, number) for number in range(images[split])]
    return sorted(planned, key=lambda image: image.label)


def word_vectors() -> np.ndarray:
    """Return a vector [attributes, width] float32 for the words of each attribute: the sum of the words' vectors, as
    with published word vectors.

    A value's vector is that of its kind of values (colours, textures, ...) plus one of its own, so that values of a
    kind are near each other, and attributes of a part are, too.
    """

    def vector(word: str) -> np.ndarray:
        rng = Random(f"word/{word}")
        return np.array([rng.randrange(-100, 101) for _ in range(WORD_WIDTH)])

    vectors = []
    for aspect, values in ASPECTS.items():
        words = aspect.split("_")
        vectors += [sum(map(vector, words)) + vector(f"{words[-1]}s") + 2 * vector(value) for value in values]
    return (np.array(vectors) / 100).astype(np.float32)


def _write_mat(path: Path, content: dict[str, np.ndarray]) -> None:
    """Write a .mat file without its time of writing."""
    savemat(path, content)
    with path.open("r+b") as file:
        file.write(HEADER)


def _cells(texts: Iterable[str]) -> np.ndarray:
    """Return strings as a column of cells."""
    listed = list(texts)
    cells = np.empty((len(listed), 1), dtype=object)
    cells[:, 0] = listed
    return cells


def _column(numbers: Iterable[int]) -> np.ndarray:
    return np.array(list(numbers), dtype=np.uint16).reshape(-1, 1)


def _unit_columns(strengths: np.ndarray) -> np.ndarray:
    """Return integers [attributes, classes] divided by the length of their column, the same on every machine."""
    lengths = [math.sqrt(sum(value * value for value in column)) for column in strengths.T.tolist()]
    return strengths / np.array(lengths)


def _write_annotations(
    root: Path, replicate: SyntheticClasses, planned: list[DrawnImage], paths: list[str], hard: list[bool]
) -> None:
    strengths = np.array([drawn.signature() for drawn in replicate.classes]).T
    positions = {
        f"{split}_loc": _column(row + 1 for row, image in enumerate(planned) if image.split == split)
        for split in SPLITS
    }
    names = [drawn.name for drawn in replicate.classes]
    labels = _column(image.label + 1 for image in planned)
    _write_mat(root / "res101.mat", {"labels": labels, "image_files": _cells(paths), "hard": _column(map(int, hard))})
    _write_mat(
        root / "att_splits.mat",
        {
            "att": _unit_columns(strengths),
            "original_att": strengths.astype(np.float64),
            "allclasses_names": _cells(names),
            **positions,
        },
    )
    training = [names[index] for index in replicate.seen if index not in replicate.validation]
    _write_lines(root / "trainclasses1.txt", training)
    _write_lines(root / "valclasses1.txt", [names[index] for index in replicate.validation])
    _write_lines(root / "attributes.txt", [f"{row + 1} {name}" for row, name in enumerate(ATTRIBUTES)])
    np.save(root / "words.npy", word_vectors(), allow_pickle=False)


def _write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def draw(root: Path, *, seed: int, images: dict[str, int]) -> None:
    """Draw the data set into ``root``, as xlsa17 files beside its images. A seed determines every byte."""
    replicate = choose_classes(seed)
    planned = plan_images(replicate, images)
    names = [replicate.classes[image.label].name for image in planned]
    paths, flags = [f"images/{name}/{row:05d}.png" for row, name in enumerate(names, start=1)], []
    for drawn in replicate.classes:
        (root / "images" / drawn.name).mkdir(parents=True)
    for image, path in zip(planned, paths, strict=True):
        values, hard, rng = image.values(replicate, seed)
        draw_creature(values, rng).save(root / path, "png", compress_level=1)
        flags.append(hard)
    _write_annotations(root, replicate, planned, paths, flags)


def read(root: Path, images: dict[str, int]) -> ClassData:
    """Read and check a synthetic data set."""
    return xlsa17.read(root, {f"{split}_images": images[split] for split in SPLITS})
