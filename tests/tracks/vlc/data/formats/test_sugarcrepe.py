"""SugarCrepe as published, in small."""

from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import sugarcrepe
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import questions, write_json


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
    ("broken", "fault"),
    [
        ({"filename": "1.jpg", "caption": "a dog"}, "there is no field 'negative_caption'"),
        (entry("1.jpg", "", "a rat"), "field 'caption' is empty"),
        (entry("../1.jpg", "a cat", "a rat"), "lies outside of its folder images/coco/val2017"),
    ],
)
def test_a_broken_item_is_named(root: Path, broken: dict[str, str], fault: str) -> None:
    path = write_json(root / "sugarcrepe/add_att.json", {"0": entry("1.jpg", "a cat", "a rat"), "5": broken})
    with pytest.raises(DataError, match=f"{path}, item '5': .*{fault}"):
        read_suite("sugarcrepe", root)


def test_a_file_that_is_absent_is_asked_for(root: Path) -> None:
    (root / "sugarcrepe/swap_att.json").unlink()
    with pytest.raises(DataError, match=r"swap_att.json is absent; required files: .*sugar-crepe"):
        read_suite("sugarcrepe", root)
