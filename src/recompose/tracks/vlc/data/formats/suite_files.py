"""A suite's files on disk, read as numbered images and texts."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from random import Random
from typing import Any, TypeVar

import numpy as np

from recompose.data.pictures import Picture
from recompose.progress import say
from recompose.tracks.vlc.data.formats import reading
from recompose.tracks.vlc.data.formats.reading import AnnotationItem, Image, Question, missing_error
from recompose.tracks.vlc.data.suite import Suite as Suite  # what readers return
from recompose.tracks.vlc.suites.tasks import ABSENT, Choices, Groups, Pool, Query, Similarity, Task

T = TypeVar("T")


@dataclass(frozen=True)
class Limit:
    """The largest number of items of a sub-task, and the seed that draws them."""

    items: int | None = None  # None: all
    seed: int | None = None  # None: the first ones

    def of(self, items: Sequence[T], name: str) -> list[T]:
        """Return the items of a sub-task of this name that count, in their order.

        Example:
            >>> Limit().of("abc", "ag"), Limit(2).of("abc", "ag"), Limit(2, seed=0).of("abc", "ag")
            (['a', 'b', 'c'], ['a', 'b'], ['a', 'c'])
        """
        if self.items is None or self.items >= len(items):
            return list(items)
        if self.seed is None:
            return list(items[: self.items])
        return [items[place] for place in sorted(Random(f"{self.seed}/{name}").sample(range(len(items)), self.items))]


UNLIMITED = Limit()


@dataclass(frozen=True)
class SuiteFiles:
    """The files of a suite below a root of raw files, and the numbers of the images and texts in them."""

    root: Path
    form: str  # the published suite whose files have the same form
    name: str
    folder: str  # of annotation files; images that no other suite has are in a folder of this name below images/
    layout: str  # the required files, for messages
    limit: Limit = UNLIMITED
    pictures: dict[Picture, int] = field(default_factory=dict)  # numbered as they are met, each once
    captions: dict[str, int] = field(default_factory=dict)

    @property
    def images(self) -> str:
        """The folder of the suite's own images, below the root."""
        return f"images/{self.folder}"

    def path(self, file: str = "") -> Path:
        """Return the path of an annotation file."""
        return self.root / self.folder / file

    def document(self, file: str) -> Any:
        """Return the content of a JSON file, see ``read_document``."""
        return reading.read_document(self.path(file), self.layout)

    def items(self, file: str) -> list[AnnotationItem]:
        """Return the items of a JSON file, see ``read_items``."""
        return reading.read_items(self.path(file), self.layout)

    def lines(self, file: str) -> list[AnnotationItem]:
        """Return the items of a file with one JSON object a line, see ``read_lines``."""
        return reading.read_lines(self.path(file), self.layout)

    def rows(self, file: str, columns: Iterable[str]) -> list[AnnotationItem]:
        """Return the rows of a CSV file, see ``read_rows``."""
        return reading.read_rows(self.path(file), self.layout, columns)

    def tabbed(self, file: str, columns: Sequence[str], *, header: bool) -> list[AnnotationItem]:
        """Return the rows of a table with tabs, see ``read_tabbed``."""
        return reading.read_tabbed(self.path(file), self.layout, columns, header=header)

    def with_images(
        self,
        sets: Mapping[str, Sequence[AnnotationItem]],
        folder: str,
        paths: Callable[[AnnotationItem], Iterable[str]],
    ) -> dict[str, list[AnnotationItem]]:
        """Return the items of each set whose images exist, and report the number of the others, if there are any.

        Args:
            sets: the items by set.
            folder: the folder of the images below the root, for the error.
            paths: the paths of an item's images below the root.

        Raises:
            DataError: a set has no item whose images exist.
        """
        complete = {
            name: [item for item in items if all((self.root / path).is_file() for path in paths(item))]
            for name, items in sets.items()
        }
        for name, items in complete.items():
            if not items:
                message = f"lacks an image of each of the {len(sets[name])} items of {name}"
                raise missing_error(self.root / folder, message, self.layout, "missing-image")
        missing = {name: len(sets[name]) - len(items) for name, items in complete.items()}
        if any(missing.values()):
            counts = ", ".join(f"{count} of {len(sets[name])} {name}" for name, count in missing.items() if count)
            say(f"{self.name}: items left out without an image: {counts}")
        return complete

    def image_numbers(self, images: Iterable[Image]) -> np.ndarray:
        """Return the numbers of images, or of regions of them; those that are new get the next ones.

        Example:
            >>> files = SuiteFiles(Path(), "mine", "mine", "mine", "")
            >>> files.image_numbers(["a.png", "b.png", "a.png"]).tolist()
            [0, 1, 0]
        """
        pictures = (image if isinstance(image, Picture) else Picture(image) for image in images)
        numbers = [self.pictures.setdefault(picture, len(self.pictures)) for picture in pictures]
        return np.array(numbers, dtype=np.int64)

    def text_numbers(self, texts: Iterable[str]) -> np.ndarray:
        """Return the numbers of texts; those that are new get the next ones."""
        return np.array([self.captions.setdefault(text, len(self.captions)) for text in texts], dtype=np.int64)

    def choices(self, query: Query, questions: Sequence[Question], groups: Sequence[str] | None = None) -> Choices:
        """Return the task of these questions: of images with texts as candidates (``i2t``), or the reverse."""
        numbers: list[Callable[[Iterable[Any]], np.ndarray]] = [self.image_numbers, self.text_numbers]
        of_queries, of_candidates = numbers if query == "i2t" else numbers[::-1]
        width = max((len(candidates) for _, candidates, _ in questions), default=0)
        offered = np.full((len(questions), width), ABSENT, dtype=np.int64)
        for row, (_, candidates, _) in enumerate(questions):
            offered[row, : len(candidates)] = of_candidates(candidates)
        asked, true = of_queries(asked for asked, _, _ in questions), [true for _, _, true in questions]
        named = None if groups is None else tuple(groups)
        return Choices(query, asked, offered, np.array(true, dtype=np.int64), named)

    def pairs(self, images: Iterable[Sequence[Image]], texts: Iterable[Sequence[str]]) -> Groups:
        """Return the task of these pairs of images and of captions [items, 2]."""
        pictures, captions = self.image_numbers(chain(*images)), self.text_numbers(chain(*texts))
        return Groups(pictures.reshape(-1, 2), captions.reshape(-1, 2))

    def groups(self, items: Sequence[AnnotationItem], sides: tuple[int, int], suffix: str = "") -> Groups:
        """Return the task of items with the fields ``image_<side>`` and ``caption_<side>``.

        Args:
            items: of which each has two images and two captions.
            sides: the ends of the names of fields.
            suffix: of files, where names lack it.
        """
        return self.pairs(
            [[item.path(f"image_{side}", self.images) + suffix for side in sides] for item in items],
            [[item.text(f"caption_{side}") for side in sides] for item in items],
        )

    def pool(self, captions: Iterable[tuple[str, Sequence[str]]]) -> Pool:
        """Return the task of images, given by their paths, and their captions, in their order."""
        paths, texts = zip(*captions, strict=True)
        image_of = np.repeat(np.arange(len(paths)), list(map(len, texts)))
        return Pool(self.image_numbers(paths), self.text_numbers(chain(*texts)), image_of)

    def similarity(
        self, rows: Sequence[AnnotationItem], sentences: Sequence[str], grade: str, grades: tuple[float, float]
    ) -> Similarity:
        """Return the task of pairs of sentences with their grades.

        Args:
            rows: one for each pair.
            sentences: the fields of both.
            grade: the field of the grade.
            grades: the lowest and the highest grade.

        Raises:
            DataError: a row lacks a sentence, or its grade is out of range.
        """
        first, second = (self.text_numbers(row.text(key).strip() for row in rows) for key in sentences)
        values = [row.number(grade) for row in rows]
        for row, number in zip(rows, values, strict=True):
            if not grades[0] <= number <= grades[1]:
                message = f"is {number:g}, not a grade from {grades[0]:g} to {grades[1]:g}"
                raise row.field_fault(grade, "wrong-number", message)
        return Similarity(first, second, np.array(values, dtype=np.float64))

    def suite(self, tasks: Mapping[str, Task]) -> Suite:
        """Return the suite of these tasks, by their names within it; the only task of a suite has an empty name."""
        named = {f"{self.name}/{part}" if part else self.name: task for part, task in tasks.items()}
        form = "" if self.name == self.form else self.form
        return Suite(self.name, tuple(self.pictures), tuple(self.captions), named, form)
