"""Small suites in the forms that they are published in."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from recompose.tracks.vlc.suites.tasks import Choices, Groups, Pool, Similarity, Triplets
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


def write_files(root: Path, files: Mapping[str, Any]) -> Path:
    """Write files below a root: texts as they are, others as JSON, lines of JSON or CSV, by their suffix."""
    for name, content in files.items():
        path = root / name
        if isinstance(content, str):
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        elif path.suffix == ".jsonl":
            write_files(root, {name: "".join(f"{json.dumps(line)}\n" for line in content)})
        elif path.suffix == ".csv":
            write_csv(path, list(content[0]), content)
        else:
            write_json(path, content)
    return root


def pair(number: int, first: int, image: str, **more: Any) -> dict[str, Any]:
    """Two images with a caption each, counted from ``first``."""
    sides = (first, first + 1)
    captions = {f"caption_{side}": f"{number} dogs, {side}" for side in sides}
    return {"id": number, **{f"image_{side}": image.format(number, side) for side in sides}, **captions, **more}


def eqben_group(name: str, number: int, images: tuple[str, str] = ("0.png", "1.png")) -> list[dict[str, Any]]:
    """The lines of two images and two captions of a set of EqBen."""
    return [
        {
            "image": f"eqben{name}/v{number}/{images[image]}",
            "caption": f"caption {caption} of {name} {number}",
            "private_info": {"dataset": f"eqben{name}", "name": f"c{caption}i{image}", "sample_cnt": number},
        }
        for image in (0, 1)
        for caption in (0, 1)
    ]


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


def items(suite: Suite, name: str) -> list[Any]:
    """The items of a task in words, of any kind but classes: images by their paths, then texts."""
    task, images, texts = suite.tasks[name], suite.images, suite.texts
    match task:
        case Groups():
            return [
                ([images[image].path for image in own], [texts[text] for text in captions])
                for own, captions in zip(task.images, task.texts, strict=True)
            ]
        case Triplets():
            pairs = zip(task.images, task.texts, strict=True)
            return [(images[image].path, [texts[text] for text in captions]) for image, captions in pairs]
        case Pool():
            captions = list(zip(task.image_of, task.texts, strict=True))
            return [
                (images[image].path, [texts[text] for own, text in captions if own == place])
                for place, image in enumerate(task.images)
            ]
        case Similarity():
            rows = zip(task.first, task.second, task.graded.tolist(), strict=True)
            return [(texts[one], texts[other], grade) for one, other, grade in rows]
    return questions(suite, name)


def check_refused(form: str, root: Path, code: str, place: str | Path, end: str = "") -> None:
    """Check that a suite is refused with this code, at a place that has the one text and ends with the other."""
    with raises(DataError, code, place) as error:
        read_suite(form, root)
    assert str(error.value.place).endswith(end)
    assert "\n" not in str(error.value)
