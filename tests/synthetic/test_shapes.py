"""The drawn world looks as its labels and captions say."""

import math
import re
from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageChops

from recompose.synthetic import creatures
from recompose.synthetic import scenes as corpus
from recompose.synthetic.creatures import ASPECTS, draw_creature
from recompose.synthetic.looks import CATALOGUE, SCENES, Look
from recompose.synthetic.objects import OBJECTS, PAINTERS, SIZE, STATES, draw_object, finish, ground
from recompose.synthetic.scenes import RELATIONS, TEMPLATES, read_corpus, scene, write_corpus
from recompose.tracks.czsl import samples
from recompose.tracks.czsl.data import shapes_pairs
from recompose.tracks.czsl.data.compositional import METADATA, read_metadata
from recompose.tracks.czsl.data.shapes_pairs import OBJECT_LABELS, STATE_LABELS

IMAGES = {"train": 90, "val": 80, "test": 114}
CENTRE, RADIUS = (32, 32), 20

Drawn = tuple[str, tuple[str, ...], tuple[int, int]]  # object, states, centre


@pytest.fixture
def notes(monkeypatch: pytest.MonkeyPatch) -> list[Drawn]:
    """What scenes and data sets draw, noted instead of drawn."""
    noted: list[Drawn] = []

    def note(_: Image.Image, name: str, states: tuple[str, ...], centre: tuple[int, int], *__: Any) -> None:
        noted.append((name, states, centre))

    monkeypatch.setattr(corpus, "draw_object", note)
    monkeypatch.setattr(samples, "draw_object", note)
    return noted


# pairs and labels


def test_what_is_drawn_is_what_labels_say(tmp_path: Path, notes: list[Drawn]) -> None:
    shapes_pairs.draw(tmp_path, seed=1, images=IMAGES)
    records = read_metadata(tmp_path / METADATA)
    labels = [((STATE_LABELS[state],), OBJECT_LABELS[name]) for name, (state,), _ in notes]
    assert labels == [((record["attr"],), record["obj"]) for record in records]
    for split, pairs in shapes_pairs.choose_pairs(1).items():  # there are hardly more images than pairs
        assert {(record["attr"], record["obj"]) for record in records if record["set"] == split} == set(pairs)
    assert Counter(record["set"] for record in records) == IMAGES


def test_a_drawn_data_set_passes_its_own_checks(tmp_path: Path) -> None:
    shapes_pairs.draw(tmp_path, seed=3, images=IMAGES)
    data = shapes_pairs.read(tmp_path, IMAGES)
    assert len(data.samples) == len({sample.path for sample in data.samples}) == 284
    assert (data.states, data.objects) == (sorted(STATE_LABELS.values()), sorted(OBJECT_LABELS.values()))
    for sample in data.samples:
        with Image.open(tmp_path / sample.path) as picture:
            assert (picture.format, picture.mode, picture.size) == ("PNG", "RGB", (SIZE, SIZE))


# looks


def pictures_in(look: Look, states: tuple[str, ...]) -> np.ndarray:
    """All objects in these states, in a look [objects, SIZE, SIZE, 3]."""
    notes = []
    for name in OBJECTS:
        picture = ground(Random(f"ground/{name}"), look)
        draw_object(picture, name, states, CENTRE, RADIUS, Random(f"object/{name}"), look)
        notes.append(np.asarray(finish(picture, look)))
    return np.stack(notes)


WORN = [(), *((state,) for state in STATES), *(("red", state) for state in PAINTERS)]


@pytest.mark.parametrize("look", [SCENES, CATALOGUE], ids=["scenes", "catalogue"])
def test_all_objects_in_all_states_look_other_than_each_other(look: Look) -> None:
    sheets = [pictures_in(look, states) for states in WORN]
    assert len({picture.tobytes() for sheet in sheets for picture in sheet}) == len(WORN) * len(OBJECTS)


# scenes and captions


def described(caption: str) -> list[str]:
    """The phrases of a caption, with the relation between them where there are two."""
    starts = sorted((template.removesuffix("{}") for template in TEMPLATES), key=len, reverse=True)
    start = next(start for start in starts if caption.startswith(start))
    return re.split(rf" ({'|'.join(RELATIONS)}) a ", caption[len(start) :])


def test_captions_say_what_is_drawn_and_where(notes: list[Drawn]) -> None:
    told = {"left of": (-1, 0), "right of": (1, 0), "above": (0, -1), "below": (0, 1)}
    seen = Counter()
    for index in range(900):
        caption = scene(0, index)[1]
        phrases, objects = described(caption), list(notes)
        notes.clear()
        assert len(objects) == len(phrases[::2])
        for phrase, (name, states, _) in zip(phrases[::2], objects, strict=True):
            *named, last = phrase.split()
            assert last == name, caption
            assert [state for state in states if state in named] == named, caption
        if len(phrases) == 3:
            (x0, y0), (x1, y1) = (centre for *_, centre in objects)
            dx, dy = x0 - x1, y0 - y1
            mostly = (int(math.copysign(1, dx)), 0) if abs(dx) > abs(dy) else (0, int(math.copysign(1, dy)))
            assert told[phrases[1]] == mostly, caption
            seen[phrases[1]] += 1
    assert set(seen) == set(told) == set(RELATIONS)


# the corpus


def test_a_corpus_is_read_as_its_scenes_across_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "SHARD", 4)
    write_corpus(tmp_path / "corpus", scenes=10, seed=6)
    names = sorted(path.name for path in (tmp_path / "corpus").iterdir())
    assert names == ["00000.tar", "00001.tar", "00002.tar"]
    read = list(read_corpus(tmp_path / "corpus"))
    assert len(read) == 10
    for index, (picture, caption) in enumerate(read):
        expected, words = scene(6, index)
        assert caption == words
        assert ImageChops.difference(picture, expected).getbbox() is None


# creatures


WHOLE = {
    "body_shape": "square",
    "body_colour": "red",
    "head_shape": "ring",
    "head_colour": "blue",
    "tail_shape": "cross",
    "feet_count": "two",
}
VALUES = [(aspect, value) for aspect, values in ASPECTS.items() for value in values]


def pixels(values: dict[str, str], seed: int = 0) -> np.ndarray:
    return np.asarray(draw_creature(values, Random(seed)), dtype=int)


@pytest.fixture
def plain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Creatures over an even grey, and nothing else in the picture."""
    grey = (128, 128, 128)
    size = (creatures.CANVAS, creatures.CANVAS)
    monkeypatch.setattr(creatures, "_ground", lambda _: Image.new("RGB", size, grey))
    monkeypatch.setattr(creatures, "STRAYS", (0, 0))


@pytest.mark.usefixtures("plain")
def test_creatures_are_whole_in_the_picture() -> None:
    for seed in range(100):
        picture = pixels(WHOLE | {"size": "large"}, seed)
        frame = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
        assert (frame == 128).all()


@pytest.mark.usefixtures("plain")
def test_every_value_can_be_seen() -> None:
    pictures = [pixels(WHOLE | {aspect: value}) for aspect, value in VALUES]
    own = {(aspect, value) for aspect, value in VALUES if WHOLE.get(aspect) == value}
    assert len({picture.tobytes() for picture in pictures}) == len(VALUES) - len(own) + 1
