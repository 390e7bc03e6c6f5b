"""Winoground's file as first published: lines with every field, of which some are blank."""

import json
from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, groups


def entry(number: int, **fields: Any) -> dict[str, Any]:
    captions = {"caption_0": f"{number} dogs and a cat", "caption_1": f"a cat and {number} dogs"}
    images = {f"image_{side}": f"ex_{number}_img_{side}" for side in (0, 1)}
    tags = {"tag": "Noun", "secondary_tag": "", "num_main_preds": 1, "collapsed_tag": "Object"}
    return {"id": number, **images, **captions, **tags, **fields}


def written(root: Path, *items: dict[str, Any]) -> Path:
    (root / "winoground").mkdir()
    (root / "winoground/examples.jsonl").write_text("".join(f"{json.dumps(item)}\n" for item in items))
    return root


def test_image_and_caption_of_one_number_go_together(tmp_path: Path) -> None:
    suite = read_suite("winoground", written(tmp_path, entry(0), entry(7, caption_1="a café and 7 dogs ")))
    assert groups(suite, "winoground") == [
        ([f"images/winoground/ex_0_img_{side}.png" for side in (0, 1)], ["0 dogs and a cat", "a cat and 0 dogs"]),
        ([f"images/winoground/ex_7_img_{side}.png" for side in (0, 1)], ["7 dogs and a cat", "a café and 7 dogs "]),
    ]


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        (entry(3), "duplicate-name", "examples.jsonl, line 2, field 'id'"),
        (entry(4, image_1="../ex"), "outside-folder", "line 2"),
        (entry(4, caption_1=""), "empty-text", "line 2, field 'caption_1'"),
        ({"id": 4}, "missing-field", "line 2, field 'image_0'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: dict[str, Any], code: str, place: str) -> None:
    check_refused("winoground", written(tmp_path, entry(3), wrong), code, place)
