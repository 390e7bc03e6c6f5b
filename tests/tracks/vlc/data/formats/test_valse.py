"""VALSE's files, written by hand."""

from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.data.formats import valse
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, questions, write_json


def entry(votes: int = 3, image: str = "000000291619.jpg", dataset: str = "coco2017", **fields: Any) -> dict[str, Any]:
    captions = {"caption": "one field", "foil": "many fields"}
    return {"dataset": dataset, "image_file": image, **captions, "mturk": {"caption": votes, "foil": 0}, **fields}


def written(root: Path, **files: dict[str, Any]) -> Path:
    for name in valse.SETS:
        write_json(root / f"valse/{name}.json", files.get(name, {"plurals:1": entry()}))
    return root


def test_a_caption_and_its_foil_where_two_of_three_agree(tmp_path: Path) -> None:
    existence = {
        "a": entry(1, caption="nobody agrees"),
        "b": entry(2, caption="a dog", foil="no dog"),
        "c": entry(3, caption="no dog", foil="a dog", image="2.jpg"),
    }
    suite = read_suite("valse", written(tmp_path, existence=existence))
    assert list(suite.tasks) == [f"valse/{name}" for name in valse.SETS]
    assert questions(suite, "valse/existence") == [
        ("images/coco/val2017/000000291619.jpg", ["a dog", "no dog"], 0),
        ("images/coco/val2017/2.jpg", ["no dog", "a dog"], 0),
    ]
    assert suite.texts == ("a dog", "no dog", "one field", "many fields")


@pytest.mark.parametrize(
    ("dataset", "path"),
    [
        ("coco_2017", "coco/val2017/1.jpg"),
        ("FOIL dataset", "coco/val2014/COCO_val2014_000000165831.jpg"),
        ("SWiG", "swig/exercising_255.jpg"),
        ("visual7w", "visual7w/v7w_1.jpg"),
        ("VisDial_v1.0", "coco/train2014/COCO_train2014_000000254009.jpg"),
        ("VisDial_v1.0", "coco/val2014/COCO_val2014_000000254009.jpg"),
        ("VisDial_v1.0", "visdial/VisualDialog_val2018/VisualDialog_val2018_000000284024.jpg"),
    ],
)
def test_an_image_lies_in_the_folder_of_its_data_set(tmp_path: Path, dataset: str, path: str) -> None:
    plural = entry(dataset=dataset, image=path.rpartition("/")[2])
    suite = read_suite("valse", written(tmp_path, plurals={"a": plural}))
    assert questions(suite, "valse/plurals")[0][0] == f"images/{path}"


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        ({"dataset": "Flickr30k"}, "unknown-name", "plurals.json, item 'a'"),
        ({"dataset": "VisDial_v1.0"}, "unknown-name", "item 'a'"),
        ({"image": "../1.jpg"}, "outside-folder", "item 'a'"),
        ({"mturk": {"foil": 1}}, "missing-field", "item 'a', field 'mturk', field 'caption'"),
        ({"foil": " "}, "empty-text", "item 'a', field 'foil'"),
        ({"votes": 1}, "no-items", "plurals.json"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: dict[str, Any], code: str, place: str) -> None:
    check_refused("valse", written(tmp_path, plurals={"a": entry(**wrong)}), code, place)
