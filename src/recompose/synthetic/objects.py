"""Generator of objects in states, with integers and Pillow only, so that a seed gives the same picture on every
machine.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from PIL import Image, ImageChops, ImageDraw, ImageFilter

from recompose.synthetic.looks import SCENES, Colour, Look

CANVAS = 64  # pictures are drawn at this size and halved for smooth edges
SIZE = 32  # of a finished picture
UNIT = 100  # outlines have coordinates from -UNIT to UNIT
STEPS = 96  # steps in a full turn
SPOT_TRIES = 20
SINES = [round(1024 * math.sin(2 * math.pi * step / STEPS)) for step in range(STEPS)]

Outline = list[tuple[int, int]]


def _sine(step: int) -> int:
    return SINES[step % STEPS]


def _cosine(step: int) -> int:
    return SINES[(step + STEPS // 4) % STEPS]


def _radial(radii: list[int], start: int = -STEPS // 4) -> Outline:
    """Return points at these distances from the middle, evenly around it, starting at the top."""
    steps = [start + index * STEPS // len(radii) for index in range(len(radii))]
    return [(_cosine(s) * r // 1024, _sine(s) * r // 1024) for s, r in zip(steps, radii, strict=True)]


def _scale(outline: Outline, percent: int, right: int = 0) -> Outline:
    return [(x * percent // 100 + right, y * percent // 100) for x, y in outline]


_CIRCLE = _radial([92] * 24)

# object -> its outline, and the hole in it
OBJECTS: dict[str, tuple[Outline, Outline]] = {
    "circle": (_CIRCLE, []),
    "square": ([(-78, -78), (78, -78), (78, 78), (-78, 78)], []),
    "triangle": ([(0, -95), (92, 75), (-92, 75)], []),
    "star": (_radial([100, 42] * 5), []),
    "heart": (
        [(0, 95), (-85, 5), (-92, -40), (-65, -80), (-25, -78), (0, -45), (25, -78), (65, -80), (92, -40), (85, 5)],
        [],
    ),
    "cross": (
        [
            *((-30, -95), (30, -95), (30, -30), (95, -30), (95, 30), (30, 30)),
            *((30, 95), (-30, 95), (-30, 30), (-95, 30), (-95, -30), (-30, -30)),
        ],
        [],
    ),
    "ring": (_CIRCLE, _scale(_CIRCLE, 48)),
    "moon": (_CIRCLE, _scale(_CIRCLE, 82, right=42)),
    "arrow": ([(-95, -28), (10, -28), (10, -75), (98, 0), (10, 75), (10, 28), (-95, 28)], []),
    "drop": ([(0, -100), (38, -30), (58, 20), (48, 62), (18, 88), (-18, 88), (-48, 62), (-58, 20), (-38, -30)], []),
    "house": ([(0, -95), (95, -15), (68, -15), (68, 85), (-68, 85), (-68, -15), (-95, -15)], []),
    "fish": ([(-98, -55), (-45, -12), (0, -52), (55, -45), (98, 0), (55, 45), (0, 52), (-45, 12), (-98, 55)], []),
}

COLOURS = SCENES.palette
LINE = 2  # a shape on grounds


@dataclass
class Patch:
    """An object while it is drawn: its fill and mask, the ground below it, and the rendering of states by its kind."""

    fill: Image.Image
    mask: Image.Image
    ground: Image.Image
    colour: Colour
    turn: int  # the step of the full turn of this kind of object: its angle, spacing and tint
    rng: Random
    look: Look

    def grain(self, pixels: int) -> int:
        """Return the width or spacing of a texture, scaled by the grain of the look."""
        return max(1, pixels * self.look.grain // 100)

    def shade(self, percent: int) -> Colour:
        """Return the object's colour, darker below 100 and lighter above."""
        r, g, b = (min(255, max(0, channel * percent // 100 + max(0, percent - 100) // 2)) for channel in self.colour)
        return r, g, b

    def spot(self) -> tuple[int, int]:
        """Return a random point on the object: the last of a few tries in its box if none hits."""
        x, y, right, bottom = self.mask.getbbox() or (0, 0, CANVAS, CANVAS)
        for _ in range(SPOT_TRIES):
            point = (self.rng.randrange(x, right), self.rng.randrange(y, bottom))
            if self.mask.getpixel(point):
                break
        return point

    def stamp(self, colour: Colour, where: Image.Image) -> None:
        self.fill.paste(colour, mask=where)


@functools.cache
def _stripes(step: int, width: int, gap: int) -> Image.Image:
    """Return parallel bars at an angle, on a canvas twice as large as needed so that a crop of it has any phase."""
    mask = Image.new("L", (2 * CANVAS, 2 * CANVAS))
    pen = ImageDraw.Draw(mask)
    dx, dy = _cosine(step), _sine(step)
    for offset in range(-3 * CANVAS, 3 * CANVAS, width + gap):
        x, y = CANVAS - dy * offset // 1024, CANVAS + dx * offset // 1024
        pen.line([(x - dx // 6, y - dy // 6), (x + dx // 6, y + dy // 6)], fill=255, width=width)
    return mask


@functools.cache
def _dots(step: int, radius: int, gap: int) -> Image.Image:
    mask = Image.new("L", (2 * CANVAS, 2 * CANVAS))
    pen = ImageDraw.Draw(mask)
    dx, dy = _cosine(step), _sine(step)
    for i in range(-16, 17):
        for j in range(-16, 17):
            x, y = CANVAS + (i * dx - j * dy) * gap // 1024, CANVAS + (i * dy + j * dx) * gap // 1024
            pen.ellipse([x - radius, y - radius, x + radius, y + radius], fill=255)
    return mask


def _window(pattern: Image.Image, rng: Random) -> Image.Image:
    x, y = rng.randrange(CANVAS // 2), rng.randrange(CANVAS // 2)
    return pattern.crop((x, y, x + CANVAS, y + CANVAS))


def _paint_striped(patch: Patch) -> None:
    patch.stamp(patch.shade(40), _window(_stripes(patch.turn * 2, patch.grain(4), patch.grain(5)), patch.rng))


def _paint_dotted(patch: Patch) -> None:
    patch.stamp(
        patch.shade(170), _window(_dots(patch.turn, patch.grain(2), patch.grain(8 + patch.turn % 3)), patch.rng)
    )


def _paint_checkered(patch: Patch) -> None:
    bars = _window(_stripes(patch.turn, patch.grain(6), patch.grain(6)), patch.rng)
    across = _window(_stripes(patch.turn + STEPS // 4, patch.grain(6), patch.grain(6)), patch.rng)
    patch.stamp(patch.shade(45), ImageChops.difference(bars, across))


def _paint_scratched(patch: Patch) -> None:
    pen = ImageDraw.Draw(patch.fill)
    for _ in range(6 + patch.turn % 4):
        x, y = patch.spot()
        step = patch.turn * 2 + patch.rng.randrange(-5, 6)
        length = 10 + patch.rng.randrange(10)
        end = (x + _cosine(step) * length // 1024, y + _sine(step) * length // 1024)
        pen.line([(x, y), end], fill=patch.shade(165), width=2)


def _paint_glossy(patch: Patch) -> None:
    depth = 4 + patch.turn // 5 % 3
    shadow = patch.mask.transform(patch.mask.size, Image.Transform.AFFINE, (1, 0, -depth, 0, 1, -depth))
    shine = ImageChops.subtract(patch.mask.filter(ImageFilter.MinFilter(3)), shadow)
    patch.stamp((255, 255, 255), shine.filter(ImageFilter.BoxBlur(1)))


def _paint_glowing(patch: Patch) -> None:
    halo = patch.mask.filter(ImageFilter.BoxBlur(3 + patch.turn % 3)).point(lambda value: min(255, value * 2))
    patch.ground.paste(patch.shade(190), mask=halo)
    patch.stamp(patch.shade(150), Image.new("L", patch.mask.size, 90))


def _paint_frosted(patch: Patch) -> None:
    edge = ImageChops.subtract(patch.mask, patch.mask.filter(ImageFilter.MinFilter(7 + 2 * (patch.turn % 2))))
    patch.stamp((225, 240, 250), edge.filter(ImageFilter.BoxBlur(1)))
    patch.stamp((235, 245, 255), _window(_dots(patch.turn + 7, 1, 6), patch.rng))


def _paint_faded(patch: Patch) -> None:
    patch.mask.paste(patch.mask.point(lambda value: value * 45 // 100))
    patch.stamp((200, 200, 195), Image.new("L", patch.mask.size, 60 + patch.turn // 5 % 5 * 12))


def _paint_cracked(patch: Patch) -> None:
    start = patch.spot()
    pen = ImageDraw.Draw(patch.mask)
    arms = 3 + patch.turn % 3
    for arm in range(arms):
        point, step = start, patch.turn + arm * STEPS // arms
        for _ in range(5):
            step += patch.rng.randrange(-14, 15)
            next_point = (point[0] + _cosine(step) * 8 // 1024, point[1] + _sine(step) * 8 // 1024)
            pen.line([point, next_point], fill=0, width=3)
            point = next_point


def _paint_burnt(patch: Patch) -> None:
    black = Image.new("L", patch.mask.size)
    pen = ImageDraw.Draw(black)
    x, y = patch.spot()
    for _ in range(5):
        a, b, r = x + patch.rng.randrange(-7, 8), y + patch.rng.randrange(-7, 8), 7 + patch.turn // 5 % 3
        pen.ellipse([a - r, b - r, a + r, b + r], fill=235)
    patch.stamp((28, 22, 20), black.filter(ImageFilter.BoxBlur(2)))


def _paint_rusty(patch: Patch) -> None:
    stains = Image.new("L", patch.mask.size)
    pen = ImageDraw.Draw(stains)
    for _ in range(5 + patch.turn // 5 % 4):
        (x, y), r = patch.spot(), 3 + patch.rng.randrange(4)
        pen.ellipse([x - r, y - r, x + r, y + r], fill=215)
    patch.stamp((150 + patch.turn % 4 * 8, 82, 38), stains.filter(ImageFilter.BoxBlur(1)))


def _paint_hollow(patch: Patch) -> None:
    inner = patch.mask.filter(ImageFilter.MinFilter(5 + 2 * (patch.turn // 5 % 3)))
    patch.mask.paste(ImageChops.subtract(patch.mask, inner))


TEXTURES: dict[str, Callable[[Patch], None]] = {
    "striped": _paint_striped,
    "dotted": _paint_dotted,
    "checkered": _paint_checkered,
    "scratched": _paint_scratched,
}
FINISHES: dict[str, Callable[[Patch], None]] = {
    "glossy": _paint_glossy,
    "glowing": _paint_glowing,
    "frosted": _paint_frosted,
    "faded": _paint_faded,
}
CONDITIONS: dict[str, Callable[[Patch], None]] = {
    "cracked": _paint_cracked,
    "burnt": _paint_burnt,
    "rusty": _paint_rusty,
    "hollow": _paint_hollow,
}
PAINTERS = TEXTURES | FINISHES | CONDITIONS
STATES = (*COLOURS, *PAINTERS)


def random_colour(rng: Random, low: int, high: int) -> Colour:
    """Return a colour whose channels are from a range, the end excluded."""
    return rng.randrange(low, high), rng.randrange(low, high), rng.randrange(low, high)


def _tint(colour: Colour, turn: int, rng: Random) -> Colour:
    """Return a named colour as this kind of object renders it: each kind shifts it in its own direction."""
    r, g, b = (
        min(255, max(0, channel + 42 * _sine(turn + third * STEPS // 3) // 1024 + rng.randrange(-22, 23)))
        for third, channel in enumerate(colour)
    )
    return r, g, b


def ground(rng: Random, look: Look = SCENES) -> Image.Image:
    """Draw a cluttered ground of muted blocks, discs and lines."""
    picture = Image.new("RGB", (CANVAS, CANVAS), random_colour(rng, *look.ground))
    scatter(picture, look.clutter, lambda shape: random_colour(rng, *((30, 235) if shape == LINE else (50, 220))), rng)
    return picture


def scatter(picture: Image.Image, clutter: tuple[int, int], colour: Callable[[int], Colour], rng: Random) -> None:
    """Draw blocks, discs and lines on a ground.

    Args:
        picture: the ground.
        clutter: the fewest and the most shapes.
        colour: draws the colour of a shape: of a block (0), a disc (1) or a ``LINE``.
        rng: the random numbers.
    """
    pen, (low, high) = ImageDraw.Draw(picture), clutter
    for _ in range(low + rng.randrange(high - low + 1)):
        x, y = rng.randrange(-10, picture.width), rng.randrange(-10, picture.height)
        box = [x, y, x + 4 + rng.randrange(26), y + 4 + rng.randrange(26)]
        shape = rng.randrange(3)
        fill = colour(shape)
        if shape == LINE:
            pen.line(box, fill=fill, width=1 + rng.randrange(3))
        else:
            (pen.rectangle, pen.ellipse)[shape](box, fill=fill)


def _mask(name: str, centre: tuple[int, int], radius: int, step: int) -> Image.Image:
    mask = Image.new("L", (CANVAS, CANVAS))
    pen = ImageDraw.Draw(mask)
    dx, dy = _cosine(step), _sine(step)
    for outline, value in zip(OBJECTS[name], (255, 0), strict=True):
        turned = [((x * dx - y * dy) * radius, (x * dy + y * dx) * radius) for x, y in outline]
        points = [(centre[0] + x // (1024 * UNIT), centre[1] + y // (1024 * UNIT)) for x, y in turned]
        if points:
            pen.polygon(points, fill=value)
    return mask


def draw_object(
    picture: Image.Image,
    name: str,
    states: tuple[str, ...],
    centre: tuple[int, int],
    radius: int,
    rng: Random,
    look: Look = SCENES,
) -> None:
    """Draw one object into a picture [CANVAS x CANVAS].

    ``states`` holds at most one colour (a random one is drawn without it) and any of the other states. The rendering of
    a state depends on the object: its angle, spacing, strength and tint come from the kind of object.
    """
    turn = list(OBJECTS).index(name) * 5 + look.turn
    named = [look.palette[state] for state in states if state in COLOURS]
    colour = _tint(named[0], turn, rng) if named else random_colour(rng, 40, 225)
    patch = Patch(
        fill=Image.new("RGB", picture.size, colour),
        mask=_mask(name, centre, radius, look.tilt + rng.randrange(-5, 6)),
        ground=picture,
        colour=colour,
        turn=turn,
        rng=rng,
        look=look,
    )
    for state in states:
        if state in PAINTERS:
            PAINTERS[state](patch)
    picture.paste(patch.fill, mask=patch.mask)


def finish(picture: Image.Image, look: Look = SCENES) -> Image.Image:
    """Return the picture at its final size, SIZE x SIZE, with the light and the blur of a look."""
    if look.blur:
        picture = picture.filter(ImageFilter.BoxBlur(look.blur))
    if look.light != (100, 100, 100):
        table = [min(255, value * percent // 100) for percent in look.light for value in range(256)]
        picture = picture.point(table)
    return picture.reduce(CANVAS // SIZE)
