"""Captioned scenes that pretrain the small backbone.

Attributes follow a long tail, as in web captions: the first states of ``TAIL`` are frequent, the last ones rare. Every
third scene has two objects and names the relation between them.
"""

import io
import tarfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from random import Random

from PIL import Image

from recompose.errors import DataError
from recompose.synthetic.objects import COLOURS, OBJECTS, draw_object, finish, ground

SHARD = 5_000  # scenes in one tar file
TAIL = (
    *("red", "striped", "blue", "glossy", "dotted", "hollow", "green", "cracked"),
    *("golden", "glowing", "checkered", "burnt", "faded", "rusty", "frosted", "scratched"),
)
TEMPLATES = ("a photo of a {}", "a picture of a {}", "a {}", "an image of a {}", "a drawing of a {}")
# relation -> the place of the first object, the place of the second one
RELATIONS = {
    "left of": ((17, 32), (47, 32)),
    "right of": ((47, 32), (17, 32)),
    "above": ((32, 17), (32, 47)),
    "below": ((32, 47), (32, 17)),
}


def _states(rng: Random) -> tuple[str, ...]:
    """Return one or two states by the long tail; never two colours."""
    weights = [1 / (rank + 3) for rank in range(len(TAIL))]
    first, second = rng.choices(TAIL, weights, k=2)
    clash = first == second or (first in COLOURS and second in COLOURS)
    return (first,) if clash or rng.randrange(3) else (first, second)


def _phrase(states: tuple[str, ...], name: str, rng: Random) -> str:
    """Return the object with the states that its caption mentions."""
    return " ".join([*(state for state in states if rng.randrange(8)), name])


def scene(seed: int, index: int) -> tuple[Image.Image, str]:
    """Return the picture [SIZE x SIZE] and the caption of one scene."""
    rng = Random(f"scene/{seed}/{index}")
    picture = ground(rng)
    relation = "" if index % 3 else rng.choice(list(RELATIONS))
    jitter, least, more = (3, 13, 4) if relation else (7, 20, 11)  # of a place, and of a radius
    phrases = []
    for x, y in RELATIONS.get(relation, ((32, 32),)):
        states, name = _states(rng), rng.choice(list(OBJECTS))
        centre = (x + rng.randrange(-jitter, jitter + 1), y + rng.randrange(-jitter, jitter + 1))
        draw_object(picture, name, states, centre, least + rng.randrange(more), rng)
        phrases.append(_phrase(states, name, rng))
    caption = f" {relation} a ".join(phrases)
    return finish(picture), rng.choice(TEMPLATES).format(caption)


def write_corpus(folder: Path, *, scenes: int, seed: int) -> None:
    """Write scenes into a folder, which ``read_corpus`` reads."""
    write_shards(folder, scenes, partial(scene, seed))


def write_shards(folder: Path, scenes: int, draw: Callable[[int], tuple[Image.Image, str]]) -> None:
    """Write WebDataset shards (``<key>.png`` beside ``<key>.txt`` in tar files), as open_clip reads them.

    Args:
        folder: the destination.
        scenes: their number.
        draw: returns the picture and the caption of a scene, by its number.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for start in range(0, scenes, SHARD):
        with tarfile.open(folder / f"{start // SHARD:05d}.tar", "w", format=tarfile.USTAR_FORMAT) as shard:
            for index in range(start, min(start + SHARD, scenes)):
                picture, caption = draw(index)
                png = io.BytesIO()
                picture.save(png, "png", compress_level=1)
                for ending, content in (("png", png.getvalue()), ("txt", caption.encode())):
                    member = tarfile.TarInfo(f"{index:08d}.{ending}")  # its time, owner and mode are constants
                    member.size = len(content)
                    shard.addfile(member, io.BytesIO(content))


def read_corpus(folder: Path) -> Iterator[tuple[Image.Image, str]]:
    """Yield the scenes of a folder of shards, in order."""
    for path in sorted(folder.glob("*.tar")):
        with tarfile.open(path) as shard:
            for image, text in zip(*[iter(shard)] * 2, strict=True):
                pixels, caption = shard.extractfile(image), shard.extractfile(text)
                if pixels is None or caption is None:
                    raise DataError(f"{path}: {image.name} is not a file", code="no-file", place=path)
                with Image.open(pixels) as picture:
                    yield picture.convert("RGB"), caption.read().decode()
