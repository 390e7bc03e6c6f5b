"""Formats whose items are joined from several lines, files or folders: EqBen, ImageCoDe, VL-Checklist, ELEVATER."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import eqben, vl_checklist
from recompose.tracks.vlc.data.formats.suite_files import Limit
from recompose.tracks.vlc.data.formats.vl_checklist import CAP, MEAN
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from recompose.tracks.vlc.suites.tasks import Classes
from tests.errors import raises
from tests.tracks.loops import assert_same
from tests.tracks.vlc.data.formats.published import check_refused, eqben_group, items, questions, touch, write_json

# EqBen


def eqben_rows() -> list[dict[str, Any]]:
    names = [name for name in eqben.SETS if name != "youcook2"]
    rows = [row for number, name in enumerate(names) for row in eqben_group(name, number)]
    return rows + eqben_group("ag", 12) + eqben_group("ag", 9) + eqben_group("youcook2", 5, ("0.npy", "1.npy"))


def write_eqben(root: Path, rows: list[dict[str, Any]]) -> Path:
    return write_json(root / "eqben/ann_json_finegrained_random.json", rows)


def test_groups_are_put_together_in_the_order_of_their_numbers_whatever_that_of_lines(tmp_path: Path) -> None:
    for rows in (eqben_rows(), eqben_rows()[::-1]):
        write_eqben(tmp_path, rows)
        suite = read_suite("eqben", tmp_path)
        assert items(suite, "eqben/ag") == [
            (
                [f"images/eqben/eqbenag/v{number}/{side}.png" for side in (0, 1)],
                [f"caption {side} of ag {number}" for side in (0, 1)],
            )
            for number in (1, 9, 12)
        ]
        assert items(suite, "eqben/youcook2")[0][0] == [f"images/eqben/eqbenyoucook2/v5/{side}.npy" for side in (0, 1)]


def test_a_limit_takes_the_first_groups_of_each_set_or_draws_them(tmp_path: Path) -> None:
    write_eqben(tmp_path, eqben_rows() + [row for number in range(20, 50) for row in eqben_group("ag", number)])
    whole = items(read_suite("eqben", tmp_path), "eqben/ag")
    first, drawn, again, other = (read_suite("eqben", tmp_path, limit=Limit(5, seed)) for seed in (None, 0, 0, 1))
    assert items(first, "eqben/ag") == whole[:5]
    assert_same(drawn, again)
    assert items(drawn, "eqben/ag") != items(other, "eqben/ag")
    places = [whole.index(item) for item in items(drawn, "eqben/ag")]
    assert len(places) == 5 and places == sorted(places) != [*range(5)]
    shown = {image for images, _ in whole[:5] for image in images}
    assert {picture.path for picture in first.images if "eqbenag" in picture.path} == shown  # no other is asked for


def changed(place: int, **fields: Any) -> list[dict[str, Any]]:
    rows = eqben_rows()
    rows[place] = rows[place] | fields | {"private_info": rows[place]["private_info"] | fields.get("private_info", {})}
    return rows


@pytest.mark.parametrize(
    ("rows", "code", "place"),
    [
        (eqben_rows()[1:], "incomplete-group", "item 1"),
        (changed(2, private_info={"name": "c0i2"}), "unknown-name", "item 3"),
        (changed(2, caption="another"), "incomplete-group", "item 1"),
    ],
)
def test_a_broken_group_is_named(tmp_path: Path, rows: list[dict[str, Any]], code: str, place: str) -> None:
    check_refused("eqben", tmp_path, code, write_eqben(tmp_path, rows), place)


def test_jpegs_of_the_light_archive_replace_absent_images(tmp_path: Path) -> None:
    write_eqben(tmp_path, eqben_rows())
    touch(*(tmp_path / f"images/eqben/eqben{name}" for name in ("gebc/v0/0.jpg", "ag/v1/0.jpg", "ag/v1/0.png")))
    suite = read_suite("eqben", tmp_path)
    assert items(suite, "eqben/gebc")[0][0] == [f"images/eqben/eqbengebc/v0/{name}" for name in ("0.jpg", "1.png")]
    assert items(suite, "eqben/ag")[0][0][0] == "images/eqben/eqbenag/v1/0.png"


# ImageCoDe

VIDEO, STATIC = "MSR-VTT-video7-shot1_0", "open-images-7_f91d"
FRAMES = (0, 3, 7, 10, 21, 33, 100, 101, 109, 200)  # as texts they sort otherwise


def frames(name: str, numbers: Sequence[int] = FRAMES) -> list[str]:
    return [f"images/imagecode/{name}/img{number}.jpg" for number in numbers]


@pytest.fixture
def imagecode(tmp_path: Path) -> Path:
    descriptions = {VIDEO: {"9": " A girl in blue. ", "2": "Two girls."}, STATIC: {"0": "A deer head"}}
    write_json(tmp_path / "imagecode/valid_data.json", descriptions)
    others = (f"images/imagecode/{VIDEO}/{name}" for name in (".DS_Store", "._img3.jpg", "list.txt"))
    touch(*(tmp_path / path for path in (*frames(VIDEO, FRAMES[::-1]), *frames(STATIC, range(10)), *others)))
    return tmp_path


def test_numbers_are_places_among_images_in_the_order_of_frames(imagecode: Path) -> None:
    suite = read_suite("imagecode", imagecode)
    assert questions(suite, "imagecode/video") == [
        ("A girl in blue.", frames(VIDEO), 9),
        ("Two girls.", frames(VIDEO), 2),
    ]
    assert questions(suite, "imagecode/static") == [("A deer head", frames(STATIC, range(10)), 0)]


def test_ten_images_have_to_be_there(imagecode: Path) -> None:
    folder = imagecode / "images/imagecode" / VIDEO
    (folder / "img3.jpg").unlink()
    check_refused("imagecode", imagecode, "missing-image", folder)
    touch(folder / "imgx.jpg")
    check_refused("imagecode", imagecode, "missing-image", folder)


@pytest.mark.parametrize(
    ("document", "code", "place"),
    [
        ({STATIC: {"0": "a deer"}}, "no-items", "video"),
        ({VIDEO: {"03": "a dog"}}, "wrong-number", f"item '{VIDEO}'"),
        ({"../x": {"3": "a dog"}}, "outside-folder", "item '../x'"),
    ],
)
def test_broken_descriptions_are_named(imagecode: Path, document: Any, code: str, place: str) -> None:
    path = write_json(imagecode / "imagecode/valid_data.json", document)
    check_refused("imagecode", imagecode, code, path, place)


# VL-Checklist


def pair(image: str, true: str = "a lying knife", false: str = "a jumping knife") -> list[Any]:
    return [image, {"POS": [true, "b"], "NEG": [false, "e"]}]


def write_checklist(root: Path, **files: list[Any]) -> Suite:
    for leaf in MEAN.leaves:
        write_json(
            root / "vl_checklist/data" / vl_checklist.file_of(leaf.removeprefix("vl_checklist/")), [pair("1.jpg")]
        )
    for name, content in files.items():
        write_json(root / "vl_checklist/data" / f"{name.replace('__', '/')}.json", content)
    touch(root / "images/hake/1.jpg")
    return read_suite("vl_checklist", root)


def test_first_captions_are_read_with_images_in_the_folders_of_their_corpora(tmp_path: Path) -> None:
    """Both parts of Visual Genome in one folder."""
    hake = "hico_20160224_det/images/train2015/1.jpg"
    touch(tmp_path / "images/hake" / hake)
    suite = write_checklist(
        tmp_path,
        Object__Location__swig_location__swig_tool__swig_tool_mid=[pair("dialing_8.jpg", "a man", "a cat")],
        Attribute__vaw__size=[pair("VG_100K/1.jpg"), pair("VG_100K_2/2.jpg")],
        Relation__hake_action=[pair(hake)],
    )
    leaves = {"object_location_mid/swig_tool": ["swig/dialing_8.jpg"], "attribute_size/vaw": ["vg/1.jpg", "vg/2.jpg"]}
    for leaf, images in (leaves | {"relation_action/hake": [f"hake/{hake}"]}).items():
        assert [image for image, _, _ in questions(suite, f"vl_checklist/{leaf}")] == [
            f"images/{one}" for one in images
        ]
    assert questions(suite, "vl_checklist/object_location_mid/swig_tool")[0][1:] == (["a man", "a cat"], 0)


def test_items_without_an_image_of_hake_are_left_out_before_the_first_of_a_set_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    knives = [pair("gone.jpg"), *(pair("1.jpg", f"knife {number}") for number in range(CAP + 2))]
    suite = write_checklist(tmp_path, Relation__hake_action=knives)
    for leaf, count in (("relation_action/hake", CAP), ("all/relation_action/hake", CAP + 2)):
        task = questions(suite, f"vl_checklist/{leaf}")
        assert [captions[0] for _, captions, _ in task] == [f"knife {number}" for number in range(count)]
    assert "left out without an image: 1 of 1003 relation_action/hake\n" in capsys.readouterr().err
    (tmp_path / "images/hake/1.jpg").unlink()
    with raises(DataError, "missing-image", tmp_path / "images/hake"):
        read_suite("vl_checklist", tmp_path)


# ELEVATER


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
    "images": [{"id": 9, "file_name": "a/9.png", "zip_file": "test_images.zip"}, {"id": 2, "file_name": "loose.png"}],
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
    assert_same(read_suite("elevater", root), ours)


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
