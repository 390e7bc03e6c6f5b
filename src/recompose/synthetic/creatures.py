"""Generator of creatures composed of parts: a body with a head, a tail and feet, each with its own look.

A creature's look is a value for each of its aspects. Parts are drawn like the objects of scenes and are about as large,
so that a tower pretrained on scenes recognises the regions of the picture.
"""

from collections.abc import Mapping
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from recompose.synthetic.looks import SCENES, Colour
from recompose.synthetic.objects import CANVAS as TILE
from recompose.synthetic.objects import COLOURS, OBJECTS, TEXTURES, draw_object, random_colour, scatter

CANVAS = 192  # pictures are drawn at this size and halved for smooth edges
SIZE = 96  # of a finished picture

# aspect of a creature -> its values; an absent aspect is not drawn, or drawn unlike any value
ASPECTS: dict[str, tuple[str, ...]] = {
    "body_shape": ("circle", "square", "heart", "house"),
    "body_colour": ("red", "blue", "green", "golden"),
    "body_texture": ("striped", "dotted", "checkered"),
    "body_border": ("dark", "pale"),
    "head_shape": ("star", "triangle", "ring"),
    "head_colour": ("red", "blue", "green", "golden"),
    "tail_shape": ("fish", "arrow", "cross"),
    "tail_finish": ("glossy", "glowing", "frosted"),
    "feet_count": ("two", "four"),
    "size": ("small", "large"),
}
PERCENT = {"small": 75, "large": 120}  # of the radii
BODY, HEAD, TAIL = 24, 23, 23  # radii of a creature that is neither small nor large
FOOT = 5
FEET = {"two": 2, "four": 4}
BORDERS: dict[str, Colour] = {"dark": (20, 20, 25), "pale": (245, 245, 240)}
CLUTTER = (12, 24)  # the fewest and the most shapes on a ground
CONTRAST = 40  # of shapes on a ground, per channel
STRAYS = (1, 4)  # the fewest and the most objects that belong to no creature

Values = Mapping[str, str]  # aspect -> value
Point = tuple[int, int]


def _near(colour: Colour, rng: Random) -> Colour:
    """Return a colour that hardly differs from another one, which has no channel at an end of its range."""
    r, g, b = (channel + rng.randrange(-CONTRAST, CONTRAST + 1) for channel in colour)
    return r, g, b


def _ground(rng: Random) -> Image.Image:
    """Draw a ground of blocks, discs and lines of low contrast."""
    colour = random_colour(rng, *SCENES.ground)
    picture = Image.new("RGB", (CANVAS, CANVAS), colour)
    scatter(picture, CLUTTER, lambda _: _near(colour, rng), rng)
    return picture


def _draw_part(
    picture: Image.Image, name: str, states: tuple[str, ...], centre: Point, radius: int, rng: Random, border: str = ""
) -> None:
    """Draw an object around a point of a large picture, on a tile cut out of it, with a border if one is named."""
    corner = (centre[0] - TILE // 2, centre[1] - TILE // 2)
    before = picture.crop((*corner, corner[0] + TILE, corner[1] + TILE))
    tile = before.copy()
    draw_object(tile, name, states, (TILE // 2, TILE // 2), radius, rng)
    if border:
        silhouette = ImageChops.difference(before, tile).convert("L").point(lambda value: 255 if value else 0)
        outline = silhouette.filter(ImageFilter.BoxBlur(3)).point(lambda value: 255 if value > 12 else 0)
        tile.paste(BORDERS[border], mask=ImageChops.subtract(outline, silhouette))
    picture.paste(tile, corner)


def _draw_strays(picture: Image.Image, rng: Random) -> None:
    for _ in range(rng.randrange(STRAYS[0], STRAYS[1] + 1)):
        states = (rng.choice(list(COLOURS)), rng.choice(list(TEXTURES)))[: 1 + rng.randrange(2)]
        centre = (rng.randrange(CANVAS), rng.randrange(CANVAS))
        _draw_part(picture, rng.choice(list(OBJECTS)), states, centre, 8 + rng.randrange(6), rng)


def _draw_feet(picture: Image.Image, count: int, centre: Point, radius: int, rng: Random) -> None:
    pen = ImageDraw.Draw(picture)
    shade = rng.randrange(20, 60)
    for index in range(count):
        x = centre[0] + (2 * index - count + 1) * (FOOT + 2)
        y = centre[1] + radius + FOOT
        pen.ellipse([x - FOOT, y - FOOT, x + FOOT, y + FOOT], fill=(shade, shade, shade))


def _states(values: Values, *aspects: str) -> tuple[str, ...]:
    """Return the values of these aspects that a creature has."""
    return tuple(values[aspect] for aspect in aspects if aspect in values)


def draw_creature(values: Values, rng: Random) -> Image.Image:
    """Draw a creature [SIZE x SIZE] over a cluttered ground, near the middle, its tail to the left or the right.

    ``values`` holds the creature's values of ``ASPECTS``, at least ``body_shape``. Looks without a value (the colour of
    the tail, and of a part without a colour) are random.
    """
    picture = _ground(rng)
    _draw_strays(picture, rng)
    percent = PERCENT.get(values.get("size", ""), 100)
    body, head, tail = (radius * percent // 100 for radius in (BODY, HEAD, TAIL))
    centre = (CANVAS // 2 + rng.randrange(-12, 13), CANVAS // 2 + 10 + rng.randrange(-18, 19))
    side = rng.choice((-1, 1))
    if "feet_count" in values:
        _draw_feet(picture, FEET[values["feet_count"]], centre, body, rng)
    if "tail_shape" in values:
        where = (centre[0] + side * (body + tail * 8 // 10), centre[1] + rng.randrange(-6, 7))
        states = (rng.choice(list(COLOURS)), *_states(values, "tail_finish"))
        _draw_part(picture, values["tail_shape"], states, where, tail, rng)
    if "head_shape" in values:
        where = (centre[0] - side * rng.randrange(10), centre[1] - body - head * 8 // 10)
        _draw_part(picture, values["head_shape"], _states(values, "head_colour"), where, head, rng)
    states = _states(values, "body_colour", "body_texture")
    _draw_part(picture, values["body_shape"], states, centre, body, rng, values.get("body_border", ""))
    return picture.reduce(CANVAS // SIZE)
