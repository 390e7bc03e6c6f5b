"""WhatsUp's files as published, in small: paths that start with ``data``, and ids as numbers or texts."""

import json
from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, questions, write_json

PLACES = ("on", "under", "to the left of", "to the right of")
MUG = [f"A mug {place} a table" for place in PLACES]
FILES: dict[str, list[Any]] = {
    "controlled_images_dataset": [
        {
            "image_path": f"data/controlled_images/beer-bottle_{place.replace(' ', '-')}_table.jpeg",
            "caption_options": [f"A beer bottle {one} a table" for one in sorted(PLACES, key=place.__ne__)],
        }
        for place in PLACES
    ],
    "controlled_clevr_dataset": [
        {"image_path": "data/controlled_clevr/mug_in-front_of_plate.jpeg", "caption_options": MUG}
    ],
    "coco_qa_one_obj": [
        [397133, "A photo of a cup on the left", "A photo of a cup on the right"],
        [139, "A photo of a potted plant on the top", "A photo of a potted plant on the bottom"],
    ],
    "coco_qa_two_obj": [["139", "A cup above a plate", "A cup below a plate"]],
    "vg_qa_one_obj": [["2354786", "A photo of a cup on the top", "A photo of a cup on the bottom"]],
    "vg_qa_two_obj": [
        ["n161313", "A cup in front of a plate", "A cup behind a plate"],
        [2354786, "A cup on top of a plate", "A cup under a plate"],
    ],
}


def written(root: Path, **files: list[Any]) -> Path:
    for name, items in {**FILES, **files}.items():
        write_json(root / f"whatsup/{name}.json", items)
    return root


def published(root: Path, file: str) -> list[Any]:
    return json.loads((root / f"whatsup/{file}.json").read_text(encoding="utf-8"))


def test_the_true_caption_stands_first(tmp_path: Path) -> None:
    suite = read_suite("whatsup", written(tmp_path))
    for name, file in (("a", "controlled_images_dataset"), ("b", "controlled_clevr_dataset")):
        assert questions(suite, f"whatsup/{name}") == [
            (item["image_path"].replace("data", "images/whatsup", 1), item["caption_options"], 0)
            for item in published(tmp_path, file)
        ]
    for number in ("one", "two"):
        assert questions(suite, f"whatsup/coco_qa_{number}") == [
            (f"images/coco/val2017/{str(item[0]).zfill(12)}.jpg", item[1:], 0)
            for item in published(tmp_path, f"coco_qa_{number}_obj")
        ]
        assert questions(suite, f"whatsup/vg_qa_{number}") == [
            (f"images/vg/{item[0]}.jpg", item[1:], 0) for item in published(tmp_path, f"vg_qa_{number}_obj")
        ]


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
    check_refused("whatsup", written(tmp_path, **{file: [wrong]}), code, place)
