"""ColorSwap's file, written by hand."""

from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, groups, write_json


def entry(number: int, **fields: Any) -> dict[str, Any]:
    captions = {"caption_1": f"a red cube and {number} blue balls", "caption_2": f"a blue cube and {number} red balls"}
    images = {f"image_{side}": f"images/img_{number}_{side}.png" for side in (1, 2)}
    return {"id": number, **captions, **images, "image_source": "midjourney", **fields}


def test_image_and_caption_of_one_number_go_together(tmp_path: Path) -> None:
    write_json(tmp_path / "colorswap/test.json", [entry(9), entry(11)])
    suite = read_suite("colorswap", tmp_path)
    assert groups(suite, "colorswap") == [
        (
            [f"images/colorswap/images/img_{number}_{side}.png" for side in (1, 2)],
            [f"a red cube and {number} blue balls", f"a blue cube and {number} red balls"],
        )
        for number in (9, 11)
    ]


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        (entry(9), "duplicate-name", "test.json, item 2, field 'id'"),
        (entry(4, image_2="/img.png"), "outside-folder", "item 2"),
        ({"id": 4, "caption_1": "a", "caption_2": "b"}, "missing-field", "item 2, field 'image_1'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: dict[str, Any], code: str, place: str) -> None:
    write_json(tmp_path / "colorswap/test.json", [entry(9), wrong])
    check_refused("colorswap", tmp_path, code, place)
