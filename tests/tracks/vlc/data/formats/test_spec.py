"""SPEC as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
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
    ("file", "item", "fault"),
    [
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": 2}, "is 2, not a whole number from 0 below 2"),
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": -1}, "is -1, not a whole number from 0"),
        ("image2text", {"query": "7.jpg", "keys": ["a", "b"], "label": True}, "field 'label' is not a number"),
        ("image2text", {"query": "7.jpg", "keys": [], "label": 0}, "field 'keys' has 0 entries"),
        (
            "image2text",
            {"query": "../7.jpg", "keys": ["a"], "label": 0},
            "lies outside of its folder images/spec/count",
        ),
        ("text2image", {"query": "a", "keys": ["7.jpg", "/7.jpg"], "label": 0}, "'/7.jpg' lies outside of its folder"),
        ("text2image", {"query": "", "keys": ["7.jpg"], "label": 0}, "field 'query' is empty"),
        ("text2image", {"keys": ["7.jpg"], "label": 0}, "there is no field 'query'"),
    ],
)
def test_a_broken_item_is_named(root: Path, file: str, item: dict[str, Any], fault: str) -> None:
    path = write_json(root / f"spec/count/{file}.json", [item])
    with pytest.raises(DataError, match=f"{path}, item 1: .*{fault}"):
        read_suite("spec", root)


def test_a_subset_that_is_absent_is_asked_for(root: Path) -> None:
    (root / "spec/existence/text2image.json").unlink()
    with pytest.raises(DataError, match=r"existence/text2image.json is absent; .*huggingface.co/datasets/wjpoom/SPEC"):
        read_suite("spec", root)
