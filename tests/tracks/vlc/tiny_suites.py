"""A tiny world of images and suites of every kind, a random CLIP, and plain loops that score item by item."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import write_pixels
from recompose.data.pictures import Picture
from recompose.tracks.vlc.data.formats import sugarcrepe
from recompose.tracks.vlc.data.index import pictures, write_suites
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Classes, Groups, Pool, Task, Triplets

WORDS = ("red", "blue", "dog", "cat", "on", "under", "a", "small", "box", "ball")


def write_images(root: Path, count: int = 8) -> None:
    """Images of several sizes, and one as an array of blue, green, red."""
    rng = np.random.default_rng(0)
    (root / "images").mkdir(parents=True)
    for number in range(count):
        pixels = rng.integers(0, 256, (30 + 5 * number, 50, 3), dtype=np.uint8)
        Image.fromarray(pixels).save(root / "images" / f"{number}.png")
    np.save(root / "images" / "frame.npy", rng.integers(0, 256, (40, 60, 3), dtype=np.uint8))


def captions(count: int) -> tuple[str, ...]:
    """Different captions of different lengths."""
    rng = np.random.default_rng(1)
    built = dict.fromkeys(" ".join(rng.choice(WORDS, rng.integers(1, 9))) for _ in range(4 * count))
    return tuple(built)[:count]


def tiny_suites() -> list[Suite]:
    """Suites that share images and texts, with every kind of task."""
    texts, numbers = captions(12), np.arange
    files = tuple(Picture(f"images/{number}.png") for number in range(8))
    regions = (Picture("images/0.png", (0, 0, 20, 20)), Picture("images/0.png", (10, 5, 50, 30)))
    images = {
        "crepe": (*regions, Picture("images/frame.npy")),
        "elevater": (*files, *(Picture(file.path, squeezed=True) for file in files)),
    }
    halves, swapped = np.stack([numbers(6), numbers(6, 12)], axis=1), np.array([[4, 0], [5, 1], [6, 6], [7, 3]])
    atoms, captions_of = np.array([[0, 1, 2], [1, 2, ABSENT], [3, 4, 0]]), np.repeat(numbers(4), 3)
    prompts, squares = ((0, 1), (2,), (3, 4, 5)), numbers(8).reshape(4, 2)
    tasks: dict[str, dict[str, Task]] = {
        "sugarcrepe": {
            "/replace_obj": Choices("i2t", numbers(6), halves, np.zeros(6, dtype=int)),
            "/swap_obj": Choices("i2t", numbers(4), swapped, np.ones(4, dtype=int)),
        },
        "crepe": {"/atom": Choices("i2t", numbers(3), atoms, numbers(3))},
        "comvg": {"": Choices("t2i", numbers(5), np.stack([numbers(5), numbers(3, 8)], axis=1), numbers(5) % 2)},
        "winoground": {"": Groups(squares, squares)},
        "elevater": {
            "/mnist": Classes(numbers(8), numbers(8) % 3, prompts, ("a", "b", "c")),
            "/kitti-distance": Classes(numbers(8, 16), numbers(8) % 2, ((6,), (7, 8)), ("a", "b")),
        },
        "coco": {"": Pool(numbers(4), numbers(12) % 9, captions_of)},
        "sugarcrepe_pp": {
            "/swap_obj": Triplets(numbers(4), np.stack([numbers(4), numbers(3, 7), numbers(8, 12)], axis=1))
        },
    }
    named = {name: {name + part: task for part, task in parts.items()} for name, parts in tasks.items()}
    return [
        Suite(name, images.get(name, files), texts[: 5 if name == "crepe" else None], parts)
        for name, parts in named.items()
    ]


def random_features(suite: Suite, *broken: int) -> Features:
    """Random embeddings of a suite, of whose images some cannot be read; the same for suites of the same sizes."""
    rng = np.random.default_rng(2)
    images, texts = (rng.normal(size=(len(part), 8)).astype(np.float32) for part in (suite.images, suite.texts))
    rows = np.arange(len(images))
    rows[list(broken)] = BROKEN
    images, texts = (part / np.linalg.norm(part, axis=1, keepdims=True) for part in (images, texts))
    return Features(images, texts, rows, np.arange(len(texts)))


def open_plainly(root: Path, picture: Picture) -> Image.Image:
    path = root / picture.path
    if path.suffix == ".npy":
        return Image.fromarray(np.load(path)[:, :, ::-1].copy())
    image = Image.open(path)
    return image.crop(picture.box) if picture.box else image


@torch.no_grad()
def plain_image(clip: Backbone, root: Path, picture: Picture) -> np.ndarray:
    """An image's embedding, by itself, as open_clip computes it."""
    image = open_plainly(root, picture)
    pixels = clip.preprocess(image)
    if picture.squeezed:
        image = image.convert("RGB").resize((32, 32), Image.Resampling.BICUBIC)
        pixels = clip.preprocess(image)
    return normalize(clip.model.encode_image(pixels[None]), dim=-1)[0].numpy()


@torch.no_grad()
def plain_text(clip: Backbone, text: str) -> np.ndarray:
    """A text's embedding, by itself, with all its padding, as open_clip computes it."""
    return normalize(clip.model.encode_text(clip.tokens([text])), dim=-1)[0].numpy()


def write_sugarcrepe(root: Path, sets: Sequence[str] = sugarcrepe.SETS, items: int = 5) -> None:
    """Files of SugarCrepe's form, with their images."""
    rng, texts = np.random.default_rng(2), captions(2 * items)
    images = root / "images" / "coco" / "val2017"
    images.mkdir(parents=True)
    (root / "sugarcrepe").mkdir()
    names = [f"{number:012d}.jpg" for number in range(3)]
    for name in names:
        Image.fromarray(rng.integers(0, 256, (40, 48, 3), dtype=np.uint8)).save(images / name)
    document = {
        str(item): {"filename": names[item % 3], "caption": texts[item], "negative_caption": texts[items + item]}
        for item in range(items)
    }
    for name in sets:
        (root / "sugarcrepe" / f"{name}.json").write_text(json.dumps(document))


def write_tiny_suites(folder: Path) -> dict[str, Path]:
    """Write these suites with their pictures, in two collections of the same raw files."""
    write_images(folder)
    suites, needs = tiny_suites(), {}
    for name, part in (("one", suites[:3]), ("two", suites[3:])):
        needs |= {f"{kind}-{name}": folder / f"{kind}-{name}" for kind in ("suites", "pixels")}
        needs[f"pixels-{name}"].mkdir()
        write_suites(part, needs[f"suites-{name}"])
        write_pixels(pictures(needs[f"suites-{name}"]), folder, needs[f"pixels-{name}"], 32)
    return needs
