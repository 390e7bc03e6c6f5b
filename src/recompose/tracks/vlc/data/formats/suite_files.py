"""A suite's files on disk, read as numbered images and texts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from recompose.tracks.vlc.data.formats.reading import (
    AnnotationItem,
    Key,
    Question,
    read_document,
    read_items,
    read_lines,
    read_rows,
    read_tabbed,
)
from recompose.tracks.vlc.data.suite import Box, Choices, Collector, Groups, Query, Suite, Task


@dataclass(frozen=True)
class SuiteFiles:
    """The files of a suite below a root of raw files, and the numbers of the images and texts in them."""

    root: Path
    form: str  # the published suite whose files have the same form
    name: str
    folder: str  # of annotation files; images that no other suite has are in a folder of this name below images/
    layout: str  # the required files, for messages
    collector: Collector = field(default_factory=Collector)

    @property
    def images(self) -> str:
        """The folder of the suite's own images, below the root."""
        return f"images/{self.folder}"

    def path(self, file: str = "") -> Path:
        """Return the path of an annotation file."""
        return self.root / self.folder / file

    def document(self, file: str) -> Any:
        """Return the content of a JSON file, see ``read_document``."""
        return read_document(self.path(file), self.layout)

    def items(self, file: str) -> list[AnnotationItem]:
        """Return the items of a JSON file, see ``read_items``."""
        return read_items(self.path(file), self.layout)

    def lines(self, file: str) -> list[AnnotationItem]:
        """Return the items of a file with one JSON object a line, see ``read_lines``."""
        return read_lines(self.path(file), self.layout)

    def rows(self, file: str, columns: Iterable[str]) -> list[AnnotationItem]:
        """Return the rows of a CSV file, see ``read_rows``."""
        return read_rows(self.path(file), self.layout, columns)

    def tabbed(self, file: str, columns: Sequence[str], *, header: bool) -> list[AnnotationItem]:
        """Return the rows of a table with tabs, see ``read_tabbed``."""
        return read_tabbed(self.path(file), self.layout, columns, header=header)

    def image(self, item: AnnotationItem, key: Key, folder: str, box: Box | None = None) -> int:
        """Return the number of the image that a field names below a folder."""
        return self.collector.image(item.path(key, folder), box)

    def text(self, item: AnnotationItem, key: Key) -> int:
        """Return the number of the text of a field."""
        return self.collector.text(item.text(key))

    def texts(self, item: AnnotationItem, *keys: Key) -> list[int]:
        """Return the numbers of the texts of fields."""
        return [self.text(item, key) for key in keys]

    def text_list(self, item: AnnotationItem, key: Key, count: int | None = None) -> list[int]:
        """Return the numbers of the texts of a field that is a list of them."""
        return [self.collector.text(text) for text in item.texts(key, count)]

    def choices(self, query: Query, questions: Sequence[Question], groups: Sequence[str] | None = None) -> Choices:
        """Return the task of these questions, see ``Collector.choices``."""
        return self.collector.choices(query, questions, groups)

    def groups(self, items: Sequence[AnnotationItem], sides: tuple[int, int], suffix: str = "") -> Groups:
        """Return the task of items with the fields ``image_<side>`` and ``caption_<side>``.

        Args:
            items: of which each has two images and two captions.
            sides: the ends of the names of fields.
            suffix: of files, where names lack it.
        """
        return self.collector.groups(
            [
                [self.collector.image(item.path(f"image_{side}", self.images) + suffix) for side in sides]
                for item in items
            ],
            [self.texts(item, *(f"caption_{side}" for side in sides)) for item in items],
        )

    def suite(self, tasks: Mapping[str, Task]) -> Suite:
        """Return the suite of these tasks, by their names within it; the only task of a suite has an empty name."""
        named = {f"{self.name}/{part}" if part else self.name: task for part, task in tasks.items()}
        return self.collector.suite(self.name, named, "" if self.name == self.form else self.form)
