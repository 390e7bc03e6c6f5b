"""Files of retrieval, written by hand."""

import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import coco, coco_counterfactuals, flickr30k
from recompose.tracks.vlc.data.suite import Pool, Suite
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import equal, write_json


def captions(suite: Suite) -> list[tuple[str, list[str]]]:
    """The captions of each image, by its path."""
    task = suite.tasks[suite.name]
    assert isinstance(task, Pool)
    lines = [(int(place), suite.texts[text]) for place, text in zip(task.image_of, task.texts, strict=True)]
    assert lines == sorted(lines, key=lambda line: line[0])
    return [
        (suite.images[image].path, [line for place, line in lines if place == number])
        for number, image in enumerate(task.images)
    ]


def blip(folder: str) -> list[dict[str, Any]]:
    return [
        {"image": f"{folder}/2.jpg", "caption": ["a dog", "a dog runs"]},
        {"image": f"{folder}/1.jpg", "caption": ["a dog", "two cats", " A cat. "]},
    ]


def own(named: bool) -> dict[str, Any]:
    def image(file: str, split: str, *lines: str) -> dict[str, Any]:
        folder = {"filepath": "val2014"} if named else {}
        sentences = [{"raw": line, "tokens": line.split()} for line in lines]
        return {**folder, "filename": file, "split": split, "sentences": sentences}

    lines = [image("2.jpg", "test", "a dog", "a dog runs"), image("3.jpg", "restval", "a horse")]
    return {"images": [*lines, image("1.jpg", "test", "a dog", "two cats", " A cat. ")], "dataset": "coco"}


@pytest.mark.parametrize(("module", "folder"), [(coco, "val2014"), (flickr30k, "flickr30k-images")])
def test_both_forms_of_a_split_of_karpathy_say_the_same(tmp_path: Path, module: ModuleType, folder: str) -> None:
    name = module.__name__.rpartition(".")[2]
    images = f"images/{name}/{folder}"
    write_json(tmp_path / "one" / name / module.FILE, blip(folder))
    write_json(tmp_path / "other" / name / module.ORIGINAL, own(named=name == "coco"))
    suite, other = (read_suite(name, tmp_path / form) for form in ("one", "other"))
    assert captions(suite) == [
        (f"{images}/2.jpg", ["a dog", "a dog runs"]),
        (f"{images}/1.jpg", ["a dog", "two cats", " A cat. "]),
    ]
    assert equal(suite, other)
    assert len(suite.texts) == 4


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        ({"image": "val2014/2.jpg", "caption": ["a"]}, "duplicate-name", "item 3, field 'image'"),
        ({"image": "../3.jpg", "caption": ["a"]}, "outside-folder", "item 3"),
        ({"image": "3.jpg", "caption": []}, "wrong-count", "item 3, field 'caption'"),
        ({"image": "3.jpg", "caption": "a"}, "wrong-kind", "item 3, field 'caption'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: dict[str, Any], code: str, place: str) -> None:
    write_json(tmp_path / "coco" / coco.FILE, [*blip("val2014"), wrong])
    with raises(DataError, code, place):
        read_suite("coco", tmp_path)


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        ({"images": []}, "no-items", "images"),
        ({"images": [{"split": "train"}]}, "no-items", "split 'test'"),
        (
            {"images": [{"split": "test", "filename": "1.jpg", "filepath": "..", "sentences": []}]},
            "outside-folder",
            "item 1",
        ),
        ({"images": [{"split": "test", "filename": "1.jpg", "sentences": []}]}, "no-items", "item 1"),
        ({}, "missing-field", "field 'images'"),
    ],
)
def test_what_is_wrong_in_karpathys_own_form_is_said(
    tmp_path: Path, wrong: dict[str, Any], code: str, place: str
) -> None:
    write_json(tmp_path / "coco" / coco.ORIGINAL, wrong)
    with raises(DataError, code, place):
        read_suite("coco", tmp_path)


def test_an_absent_file_says_what_has_to_be_there(tmp_path: Path) -> None:
    with raises(DataError, "missing-file", "flickr30k_test.json"):
        read_suite("flickr30k", tmp_path)


def pair(number: int, **fields: Any) -> dict[str, Any]:
    images = {f"image_{side}": f"{number}_img_{side}" for side in (0, 1)}
    return {"id": f"{number}", **images, "caption_0": "a dog runs", "caption_1": f"{number} cats run", **fields}


def write_pairs(root: Path, *pairs: dict[str, Any]) -> Path:
    (root / "coco_counterfactuals").mkdir()
    (root / "coco_counterfactuals/examples.jsonl").write_text("\n".join(map(json.dumps, pairs)))
    return root


def test_a_pair_of_counterfactuals_is_two_images_with_a_caption_each(tmp_path: Path) -> None:
    suite = read_suite("coco_counterfactuals", write_pairs(tmp_path, pair(5), pair(3)))
    folder = "images/coco_counterfactuals"
    assert captions(suite) == [
        (f"{folder}/5_img_0.jpg", ["a dog runs"]),
        (f"{folder}/5_img_1.jpg", ["5 cats run"]),
        (f"{folder}/3_img_0.jpg", ["a dog runs"]),
        (f"{folder}/3_img_1.jpg", ["3 cats run"]),
    ]


def test_of_all_pairs_as_many_are_drawn_as_papers_take() -> None:
    places = coco_counterfactuals.pair_sample(17_410)
    assert len(places) == len(set(places)) == 5_223
    assert places == sorted(places) == coco_counterfactuals.pair_sample(17_410)
    assert 0 <= places[0] < places[-1] < 17_410
    assert abs(sum(places) / len(places) - 17_409 / 2) < 300  # five standard deviations of their mean
    assert coco_counterfactuals.pair_sample(7) == [*range(7)]


def test_what_is_wrong_with_pairs_is_said(tmp_path: Path) -> None:
    with raises(DataError, "duplicate-name", "examples.jsonl, line 2, field 'id'"):
        read_suite("coco_counterfactuals", write_pairs(tmp_path, pair(5), pair(5)))
