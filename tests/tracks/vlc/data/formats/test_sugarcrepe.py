"""SugarCrepe as published, in small."""

from pathlib import Path

import pytest

from recompose.tracks.vlc.data.formats import sugarcrepe
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, questions, write_json


def entry(file: str, true: str, false: str) -> dict[str, str]:
    return {"filename": file, "caption": true, "negative_caption": false}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in sugarcrepe.SETS:
        items = {"0": entry("1.jpg", "a red dog", f"a blue dog ({name})"), "7": entry("2.jpg", "a cat ", "a rat")}
        write_json(tmp_path / "sugarcrepe" / f"{name}.json", items)
    return tmp_path


def test_the_true_caption_stands_first_and_keys_may_have_gaps(root: Path) -> None:
    suite = read_suite("sugarcrepe", root)
    assert suite.name == "sugarcrepe"
    assert [*suite.tasks] == [f"sugarcrepe/{name}" for name in sugarcrepe.SETS]
    assert questions(suite, "sugarcrepe/swap_obj") == [
        ("images/coco/val2017/1.jpg", ["a red dog", "a blue dog (swap_obj)"], 0),
        ("images/coco/val2017/2.jpg", ["a cat ", "a rat"], 0),
    ]
    assert len(suite.images) == 2  # each once
    assert len(suite.texts) == 3 + len(sugarcrepe.SETS)


@pytest.mark.parametrize(
    ("broken", "code", "place"),
    [
        ({"filename": "1.jpg", "caption": "a dog"}, "missing-field", "field 'negative_caption'"),
        (entry("1.jpg", "", "a rat"), "empty-text", "field 'caption'"),
        (entry("../1.jpg", "a cat", "a rat"), "outside-folder", "item '5'"),
    ],
)
def test_a_broken_item_is_named(root: Path, broken: dict[str, str], code: str, place: str) -> None:
    path = write_json(root / "sugarcrepe/add_att.json", {"0": entry("1.jpg", "a cat", "a rat"), "5": broken})
    check_refused("sugarcrepe", root, code, f"{path}, item '5'", place)
