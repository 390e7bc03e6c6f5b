"""VL-Checklist's files, written by hand."""

from pathlib import Path
from typing import Any

import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.formats import vl_checklist
from recompose.tracks.vlc.data.formats.vl_checklist import CAP, MEAN, MEAN_OF_ALL
from recompose.tracks.vlc.suites.catalogue import read_suite
from tests.errors import raises
from tests.tracks.vlc.data.formats.published import questions, touch, write_json

LEAVES = [leaf.removeprefix("vl_checklist/") for leaf in MEAN.leaves]


def entry(image: str, true: str = "a lying knife", false: str = "a jumping knife") -> list[Any]:
    return [image, {"POS": [true], "NEG": [false]}]


def written(root: Path, **files: list[Any]) -> Path:
    for leaf in LEAVES:
        write_json(root / "vl_checklist/data" / vl_checklist.file_of(leaf), [entry("1.jpg")])
    for name, items in files.items():
        write_json(root / "vl_checklist/data" / f"{name.replace('__', '/')}.json", items)
    touch(root / "images/hake/1.jpg")
    return root


@pytest.mark.parametrize(
    ("leaf", "file"),
    [
        ("object_location_center/hake", "Object/Location/hake_location/hake_obj_center.json"),
        ("object_location_mid/swig_tool", "Object/Location/swig_location/swig_tool/swig_tool_mid.json"),
        ("attribute_state/vg", "Attribute/vg/state.json"),
        ("relation_action/swig", "Relation/swig_action.json"),
    ],
)
def test_files_lie_where_the_released_settings_say(leaf: str, file: str) -> None:
    """``ANNO_PATH`` in ``corpus/v1`` of om-ai-lab/VL-CheckList at 6f8d6a3."""
    assert vl_checklist.file_of(leaf) == file


def test_the_first_of_the_true_captions_against_the_first_of_the_false(tmp_path: Path) -> None:
    swig = [["dialing_8.jpg", {"POS": ["a man dials", "b", "c"], "NEG": ["a man eats", "e", "f"]}]]
    suite = read_suite("vl_checklist", written(tmp_path, Relation__swig_action=swig))
    assert list(suite.tasks) == [*MEAN.leaves, *MEAN_OF_ALL.leaves]
    task = questions(suite, "vl_checklist/relation_action/swig")
    assert task == [("images/swig/dialing_8.jpg", ["a man dials", "a man eats"], 0)]


def test_images_lie_in_the_folders_of_their_corpora(tmp_path: Path) -> None:
    """Both parts of Visual Genome in one folder."""
    hake = entry("hico_20160224_det/images/train2015/1.jpg")
    touch(tmp_path / "images/hake" / hake[0])
    suite = read_suite(
        "vl_checklist",
        written(
            tmp_path,
            Attribute__vaw__size=[entry("VG_100K/1.jpg"), entry("VG_100K_2/2.jpg")],
            Relation__vg__spatial=[entry("VG_100K_2/1.jpg")],
            Relation__hake_action=[hake],
        ),
    )
    sizes, spatial, actions = (
        [image for image, _, _ in questions(suite, f"vl_checklist/{leaf}")]
        for leaf in ("attribute_size/vaw", "relation_spatial", "relation_action/hake")
    )
    assert sizes == ["images/vg/1.jpg", "images/vg/2.jpg"]
    assert spatial == ["images/vg/1.jpg"]
    assert actions == ["images/hake/hico_20160224_det/images/train2015/1.jpg"]


def test_the_first_items_of_a_set_are_taken(tmp_path: Path) -> None:
    many = [entry("1.jpg", f"knife {number}") for number in range(CAP + 2)]
    suite = read_suite("vl_checklist", written(tmp_path, Attribute__vg__color=many))
    task = questions(suite, "vl_checklist/attribute_color/vg")
    assert [captions[0] for _, captions, _ in task] == [f"knife {number}" for number in range(CAP)]
    task = questions(suite, "vl_checklist/all/attribute_color/vg")
    assert [captions[0] for _, captions, _ in task] == [f"knife {number}" for number in range(CAP + 2)]


@pytest.mark.slow
def test_items_without_an_image_of_hake_are_left_out_before_the_first_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    items = [entry("gone.jpg"), *(entry("1.jpg", f"knife {number}") for number in range(CAP))]
    suite = read_suite("vl_checklist", written(tmp_path, Relation__hake_action=items))
    for leaf in ("relation_action/hake", "all/relation_action/hake"):
        task = questions(suite, f"vl_checklist/{leaf}")
        assert [captions[0] for _, captions, _ in task] == [f"knife {number}" for number in range(CAP)]
    assert "left out without an image: 1 of 1001 relation_action/hake\n" in capsys.readouterr().err
    (tmp_path / "images/hake/1.jpg").unlink()
    with raises(DataError, "missing-image", tmp_path / "images/hake"):
        read_suite("vl_checklist", tmp_path)


@pytest.mark.parametrize(
    ("wrong", "code", "place"),
    [
        (entry("VG_100K/../1.jpg"), "outside-folder", "color.json, item 1"),
        (["1.jpg", {"POS": ["a"], "NEG": []}], "wrong-count", "item 1, entry 2, field 'NEG'"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, wrong: list[Any], code: str, place: str) -> None:
    with raises(DataError, code, place):
        read_suite("vl_checklist", written(tmp_path, Attribute__vg__color=[wrong]))
