"""Drawn creatures: the same from the same random numbers, and every value of every aspect to be seen."""

from random import Random

import numpy as np
import pytest
from PIL import Image

from recompose.synthetic import creatures
from recompose.synthetic.creatures import ASPECTS, draw_creature

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
