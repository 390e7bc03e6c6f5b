"""SPEC as published, in small: folders of subsets, each with its images beside two files."""

import json
from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from tests.tracks.vlc.data.formats.published import check_refused, questions, write_json

SUBSETS = {  # candidates
    "absolute_size": 3, "relative_size": 3, "absolute_spatial": 9, "relative_spatial": 4, "existence": 2, "count": 9,
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, size in SUBSETS.items():
        of_image, of_text = [], []
        for case in (7, 12):
            images = [f"image/{case}_{place}.jpg" for place in range(size)]
            captions = [f"a photo of {place} things of {name} {case}" for place in range(size)]
            of_image += [{"query": images[label], "keys": captions, "label": label} for label in range(size)]
            of_text += [{"query": captions[label], "keys": images, "label": label} for label in range(size)]
        write_json(tmp_path / "spec" / name / "image2text.json", of_image)
        write_json(tmp_path / "spec" / name / "text2image.json", of_text)
    return tmp_path


def test_both_ways_are_asked_and_the_right_candidate_stands_anywhere(root: Path) -> None:
    suite = read_suite("spec", root)
    assert {*suite.tasks} == {name for name, task in SUBTASKS.items() if task.suite == "spec"}
    for name, size in SUBSETS.items():
        folder = f"images/spec/{name}"
        of_images, of_texts = (
            json.loads((root / f"spec/{name}/{file}.json").read_text()) for file in ("image2text", "text2image")
        )
        assert questions(suite, f"spec/i2t/{name}") == [
            (f"{folder}/{one['query']}", one["keys"], one["label"]) for one in of_images
        ]
        assert questions(suite, f"spec/t2i/{name}") == [
            (one["query"], [f"{folder}/{key}" for key in one["keys"]], one["label"]) for one in of_texts
        ]
        assert suite.tasks[f"spec/i2t/{name}"].query == "i2t"  # type: ignore[union-attr]
        assert len(of_images) == len(of_texts) == 2 * size
    assert len(suite.images) == len(suite.texts) == 2 * sum(SUBSETS.values())


@pytest.mark.parametrize(
    ("file", "item", "code", "place"),
    [
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": 2}, "wrong-number", "field 'label'"),
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": -1}, "wrong-number", "field 'label'"),
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": True}, "no-number", "field 'label'"),
        ("image2text", {"query": "7.jpg", "keys": [], "label": 0}, "wrong-count", "field 'keys'"),
        (
            "image2text",
            {"query": "../7.jpg", "keys": ["a"], "label": 0},
            "outside-folder",
            "item 1",
        ),
        ("text2image", {"query": "a", "keys": ["7.jpg", "/7.jpg"], "label": 0}, "outside-folder", "item 1"),
        ("text2image", {"query": "", "keys": ["7.jpg"], "label": 0}, "empty-text", "field 'query'"),
        ("text2image", {"keys": ["7.jpg"], "label": 0}, "missing-field", "field 'query'"),
    ],
)
def test_a_broken_item_is_named(root: Path, file: str, item: dict[str, Any], code: str, place: str) -> None:
    path = write_json(root / f"spec/count/{file}.json", [item])
    check_refused("spec", root, code, f"{path}, item 1", place)
