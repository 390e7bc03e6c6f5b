"""Held-out scenes, and the pictures that are drawn of them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

from recompose.synthetic.looks import Look
from recompose.synthetic.objects import CANVAS, COLOURS, SIZE
from recompose.synthetic.sentences import (
    Entity,
    Scene,
    Spot,
    Style,
    choose_scene,
    draw_spots,
    layout,
)
from recompose.tracks.vlc.data.shapes_captions import ANNOTATED
from recompose.tracks.vlc.data.suite import Box

HELD_OUT = Style(ANNOTATED, {"one": 20, "many": 15, "placed": 10, "two": 35, "act": 20}, flat=True, sizes=40)


def coloured(scene: Scene, rng: Random, colours: Sequence[str] = ()) -> Scene:
    """The scene with a colour for each thing, two different ones for two.

    Args:
        scene: its things' own colours are lost.
        rng: which colours.
        colours: they, where they are given.
    """
    chosen = colours or rng.sample(sorted(COLOURS), 2)
    first, *rest = (
        replace(thing, states=((thing.painted, colour) if thing.painted else (colour,)))
        for thing, colour in zip(scene.entities, chosen, strict=False)
    )
    return replace(scene, first=first, second=rest[0] if rest else None)


def held_out(kind: str, rng: Random) -> Scene:
    """A scene of a kind in which all things have colours."""
    return coloured(choose_scene(HELD_OUT, rng, kind), rng)


def of_each(scene: Scene, part: Callable[[Entity], Entity]) -> Scene:
    """The scene with each of its things replaced by something of it."""
    return replace(scene, first=part(scene.first), second=part(scene.second) if scene.second else None)


def mentioned(scene: Scene, rng: Random) -> Scene:
    """What a caption says of a scene: without every other of the attributes beside colours."""

    def part(thing: Entity) -> Entity:
        return thing if rng.randrange(2) else replace(thing, states=(thing.colour,))

    return of_each(scene, part)


@dataclass(frozen=True)
class Photo:
    """A picture that is drawn."""

    path: str  # below the root of raw files
    scene: Scene
    spots: tuple[Spot, ...]

    @property
    def name(self) -> str:
        """Its file's name."""
        return self.path.rpartition("/")[2]

    @property
    def box(self) -> Box:
        """Left, top, width and height of what holds all of its things, in pixels."""
        half = CANVAS // SIZE
        left, top = (max(0, min(spot.centre[axis] - spot.radius for spot in self.spots) // half - 1) for axis in (0, 1))
        right, bottom = (
            min(SIZE, max(spot.centre[axis] + spot.radius for spot in self.spots) // half + 2) for axis in (0, 1)
        )
        return left, top, right - left, bottom - top


@dataclass
class World:
    """The pictures of a seed."""

    root: Path
    seed: int
    share: float = 1.0  # of the items that each suite has at its full size
    shown: dict[str, Scene] = field(default_factory=dict)  # path of a picture -> what it shows

    def rng(self, name: str) -> Random:
        """Random numbers for something with this name."""
        return Random(f"suites/{self.seed}/{name}")

    def items(self, full: int) -> int:
        """Return the number of items, two at least, of what has ``full`` items at its full size."""
        return max(2, round(full * self.share))

    def photo(self, path: str, scene: Scene, look: Look = ANNOTATED) -> Photo:
        """Draw a scene into a file: as PNG whatever its name ends in, which readers of pictures do not mind."""
        rng = self.rng(path)
        spots = tuple(layout(scene, rng))
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        draw_spots(spots, rng, look).save(file, "png", compress_level=1)
        self.shown[path] = scene
        return Photo(path, scene, spots)


def draw_album(world: World, pattern: str, scenes: Iterable[Scene], look: Look = ANNOTATED) -> list[Photo]:
    """Draw scenes into files whose names count them, from 1."""
    return [world.photo(pattern.format(number), scene, look) for number, scene in enumerate(scenes, 1)]


def of_kinds(rng: Random, kinds: Mapping[str, int], share: float = 1.0) -> list[Scene]:
    """Return held-out scenes, this share of so many of each kind, in the order of kinds."""
    return [held_out(kind, rng) for kind, full in kinds.items() for _ in range(round(full * share))]


def coloured_only(scene: Scene) -> Scene:
    """A scene, or what is said of it, without sizes, numbers and attributes other than colours."""
    return of_each(scene, lambda thing: Entity(thing.name, (thing.colour,)))
