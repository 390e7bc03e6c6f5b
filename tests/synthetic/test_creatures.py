"""Drawn creatures: the same from the same random numbers, and every value of every aspect to be seen."""

from random import Random

import numpy as np
import pytest
from PIL import Image

from recompose.synthetic import creatures, objects
from recompose.synthetic.creatures import ASPECTS, SIZE, draw_creature

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


def drawn_area(values: dict[str, str], seed: int = 0) -> int:
    return int((pixels(values, seed) != 128).any(axis=2).sum())


def test_the_same_random_numbers_draw_the_same_picture_and_others_another() -> None:
    assert (pixels(WHOLE, 1) == pixels(WHOLE, 1)).all()
    assert (pixels(WHOLE, 1) != pixels(WHOLE, 2)).any()
    assert pixels(WHOLE).shape == (SIZE, SIZE, 3)


def test_aspects_name_what_scenes_show() -> None:
    """A tower that was pretrained on scenes has met every shape, colour, texture and finish."""
    kinds = {"shape": objects.OBJECTS, "colour": objects.COLOURS, "texture": objects.TEXTURES}
    for aspect, value in VALUES:
        kind = aspect.rpartition("_")[2]
        if kind in kinds or kind == "finish":
            assert value in kinds.get(kind, objects.FINISHES)
    assert len(VALUES) == 30


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize(("aspect", "value"), VALUES)
def test_every_value_shows_in_the_picture(aspect: str, value: str) -> None:
    others = [other for other in (*ASPECTS[aspect], None) if other != value]
    for seed in range(5):
        shown = pixels(WHOLE | {aspect: value}, seed)
        for other in others:
            instead = {name: each for name, each in WHOLE.items() if name != aspect} | (
                {aspect: other} if other else {}
            )
            if "body_shape" in instead:
                assert (abs(shown - pixels(instead, seed)).max(axis=2) > 30).sum() >= 10


@pytest.mark.usefixtures("plain")
@pytest.mark.parametrize("aspect", ["head_shape", "tail_shape", "feet_count"])
def test_a_part_that_is_missing_leaves_less_of_the_creature(aspect: str) -> None:
    without = {name: value for name, value in WHOLE.items() if name != aspect}
    assert all(drawn_area(without, seed) < drawn_area(WHOLE, seed) for seed in range(20))


@pytest.mark.usefixtures("plain")
def test_large_creatures_are_larger_than_small_ones() -> None:
    for seed in range(20):
        areas = [drawn_area(WHOLE | size, seed) for size in ({"size": "small"}, {}, {"size": "large"})]
        assert areas == sorted(areas)
        assert areas[2] > 1.5 * areas[0]


@pytest.mark.usefixtures("plain")
def test_creatures_are_whole_in_the_picture() -> None:
    for seed in range(100):
        picture = pixels(WHOLE | {"size": "large"}, seed)
        frame = np.concatenate([picture[0], picture[-1], picture[:, 0], picture[:, -1]])
        assert (frame == 128).all()


@pytest.mark.usefixtures("plain")
def test_a_border_runs_around_the_body_alone() -> None:
    body = {"body_shape": "circle", "body_colour": "green"}
    for seed in range(10):
        with_border, without = pixels(body | {"body_border": "pale"}, seed), pixels(body, seed)
        changed = (with_border != without).any(axis=2)
        assert 50 < changed.sum() < drawn_area(body, seed)
        assert (with_border[changed] > without[changed] - 1).all() or with_border[changed].mean() > 180


@pytest.mark.usefixtures("plain")
def test_parts_are_about_as_large_as_objects_of_scenes() -> None:
    for size in ({"size": "small"}, {}, {"size": "large"}):
        rows, columns = np.nonzero((pixels({"body_shape": "circle"} | size) != 128).any(axis=2))
        assert 14 <= np.ptp(rows) <= 30
        assert 14 <= np.ptp(columns) <= 30
