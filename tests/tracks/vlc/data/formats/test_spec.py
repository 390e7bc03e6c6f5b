"""SPEC as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_json

SUBSETS = ("absolute_size", "relative_size", "absolute_spatial", "relative_spatial", "existence", "count")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in SUBSETS:
        captions = [f"{name} one", "two", "three"]
        of_image = [{"query": "image/7.jpg", "keys": captions, "label": 2}]
        of_text = [{"query": "two", "keys": ["image/1.jpg", "image/7.jpg"], "label": 1}]
        write_json(tmp_path / "spec" / name / "image2text.json", of_image)
        write_json(tmp_path / "spec" / name / "text2image.json", of_text)
    return tmp_path


def test_both_ways_are_asked_and_the_right_candidate_stands_anywhere(root: Path) -> None:
    suite = read_suite("spec", root)
    assert {*suite.tasks} == {name for name, task in SUBTASKS.items() if task.suite == "spec"}
    for name in SUBSETS:
        folder = f"images/spec/{name}/image"
        assert questions(suite, f"spec/i2t/{name}") == [(f"{folder}/7.jpg", [f"{name} one", "two", "three"], 2)]
        assert questions(suite, f"spec/t2i/{name}") == [("two", [f"{folder}/1.jpg", f"{folder}/7.jpg"], 1)]
        assert suite.tasks[f"spec/i2t/{name}"].query == "i2t"  # type: ignore[union-attr]
    assert (len(suite.images), len(suite.texts)) == (12, 8)


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
    with raises(DataError, code, f"{path}, item 1") as error:
        read_suite("spec", root)
    assert str(error.value.place).endswith(place)


def test_a_subset_that_is_absent_is_asked_for(root: Path) -> None:
    (root / "spec/existence/text2image.json").unlink()
    with raises(DataError, "missing-file", "existence/text2image.json"):
        read_suite("spec", root)
