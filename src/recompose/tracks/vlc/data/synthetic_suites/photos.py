"""Held-out scenes, and their pictures."""

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


def assign_colours(scene: Scene, rng: Random, colours: Sequence[str] = ()) -> Scene:
    """Return the scene with a colour for each entity, two different ones for two.

    Args:
        scene: the scene; the colours of its entities are replaced.
        rng: the random numbers.
        colours: the colours; empty: random ones.
    """
    chosen = colours or rng.sample(sorted(COLOURS), 2)
    first, *second = (
        replace(entity, states=((entity.painted, colour) if entity.painted else (colour,)))
        for entity, colour in zip(scene.entities, chosen, strict=False)
    )
    return replace(scene, first=first, second=second[0] if second else None)


def held_out_scene(kind: str, rng: Random) -> Scene:
    """Return a random scene of a kind whose entities all have colours."""
    return assign_colours(choose_scene(HELD_OUT, rng, kind), rng)


def map_entities(scene: Scene, function: Callable[[Entity], Entity]) -> Scene:
    """Return the scene with each entity replaced by a function of it."""
    return replace(scene, first=function(scene.first), second=function(scene.second) if scene.second else None)


def partial_statement(scene: Scene, rng: Random) -> Scene:
    """Return a random statement about a scene: each entity loses its attributes other than colours with probability
    1/2.
    """

    def mention(entity: Entity) -> Entity:
        return entity if rng.randrange(2) else replace(entity, states=(entity.colour,))

    return map_entities(scene, mention)


@dataclass(frozen=True)
class Photo:
    """A picture and its scene."""

    path: str  # below the root of raw files
    scene: Scene
    spots: tuple[Spot, ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def box(self) -> Box:
        """The left, top, width and height of the box around all entities, in pixels."""
        half = CANVAS // SIZE
        x, y = (max(0, min(spot.centre[axis] - spot.radius for spot in self.spots) // half - 1) for axis in (0, 1))
        right, bottom = (
            min(SIZE, max(spot.centre[axis] + spot.radius for spot in self.spots) // half + 2) for axis in (0, 1)
        )
        return x, y, right - x, bottom - y


@dataclass
class SuiteReplicate:
    """A replicate of the synthetic suites: its folder, seed and size, and the scenes of its pictures."""

    root: Path
    seed: int
    share: float = 1.0  # of the items of each suite at its full size
    scenes: dict[str, Scene] = field(default_factory=dict)  # path of a picture -> its scene

    def rng(self, name: str) -> Random:
        """Return a generator of random numbers for this name."""
        return Random(f"suites/{self.seed}/{name}")

    def items(self, full: int) -> int:
        """Return the number of items, two at least, of a suite that has ``full`` items at its full size."""
        return max(2, round(full * self.share))

    def photo(self, path: str, scene: Scene, look: Look = ANNOTATED) -> Photo:
        """Draw a scene into a file: as PNG regardless of its suffix, which readers of pictures ignore."""
        rng = self.rng(path)
        spots = tuple(layout(scene, rng))
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        draw_spots(spots, rng, look).save(file, "png", compress_level=1)
        self.scenes[path] = scene
        return Photo(path, scene, spots)


def draw_album(replicate: SuiteReplicate, pattern: str, scenes: Iterable[Scene], look: Look = ANNOTATED) -> list[Photo]:
    """Draw scenes into files whose names hold their number, from 1."""
    return [replicate.photo(pattern.format(number), scene, look) for number, scene in enumerate(scenes, 1)]


def held_out_scenes(rng: Random, kinds: Mapping[str, int], share: float = 1.0) -> list[Scene]:
    """Return random held-out scenes, this share of the number of each kind, in the order of kinds."""
    return [held_out_scene(kind, rng) for kind, full in kinds.items() for _ in range(round(full * share))]


def keep_colours(scene: Scene) -> Scene:
    """Return a scene or statement without sizes, numbers and attributes other than colours."""
    return map_entities(scene, lambda entity: Entity(entity.name, (entity.colour,)))
