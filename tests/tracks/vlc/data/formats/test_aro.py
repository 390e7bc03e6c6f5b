"""ARO as published, in small."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.harness.survey import survey
from recompose.tracks.vlc.data.suite import Choices, Suite
from recompose.tracks.vlc.data.suites_on_disk import read_suite
from recompose.tracks.vlc.suites.metric_values import metrics
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, write_json


def cut(**more: Any) -> dict[str, Any]:
    """An item of Visual Genome, with fields that nobody reads, as the published files have."""
    return {
        "image_id": "2353", "image_path": "2353.jpg", "bbox_x": 3, "bbox_y": 0, "bbox_w": 20, "bbox_h": 30,
        "true_caption": "the dog is on the bed", "false_caption": "the bed is on the dog", **more,
    }  # fmt: skip


RELATIONS = [cut(relation_name="on"), cut(relation_name="to the left of", bbox_x=5), cut(relation_name="on")]
ATTRIBUTIONS = [cut(attributes=["crouched", "open"])]
ORDERS = [
    {"image": "val2014/7.jpg", "caption_options": ["a dog on a bed", "a bed on a dog", "b", "c", "a dog on a bed"]}
]
FLICKR = [{"image": "flickr30k-images/7.jpg", "caption_options": ["1", "2", "3", "4", "5"]}]
FILES = {
    "visual_genome_relation": RELATIONS,
    "visual_genome_attribution": ATTRIBUTIONS,
    "coco_order": ORDERS,
    "flickr30k_order": FLICKR,
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, items in FILES.items():
        write_json(tmp_path / "aro" / f"{name}.json", items)
    return tmp_path


def groups(root: Path, name: str) -> tuple[str, ...] | None:
    task = read_suite("aro", root).tasks[name]
    assert isinstance(task, Choices)
    return task.groups


def choices(suite: Suite) -> dict[str, Choices]:
    return {name: task for name, task in suite.tasks.items() if isinstance(task, Choices)}


def test_relations_are_asked_of_boxes_with_the_true_caption_last(root: Path) -> None:
    captions = ["the bed is on the dog", "the dog is on the bed"]
    first, second = (("images/vg/2353.jpg", (left, 0, left + 20, 30)) for left in (3, 5))
    suite = read_suite("aro", root)
    assert questions(suite, "aro/vg_relation") == [(first, captions, 1), (second, captions, 1), (first, captions, 1)]
    assert questions(suite, "aro/vg_attribution") == [(first, captions, 1)]
    assert len(suite.images) == 4


def test_groups_are_relations_and_pairs_of_attributes_in_their_order(root: Path) -> None:
    assert groups(root, "aro/vg_relation") == ("on", "to the left of", "on")
    assert groups(root, "aro/vg_attribution") == ("crouched_open",)
    assert groups(root, "aro/coco_order") is None


def test_the_true_order_stands_first_and_a_shuffled_one_may_equal_it(root: Path) -> None:
    suite = read_suite("aro", root)
    assert questions(suite, "aro/coco_order") == [("images/coco/val2014/7.jpg", ORDERS[0]["caption_options"], 0)]
    (flickr,) = questions(suite, "aro/flickr30k_order")
    assert flickr == ("images/flickr30k/flickr30k-images/7.jpg", ["1", "2", "3", "4", "5"], 0)


def test_each_part_is_read_where_its_file_is_there(root: Path) -> None:
    for name in ("coco_order", "flickr30k_order"):
        (root / f"aro/{name}.json").unlink()
    assert [*read_suite("aro", root).tasks] == ["aro/vg_relation", "aro/vg_attribution"]
    write_json(root / "aro/visual_genome_attribution.json", ATTRIBUTIONS * 25)  # of smaller groups there is no number
    surveyed = survey("aro", root, with_images=False)
    assert surveyed.state == "partial" and surveyed.suite
    assert "without aro/flickr30k_order, aro/coco_order and means" in surveyed.finding
    scores = {name: np.array([[0.1, 0.2]] * len(task.true)) for name, task in choices(surveyed.suite).items()}
    numbers = metrics([surveyed.suite], scores)
    assert numbers["test/aro/vg_relation"] == 1 and not {"test/aro", "test/comp"} & {*numbers}
    for name in ("visual_genome_relation", "visual_genome_attribution"):
        (root / f"aro/{name}.json").unlink()
    with raises(DataError, "missing-file", "visual_genome_relation.json"):
        read_suite("aro", root)


@pytest.mark.parametrize(
    ("name", "item", "code", "place"),
    [
        ("visual_genome_relation", cut(), "missing-field", "field 'relation_name'"),
        ("visual_genome_relation", cut(relation_name="on", bbox_w=0), "empty-box", ""),
        ("visual_genome_relation", cut(relation_name="on", bbox_y=None), "no-number", "field 'bbox_y'"),
        ("visual_genome_relation", cut(relation_name="on", image_path="../../a.jpg"), "outside-folder", ""),
        ("visual_genome_attribution", cut(attributes=["open"]), "wrong-count", "field 'attributes'"),
        ("coco_order", {"image": "7.jpg", "caption_options": ["a", "b"]}, "wrong-count", "field 'caption_options'"),
        ("flickr30k_order", {"image": "7.jpg", "caption_options": [*"abcd", ""]}, "empty-text", "entry 5"),
    ],
)
def test_a_broken_item_is_named(root: Path, name: str, item: dict[str, Any], code: str, place: str) -> None:
    path = write_json(root / "aro" / f"{name}.json", [*FILES[name], item])
    with raises(DataError, code, f"{path}, item {len(FILES[name]) + 1}") as error:
        read_suite("aro", root)
    assert str(error.value.place).endswith(place)
