"""ELEVATER's files, written by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from recompose.tracks.vlc.suites.tasks import Classes
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import equal, write_json

PROMPTS: dict[str, dict[str, Any]] = {
    "class_map": {
        "caltech-101": ["wild cat", ["anchor", "hook"], "bass"],
        "voc-2007-classification": ["cat", "dog"],
        "kitti-distance": ["a car", "no car"],
    },
    "template_map": {
        "caltech-101": ["a photo of a {}.", "{}"],
        "voc-2007-classification": ["a {}"],
        "kitti-distance": ["a photo i took of {}."],
    },
}
PYTHON = """
'''Prompts.'''
caltech101_classes = ['wild cat', ['anchor', 'hook'], 'bass']
caltech101_templates = ['a photo of a {}.', '{}']
voc_classes = ["cat", "dog"]
class_map = {
    'caltech-101': caltech101_classes,
    'voc-2007-classification': voc_classes,
    'kitti-distance': kitti_classes,
}
template_map = {'caltech-101': caltech101_templates, 'voc-2007-classification': voc_t, 'kitti-distance': kitti_t}
"""


def entry(name: str, index: str = "test.txt", kind: str = "multiclass", **fields: Any) -> dict[str, Any]:
    test = {"index_path": index, "files_for_local_usage": ["test.zip"], "num_images": 3}
    folder = f"classification/{name}"
    return {"name": name, "type": f"classification_{kind}", "root_folder": folder, "test": test, **fields}


REGISTRY = [
    entry("caltech-101"),
    entry("voc-2007-classification", "test_ic.txt", "multilabel"),
    entry("kitti-distance", "test_meta.json", format="coco"),
    entry("unheard-of"),
]
COCO: dict[str, list[dict[str, Any]]] = {
    "images": [
        {"id": 9, "file_name": "a/9.png", "zip_file": "test_images.zip"},
        {"id": 2, "file_name": "loose.png"},
    ],
    "annotations": [{"image_id": 2, "category_id": 7}, {"image_id": 9, "category_id": 4}],
    "categories": [{"id": 7, "name": "no car"}, {"id": 4, "name": "a car"}],
}


def write_elevater(root: Path, lines: str = "", many: str = "", coco: Any = None, prompts: Any = PROMPTS) -> Path:
    write_json(root / "elevater/elevater_prompts.json", prompts)
    write_json(root / "elevater/vision_datasets.json", REGISTRY)
    folder = root / "elevater/classification"
    for name, text in {"caltech-101/test.txt": lines, "voc-2007-classification/test_ic.txt": many}.items():
        if text:
            (folder / name).parent.mkdir(parents=True)
            (folder / name).write_text(text)
    if coco is not None:
        write_json(folder / "kitti-distance/test_meta.json", coco)
    return root


def classes(suite: Suite, name: str) -> tuple[Classes, list[str], list[list[str]]]:
    """A set, the paths of its images and the prompts of its classes."""
    task = suite.tasks[name]
    assert isinstance(task, Classes)
    prompts = [[suite.texts[number] for number in numbers] for numbers in task.prompts]
    return task, [suite.images[number].path for number in task.images], prompts


def test_an_index_of_lines(tmp_path: Path) -> None:
    """A name may hold blanks; of several names of a class the first is taken."""
    suite = read_suite(
        "elevater", write_elevater(tmp_path, "test.zip@0/1.jpg 2\r\ntest.zip@a b/2.jpg 0\n\nloose.jpg 1\n")
    )
    assert list(suite.tasks) == ["elevater/caltech101"]
    task, paths, prompts = classes(suite, "elevater/caltech101")
    folder = "images/elevater/classification/caltech-101"
    assert paths == [f"{folder}/test/0/1.jpg", f"{folder}/test/a b/2.jpg", f"{folder}/loose.jpg"]
    assert task.labels.tolist() == [2, 0, 1]
    assert task.names == ("wild cat", "anchor", "bass")
    assert prompts == [[f"a photo of a {name}.", name] for name in task.names]
    assert not any(image.squeezed for image in suite.images)


def test_images_of_several_classes(tmp_path: Path) -> None:
    suite = read_suite("elevater", write_elevater(tmp_path, many="test.zip@1.jpg 0,1\ntest.zip@2.jpg 1\n"))
    task, _, prompts = classes(suite, "elevater/voc2007classification")
    assert task.labels.dtype == bool
    assert np.array_equal(task.labels, [[True, True], [False, True]])
    assert prompts == [["a cat"], ["a dog"]]


def test_an_index_as_coco_has_it(tmp_path: Path) -> None:
    """Images stand in the order of their ids, and a label is the place of its category among the ids of categories.

    Of this set the whole image is shown.
    """
    suite = read_suite("elevater", write_elevater(tmp_path, coco=COCO))
    task, paths, _ = classes(suite, "elevater/kitti-distance")
    folder = "images/elevater/classification/kitti-distance"
    assert paths == [f"{folder}/loose.png", f"{folder}/test_images/a/9.png"]
    assert task.labels.tolist() == [1, 0]
    assert all(image.squeezed for image in suite.images)


def test_prompts_are_read_from_the_published_python_file_without_running_it(tmp_path: Path) -> None:
    rest = "kitti_classes = ['a car', 'no car']\nkitti_t = ['a photo i took of {}.']\nvoc_t = ['a {}']\n"
    ours = read_suite("elevater", write_elevater(tmp_path / "json", "1.jpg 0", "1.jpg 0", COCO))
    root = write_elevater(tmp_path / "python", "1.jpg 0", "1.jpg 0", COCO)
    (root / "elevater/elevater_prompts.json").unlink()
    (root / "elevater/prompts.py").write_text(rest + PYTHON)
    assert equal(read_suite("elevater", root), ours)


HOSTILE = PROMPTS | {"template_map": {"caltech-101": ["{0.__class__}"]}}


@pytest.mark.parametrize(
    ("files", "code", "place"),
    [
        ({"lines": "1.jpg 3"}, "wrong-number", "test.txt, line 1, entry 1"),
        ({"coco": COCO | {"annotations": COCO["annotations"][:1]}}, "wrong-count", "images, item 1"),
        ({"lines": "1.jpg 0", "prompts": HOSTILE}, "wrong-template", "field 'template_map', field 'caltech-101'"),
    ],
)
def test_a_broken_file_is_named(tmp_path: Path, files: dict[str, Any], code: str, place: str) -> None:
    with raises(DataError, code, place):
        read_suite("elevater", write_elevater(tmp_path, **files))
