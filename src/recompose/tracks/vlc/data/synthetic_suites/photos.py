"""A replicate of the synthetic suites: its held-out scenes, their pictures and captions, and its files."""

import csv
import io
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random
from typing import Any

from recompose.data.pictures import Box
from recompose.synthetic import sentences
from recompose.synthetic.looks import Look
from recompose.synthetic.objects import CANVAS, COLOURS, SIZE
from recompose.synthetic.sentences import Entity, Scene, Wording, caption
from recompose.tracks.vlc.data.shapes_captions import ANNOTATED
from recompose.tracks.vlc.data.synthetic_suites.changes import Change, falsify

HELD_OUT = sentences.Style(ANNOTATED, {"one": 20, "many": 15, "placed": 10, "two": 35, "act": 20}, flat=True, sizes=40)
PHOTO = Wording(opening="photo")


def assign_colours(scene: Scene, rng: Random, colours: Sequence[str] = ()) -> Scene:
    """Return the scene with a colour for each entity, two different ones for two.

    Args:
        scene: the scene; the colours of its entities are replaced.
        rng: the random numbers.
        colours: the colours; empty: random ones.
    """
    remaining = iter(colours or rng.sample(sorted(COLOURS), 2))

    def coloured(entity: Entity) -> Entity:
        colour = next(remaining)
        return replace(entity, states=(entity.painted, colour) if entity.painted else (colour,))

    return map_entities(scene, coloured)


def held_out_scene(kind: str, rng: Random) -> Scene:
    """Return a random scene of a kind whose entities all have colours."""
    return assign_colours(sentences.choose_scene(HELD_OUT, rng, kind), rng)


def held_out_scenes(rng: Random, kinds: Mapping[str, int], share: float = 1.0) -> list[Scene]:
    """Return random held-out scenes, this share of the number of each kind, in the order of kinds."""
    return [held_out_scene(kind, rng) for kind, full in kinds.items() for _ in range(round(full * share))]


def map_entities(scene: Scene, function: Callable[[Entity], Entity]) -> Scene:
    """Return the scene with each entity replaced by a function of it."""
    return replace(scene, first=function(scene.first), second=function(scene.second) if scene.second else None)


def keep_colours(scene: Scene) -> Scene:
    """Return a scene or statement without sizes, numbers and attributes other than colours."""
    return map_entities(scene, lambda entity: Entity(entity.name, (entity.colour,)))


def partial_statement(scene: Scene, rng: Random) -> Scene:
    """Return a random statement about a scene: each entity loses its attributes other than colours with probability
    1/2.
    """
    return map_entities(scene, lambda entity: entity if rng.randrange(2) else replace(entity, states=(entity.colour,)))


@dataclass(frozen=True)
class Photo:
    """A picture and its scene."""

    path: str  # below the root of raw files
    scene: Scene
    spots: tuple[sentences.Spot, ...]

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.path.rpartition("/")[2]

    @property
    def stem(self) -> str:
        """The name of the file without its suffix."""
        return self.name.rpartition(".")[0]

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
        spots = tuple(sentences.layout(scene, rng))
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        sentences.draw_spots(spots, rng, look).save(file, "png", compress_level=1)
        self.scenes[path] = scene
        return Photo(path, scene, spots)

    def album(self, pattern: str, scenes: Iterable[Scene], look: Look = ANNOTATED) -> list[Photo]:
        """Draw scenes into files whose names hold their number, from 1."""
        return [self.photo(pattern.format(number), scene, look) for number, scene in enumerate(scenes, 1)]

    def draw_pair(
        self, number: int, images: str, name: str, scenes: Sequence[Scene], captions: Iterable[str], first: int = 0
    ) -> dict[str, object]:
        """Draw two pictures, and return their item, with a name and a caption of each side.

        Args:
            number: of the item.
            images: the pattern of the pictures' paths, given their names.
            name: the pattern of their names, given the number and a side.
            scenes: of both sides.
            captions: of both sides.
            first: the number of the first side.
        """
        item: dict[str, object] = {"id": number}
        for side, (scene, text) in enumerate(zip(scenes, captions, strict=True), first):
            item |= {f"image_{side}": name.format(number, side), f"caption_{side}": text}
            self.photo(images.format(item[f"image_{side}"]), scene)
        return item

    def write(self, path: str, text: str) -> None:
        """Write a text into a file of the replicate."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def write_json(self, path: str, document: Any) -> None:
        """Write a document as JSON."""
        self.write(path, json.dumps(document, indent=1) + "\n")

    def write_lines(self, path: str, items: Iterable[Any]) -> None:
        """Write items as lines of JSON."""
        self.write(path, "".join(json.dumps(item) + "\n" for item in items))

    def write_rows(self, path: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Write rows as CSV with a header."""
        table = io.StringIO(newline="")
        csv.writer(table, lineterminator="\n").writerows([columns, *rows])
        self.write(path, table.getvalue())


def with_relation(photos: Iterable[Photo], relations: Iterable[str]) -> list[Photo]:
    """Return the pictures of two entities with one of these relations, or of one at one of these places."""
    selected = set(relations)
    return [photo for photo in photos if photo.scene.relation in selected]


def couples_of(photos: Iterable[Photo]) -> list[Photo]:
    """Return the pictures of two entities."""
    return [photo for photo in photos if photo.scene.second]


def cycle_photos(photos: Sequence[Photo], items: int, rng: Random) -> list[Photo]:
    """Return this number of pictures in random order, each as often as any other or once more."""
    order = rng.sample(list(photos), len(photos))
    return [order[number % len(order)] for number in range(items)]


def caption_pair(
    photo: Photo,
    change: Change,
    rng: Random,
    wording: Wording | None = None,
    abridge: Callable[[Scene], Scene] = lambda statement: statement,
) -> tuple[str, str]:
    """Return a true and a false caption of a picture, of its statement after a further abridgement; without a wording,
    with a random opening.
    """
    wording = wording or Wording(opening=rng.choice(("", *sentences.OPENINGS)))
    statement = abridge(partial_statement(photo.scene, rng))
    return caption(statement, wording), caption(falsify(photo.scene, statement, change, rng), wording)
