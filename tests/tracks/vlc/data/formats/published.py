"""Small suites in the forms that they are published in."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Choices, Groups, Suite
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises


def write_json(path: Path, document: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, columns)
        writer.writeheader()
        writer.writerows(rows)
    return path


def touch(*paths: Path) -> None:
    for path in paths:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()


def questions(suite: Suite, name: str) -> list[tuple[Any, list[Any], int]]:
    """The items of a task in words: what is asked of, the candidates, and the place of the right one.

    An image is its path, or its path and its box.
    """
    task = suite.tasks[name]
    assert isinstance(task, Choices)
    images = [image.path if image.box is None else (image.path, image.box) for image in suite.images]
    texts = list(suite.texts)
    asked, offered = (images, texts) if task.query == "i2t" else (texts, images)
    rows = zip(task.asked, task.offered, task.true, strict=True)
    return [(asked[one], [offered[each] for each in those if each >= 0], int(true)) for one, those, true in rows]


def groups(suite: Suite, name: str) -> list[tuple[list[str], list[str]]]:
    """The items of a task of groups in words: the paths of two images, and their captions."""
    task = suite.tasks[name]
    assert isinstance(task, Groups)
    return [
        ([suite.images[image].path for image in images], [suite.texts[text] for text in texts])
        for images, texts in zip(task.images, task.texts, strict=True)
    ]


def check_refused(form: str, root: Path, code: str, place: str | Path, end: str = "") -> None:
    """Check that a suite is refused with this code, at a place that has the one text and ends with the other."""
    with raises(DataError, code, place) as error:
        read_suite(form, root)
    assert str(error.value.place).endswith(end)


def equal(one: Suite, other: Suite) -> bool:
    """Whether two suites are the same, arrays and all."""
    if (one.name, one.images, one.texts, [*one.tasks]) != (other.name, other.images, other.texts, [*other.tasks]):
        return False
    fields = [(vars(one.tasks[name]), vars(other.tasks[name])) for name in one.tasks]
    return all(np.array_equal(mine[key], theirs[key]) for mine, theirs in fields for key in {*mine, *theirs})
