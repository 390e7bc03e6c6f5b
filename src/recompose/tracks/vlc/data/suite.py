"""The common form of suites: images, texts, and tasks that refer to them by number.

The index of a suite is one JSON file. Repeated images and texts are stored once, so that each is encoded once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from recompose.data.pictures import Box, Picture
from recompose.files import read_json, write_json

Query: TypeAlias = Literal["i2t", "t2i"]  # a caption is selected for an image, or the reverse
ABSENT = -1  # fills the rows of items with fewer candidates


@dataclass(frozen=True)
class Choices:
    """Items that select a caption for an image (``i2t``), or an image for a caption (``t2i``)."""

    query: Query
    asked: np.ndarray  # [items], the queries: numbers of images (i2t) or of texts (t2i)
    offered: np.ndarray  # [items, candidates], numbers of texts (i2t) or of images (t2i); ABSENT after the last one
    true: np.ndarray  # [items], the column of the right candidate
    groups: tuple[str, ...] | None = None  # [items], for a mean over groups, or a number for each


@dataclass(frozen=True)
class Groups:
    """Items of two images and two captions each; image 0 belongs to caption 0, and image 1 to caption 1."""

    images: np.ndarray  # [items, 2]
    texts: np.ndarray  # [items, 2]


@dataclass(frozen=True)
class Triplets:
    """Items of an image with two true captions and a false one."""

    images: np.ndarray  # [items]
    texts: np.ndarray  # [items, 3], the false caption last


@dataclass(frozen=True)
class Classes:
    """Images to classify by the prompts of classes."""

    images: np.ndarray  # [images]
    labels: np.ndarray  # [images] numbers of classes, or [images, classes] bool for several classes an image
    prompts: tuple[tuple[int, ...], ...]  # [classes], the numbers of each class's prompts
    names: tuple[str, ...]  # [classes]


@dataclass(frozen=True)
class Pool:
    """Images and their captions, each to retrieve by the other among all."""

    images: np.ndarray  # [images]
    texts: np.ndarray  # [captions]
    image_of: np.ndarray  # [captions], the position of a caption's image in ``images``


@dataclass(frozen=True)
class Similarity:
    """Pairs of texts with human grades of their similarity."""

    first: np.ndarray  # [pairs], numbers of texts
    second: np.ndarray  # [pairs]
    graded: np.ndarray  # [pairs]


Task: TypeAlias = Choices | Groups | Triplets | Classes | Pool | Similarity
KINDS: Mapping[str, type[Task]] = {kind.__name__: kind for kind in get_args(Task)}


@dataclass(frozen=True)
class Suite:
    """A suite: its images, texts and tasks."""

    name: str
    images: tuple[Picture, ...]
    texts: tuple[str, ...]
    tasks: Mapping[str, Task]  # by the names of the leaves of ``aggregation.py``, with the suite's name first
    form: str = ""  # the published suite that is scored alike, for a suite under another name; empty: it is published
    own_rules: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # sub-task of a plugin's form -> query, ties

    def published(self, task: str) -> str:
        """Return the name of a task in the published suite that is scored alike.

        Example:
            >>> Suite("mine", (), (), {}, form="sugarcrepe").published("mine/swap_obj")
            'sugarcrepe/swap_obj'
        """
        return self.form + task.removeprefix(self.name) if self.form else task

    def write(self, path: Path) -> None:
        """Write the index."""
        images = [[picture.path, picture.box, picture.squeezed] for picture in self.images]
        tasks = {name: {"kind": type(task).__name__, **_plain(task)} for name, task in self.tasks.items()}
        document = {"name": self.name, "form": self.form, "images": images, "texts": list(self.texts), "tasks": tasks}
        if self.own_rules:
            document["rules"] = {name: list(rule) for name, rule in self.own_rules.items()}
        write_json(path, document)

    @classmethod
    def read(cls, path: Path) -> "Suite":
        """Read an index."""
        document = read_json(path)
        images = tuple(Picture(file, _as_tuple(box), squeezed) for file, box, squeezed in document["images"])
        tasks = {name: _task(**task) for name, task in document["tasks"].items()}
        rules = {name: (query, ties) for name, (query, ties) in document.get("rules", {}).items()}
        return cls(document["name"], images, tuple(document["texts"]), tasks, document["form"], rules)


def _plain(task: Task) -> dict[str, Any]:
    return {name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(task).items()}


def _task(kind: str, **fields: Any) -> Task:
    values: dict[str, Any] = {
        name: np.array(value) if name in _ARRAYS else _as_tuple(value) for name, value in fields.items()
    }
    return KINDS[kind](**values)


_ARRAYS = {"asked", "offered", "true", "images", "texts", "labels", "image_of", "first", "second", "graded"}


def _as_tuple(value: Any) -> Any:
    return tuple(_as_tuple(entry) for entry in value) if isinstance(value, list) else value


@dataclass
class Collector:
    """A numbering of the images and texts of a suite during reading, each once.

    Example:
        >>> collector = Collector()
        >>> collector.text("a dog"), collector.text("a cat"), collector.text("a dog")
        (0, 1, 0)
    """

    pictures: dict[Picture, int] = field(default_factory=dict)
    captions: dict[str, int] = field(default_factory=dict)

    def image(self, path: str, box: Box | None = None, *, squeezed: bool = False) -> int:
        """Return the number of an image, or of a region of it; squeezed: resized to the square instead of a centre
        crop.
        """
        return self.pictures.setdefault(Picture(path, box, squeezed), len(self.pictures))

    def text(self, caption: str) -> int:
        """Return the number of a text."""
        return self.captions.setdefault(caption, len(self.captions))

    def choices(
        self,
        query: Query,
        items: Sequence[tuple[int, Sequence[int], int]],
        groups: Sequence[str] | None = None,
    ) -> Choices:
        """Return the task of these items: each has a query, the numbers of its candidates, and the position of the
        right one.
        """
        width = max((len(candidates) for _, candidates, _ in items), default=0)
        offered = np.full((len(items), width), ABSENT, dtype=np.int64)
        for row, (_, candidates, _) in enumerate(items):
            offered[row, : len(candidates)] = candidates
        queries, true = (np.array([item[place] for item in items], dtype=np.int64) for place in (0, 2))
        return Choices(query, queries, offered, true, None if groups is None else tuple(groups))

    def groups(self, images: Sequence[Sequence[int]], texts: Sequence[Sequence[int]]) -> Groups:
        """Return the task of these pairs of images and of captions [items, 2]."""
        return Groups(np.array(images, dtype=np.int64), np.array(texts, dtype=np.int64))

    def suite(self, name: str, tasks: Mapping[str, Task], form: str = "") -> Suite:
        """Return the suite with all numbered images and texts."""
        return Suite(name, tuple(self.pictures), tuple(self.captions), tasks, form)


def image_numbers(task: Task) -> np.ndarray:
    """Return the numbers of a task's images [items, ...]; ABSENT where there is none."""
    if isinstance(task, Choices):
        return task.asked if task.query == "i2t" else task.offered
    return np.empty((len(task.first), 0), dtype=np.int64) if isinstance(task, Similarity) else task.images


def files(suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the image files of suites, each once."""
    yield from dict.fromkeys(picture.path for suite in suites for picture in suite.images)
