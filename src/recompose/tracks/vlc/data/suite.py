"""The common form of suites: images, texts, and tasks that refer to them by number.

The index of a suite is one JSON file. Repeated images and texts are stored once, so that each is encoded once.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from recompose.data.pictures import Picture
from recompose.files import read_json, write_json
from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.suites.tasks import Task, as_tuple, read_task


@dataclass(frozen=True)
class Suite:
    """A suite: its images, texts and tasks."""

    name: str
    images: tuple[Picture, ...]
    texts: tuple[str, ...]
    tasks: Mapping[str, Task]  # by the names of sub-tasks, with the suite's name first
    form: str = ""  # the published suite that is scored alike, for a suite under another name; empty: it is published
    own_rules: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # sub-task of a plugin's form -> query, ties

    def published(self, task: str) -> str:
        """Return the name of a task in the published suite that is scored alike.

        Example:
            >>> Suite("mine", (), (), {}, form="sugarcrepe").published("mine/swap_obj")
            'sugarcrepe/swap_obj'
        """
        return self.form + task.removeprefix(self.name) if self.form else task

    def scores(self, features: Features) -> dict[str, np.ndarray]:
        """Return the scores of all tasks; retrieval has one entry for each direction."""
        return {
            leaf: values for name, task in self.tasks.items() for leaf, values in task.scores(name, features).items()
        }

    def features(
        self, images: np.ndarray, texts: np.ndarray, image_rows: Mapping[Picture, int], text_rows: Mapping[str, int]
    ) -> Features:
        """Return embeddings as those of this suite, given their rows; an image without one is unreadable."""
        rows = [image_rows.get(picture, BROKEN) for picture in self.images], [text_rows[text] for text in self.texts]
        return Features(images, texts, *(np.array(numbers, dtype=np.int64) for numbers in rows))

    def write(self, path: Path) -> None:
        """Write the index."""
        images = [[picture.path, picture.box, picture.squeezed] for picture in self.images]
        tasks = {name: task.document() for name, task in self.tasks.items()}
        document = {"name": self.name, "form": self.form, "images": images, "texts": list(self.texts), "tasks": tasks}
        if self.own_rules:
            document["rules"] = {name: list(rule) for name, rule in self.own_rules.items()}
        write_json(path, document)

    @classmethod
    def read(cls, path: Path) -> "Suite":
        """Read an index."""
        document = read_json(path)
        images = tuple(Picture(file, as_tuple(box), squeezed) for file, box, squeezed in document["images"])
        tasks = {name: read_task(task) for name, task in document["tasks"].items()}
        rules = {name: (query, ties) for name, (query, ties) in document.get("rules", {}).items()}
        return cls(document["name"], images, tuple(document["texts"]), tasks, document["form"], rules)


def files(suites: Sequence[Suite]) -> Iterator[str]:
    """Yield the image files of suites, each once."""
    yield from dict.fromkeys(picture.path for suite in suites for picture in suite.images)
