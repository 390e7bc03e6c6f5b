"""Formats whose items are put together from several lines, files or folders: EqBen, ImageCoDe and VL-Checklist."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import eqben, vl_checklist
from recompose.tracks.vlc.data.formats.suite_files import Limit
from recompose.tracks.vlc.data.formats.vl_checklist import CAP, MEAN
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import (
    check_refused,
    eqben_group,
    equal,
    items,
    questions,
    touch,
    write_json,
)

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
    assert equal(drawn, again) and not equal(drawn, other)
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
