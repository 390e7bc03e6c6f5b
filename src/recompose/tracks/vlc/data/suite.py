"""What a suite is, in whatever form it was published: images, texts, and tasks that refer to them by number.

The index of a suite is one file of JSON. Images and texts that occur several times stand in it once, so that each is
encoded once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias

import numpy as np

from recompose.data.pictures import Box, Picture
from recompose.files import read_json, write_json

ABSENT = -1  # where an item has fewer candidates than others


@dataclass(frozen=True)
class Choices:
    """Items that ask for a caption of an image (``i2t``), or for an image of a caption (``t2i``)."""

    query: Literal["i2t", "t2i"]
    asked: np.ndarray  # [items], numbers of images (i2t) or of texts (t2i)
    offered: np.ndarray  # [items, candidates], numbers of texts (i2t) or of images (t2i); ABSENT where there is none
    true: np.ndarray  # [items], the column of the right candidate
    groups: tuple[str, ...] | None = None  # [items], where a mean over groups is asked for


@dataclass(frozen=True)
class Groups:
    """Items of two images and two captions each; image 0 goes with caption 0, and image 1 with caption 1."""

    images: np.ndarray  # [items, 2]
    texts: np.ndarray  # [items, 2]


@dataclass(frozen=True)
class Classes:
    """Images to be told apart by the prompts of classes."""

    images: np.ndarray  # [images]
    labels: np.ndarray  # [images] numbers of classes, or [images, classes] bool where an image may show several
    prompts: tuple[tuple[int, ...], ...]  # [classes], the numbers of each class's prompts
    names: tuple[str, ...]  # [classes]


@dataclass(frozen=True)
class Pool:
    """Images and their captions, each to be found by the other among all."""

    images: np.ndarray  # [images]
    texts: np.ndarray  # [captions]
    image_of: np.ndarray  # [captions], the place of a caption's image in ``images``


@dataclass(frozen=True)
class Similarity:
    """Pairs of texts that people graded by how much they mean the same."""

    first: np.ndarray  # [pairs], numbers of texts
    second: np.ndarray  # [pairs]
    graded: np.ndarray  # [pairs]


Task: TypeAlias = Choices | Groups | Classes | Pool | Similarity
KINDS: Mapping[str, type[Task]] = {kind.__name__: kind for kind in (Choices, Groups, Classes, Pool, Similarity)}


@dataclass(frozen=True)
class Suite:
    """A suite: what is shown, and what is asked."""

    name: str
    images: tuple[Picture, ...]
    texts: tuple[str, ...]
    tasks: Mapping[str, Task]  # by the names of the leaves of ``aggregation.py``

    def write(self, path: Path) -> None:
        """Write the index."""
        images = [[picture.path, picture.box, picture.squeezed] for picture in self.images]
        tasks = {name: {"kind": type(task).__name__, **_plain(task)} for name, task in self.tasks.items()}
        write_json(path, {"name": self.name, "images": images, "texts": list(self.texts), "tasks": tasks})

    @classmethod
    def read(cls, path: Path) -> "Suite":
        """Read an index."""
        document = read_json(path)
        images = tuple(Picture(file, _frozen(box), squeezed) for file, box, squeezed in document["images"])
        tasks = {name: _task(**task) for name, task in document["tasks"].items()}
        return cls(document["name"], images, tuple(document["texts"]), tasks)


def _plain(task: Task) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(task).items()}


def _task(kind: str, **fields: Any) -> Task:
    made: dict[str, Any] = {
        name: np.array(value) if name in _ARRAYS else _frozen(value) for name, value in fields.items()
    }
    return KINDS[kind](**made)


_ARRAYS = {"asked", "offered", "true", "images", "texts", "labels", "image_of", "first", "second", "graded"}


def _frozen(value: Any) -> Any:
    return tuple(_frozen(each) for each in value) if isinstance(value, list) else value


@dataclass
class Collector:
    """Numbers the images and texts of a suite while it is read, each once.

    Example:
        >>> collector = Collector()
        >>> collector.text("a dog"), collector.text("a cat"), collector.text("a dog")
        (0, 1, 0)
    """

    pictures: dict[Picture, int] = field(default_factory=dict)
    captions: dict[str, int] = field(default_factory=dict)

    def image(self, path: str, box: Box | None = None, *, squeezed: bool = False) -> int:
        """The number of an image, or of a part of it; squeezed: into the square, in place of a centre crop."""
        return self.pictures.setdefault(Picture(path, box, squeezed), len(self.pictures))

    def text(self, caption: str) -> int:
        """The number of a text."""
        return self.captions.setdefault(caption, len(self.captions))

    def choices(
        self,
        query: Literal["i2t", "t2i"],
        items: Sequence[tuple[int, Sequence[int], int]],
        groups: Sequence[str] | None = None,
    ) -> Choices:
        """Items, each: what is asked for, the numbers of its candidates, the place of the right one among them."""
        width = max((len(candidates) for _, candidates, _ in items), default=0)
        offered = np.full((len(items), width), ABSENT, dtype=np.int64)
        for row, (_, candidates, _) in enumerate(items):
            offered[row, : len(candidates)] = candidates
        asked, true = (np.array([item[place] for item in items], dtype=np.int64) for place in (0, 2))
        return Choices(query, asked, offered, true, None if groups is None else tuple(groups))

    def suite(self, name: str, tasks: Mapping[str, Task]) -> Suite:
        """The suite that was read."""
        return Suite(name, tuple(self.pictures), tuple(self.captions), tasks)


def files(suites: Sequence[Suite]) -> Iterator[str]:
    """The image files of suites, each once."""
    yield from dict.fromkeys(picture.path for suite in suites for picture in suite.images)
