"""WhatsUp's files, written by hand."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_json

MUG = [f"A mug {place} a table" for place in ("on", "under", "to the left of", "to the right of")]
FILES: dict[str, list[Any]] = {
    "controlled_images_dataset": [{"image_path": "data/controlled_images/mug_on_table.jpeg", "caption_options": MUG}],
    "controlled_clevr_dataset": [{"image_path": "data/controlled_clevr/mug_on_table.jpeg", "caption_options": MUG}],
    "coco_qa_one_obj": [[397133, "A photo of a cup on the left", "A photo of a cup on the right"]],
    "coco_qa_two_obj": [["139", "A cup above a plate", "A cup below a plate"]],
    "vg_qa_one_obj": [["2354786", "A photo of a cup on the top", "A photo of a cup on the bottom"]],
    "vg_qa_two_obj": [["n161313", "A cup in front of a plate", "A cup behind a plate"]],
}


def written(root: Path, **files: list[Any]) -> Path:
    for name, items in {**FILES, **files}.items():
        write_json(root / f"whatsup/{name}.json", items)
    return root


def test_the_true_caption_stands_first(tmp_path: Path) -> None:
    suite = read_suite("whatsup", written(tmp_path))
    assert {name: questions(suite, name) for name in suite.tasks} == {
        "whatsup/a": [("images/whatsup/controlled_images/mug_on_table.jpeg", MUG, 0)],
        "whatsup/b": [("images/whatsup/controlled_clevr/mug_on_table.jpeg", MUG, 0)],
        "whatsup/coco_qa_one": [("images/coco/val2017/000000397133.jpg", FILES["coco_qa_one_obj"][0][1:], 0)],
        "whatsup/coco_qa_two": [("images/coco/val2017/000000000139.jpg", FILES["coco_qa_two_obj"][0][1:], 0)],
        "whatsup/vg_qa_one": [("images/vg/2354786.jpg", FILES["vg_qa_one_obj"][0][1:], 0)],
        "whatsup/vg_qa_two": [("images/vg/n161313.jpg", FILES["vg_qa_two_obj"][0][1:], 0)],
    }


@pytest.mark.parametrize(
    ("file", "wrong", "code", "place"),
    [
        (
            "controlled_images_dataset",
            {"image_path": "../mug.jpeg", "caption_options": MUG},
            "outside-folder",
            "item 1",
        ),
        (
            "controlled_images_dataset",
            {"image_path": "mug.jpeg", "caption_options": MUG[:3]},
            "wrong-count",
            "item 1, field 'caption_options'",
        ),
        ("coco_qa_one_obj", [-1, "a", "b"], "wrong-number", "coco_qa_one_obj.json, item 1, entry 1"),
        ("vg_qa_one_obj", ["../1", "a", "b"], "outside-folder", "item 1"),
        ("vg_qa_two_obj", ["1", "a"], "missing-field", "item 1, entry 3"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, file: str, wrong: Any, code: str, place: str) -> None:
    with raises(DataError, code, place):
        read_suite("whatsup", written(tmp_path, **{file: [wrong]}))
