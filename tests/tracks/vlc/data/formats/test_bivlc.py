"""BiVLC's rows, written by hand."""

import json
from pathlib import Path

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Groups
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises


def row(number: int, kind: str, **fields: str) -> dict[str, str]:
    images = {"image": f"{number}.jpg", "negative_image": f"{number}_negative.jpg"}
    captions = {"caption": f"{number} dogs.", "negative_caption": f"{number} cats."}
    return {**images, **captions, "type": kind, "subtype": "obj", **fields}


def written(root: Path, *rows: dict[str, str]) -> Path:
    (root / "bivlc").mkdir()
    (root / "bivlc/test.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return root


def test_rows_of_a_type_are_a_task_of_groups(tmp_path: Path) -> None:
    rows = (row(1, "add"), row(2, "replace"), row(3, "swap"), row(4, "add", negative_caption="1 dogs."))
    suite = read_suite("bivlc", written(tmp_path, *rows))
    assert [*suite.tasks] == ["bivlc/replace", "bivlc/swap", "bivlc/add"]
    task = suite.tasks["bivlc/add"]
    assert isinstance(task, Groups)
    assert [[suite.images[image].path for image in pair] for pair in task.images] == [
        [f"images/bivlc/{number}{end}.jpg" for end in ("", "_negative")] for number in (1, 4)
    ]
    assert [[suite.texts[text] for text in pair] for pair in task.texts] == [
        ["1 dogs.", "1 cats."],
        ["4 dogs.", "1 dogs."],
    ]


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        (row(4, "delete"), "unknown-name", "field 'type'"),
        (row(4, "add", negative_image="../4.jpg"), "outside-folder", "line 2"),
        (row(4, "add", caption=" "), "empty-text", "field 'caption'"),
    ],
)
def test_a_broken_row_is_named(tmp_path: Path, wrong: dict[str, str], code: str, place: str) -> None:
    with raises(DataError, code, "test.jsonl, line 2") as error:
        read_suite("bivlc", written(tmp_path, row(3, "add"), wrong))
    assert str(error.value.place).endswith(place)
