"""SugarCrepe++ as published, in small."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import sugarcrepe_pp
from recompose.tracks.vlc.data.suite import Triplets
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import write_json


def entry(number: int, **fields: Any) -> dict[str, Any]:
    captions = {"caption": "a red dog", "caption2": f"{number} dogs, red", "negative_caption": "a blue dog"}
    return {"id": number, "filename": f"{number:012d}.jpg", **captions, **fields}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name in sugarcrepe_pp.SETS:
        write_json(tmp_path / "sugarcrepe_pp" / f"{name}.json", [entry(0), entry(1, negative_caption="a red dog")])
    return tmp_path


def test_the_false_caption_is_last_and_may_equal_a_true_one(root: Path) -> None:
    suite = read_suite("sugarcrepe_pp", root)
    assert [*suite.tasks] == [f"sugarcrepe_pp/{name}" for name in sugarcrepe_pp.SETS]
    task = suite.tasks["sugarcrepe_pp/swap_obj"]
    assert isinstance(task, Triplets)
    assert [suite.images[image].path for image in task.images] == [
        f"images/coco/val2017/{number:012d}.jpg" for number in (0, 1)
    ]
    assert [[suite.texts[text] for text in texts] for texts in task.texts] == [
        ["a red dog", "0 dogs, red", "a blue dog"],
        ["a red dog", "1 dogs, red", "a red dog"],
    ]
    assert len(suite.texts) == 4  # each once


@pytest.mark.parametrize(
    ("broken", "code", "place"),
    [
        (entry(1, caption2=""), "empty-text", "field 'caption2'"),
        (entry(0), "duplicate-name", "field 'id'"),
        (entry(1, filename="../1.jpg"), "outside-folder", "item 2"),
    ],
)
def test_a_broken_item_is_named(root: Path, broken: dict[str, Any], code: str, place: str) -> None:
    path = write_json(root / "sugarcrepe_pp/swap_att.json", [entry(0), broken])
    with raises(DataError, code, f"{path}, item 2") as error:
        read_suite("sugarcrepe_pp", root)
    assert str(error.value.place).endswith(place)
