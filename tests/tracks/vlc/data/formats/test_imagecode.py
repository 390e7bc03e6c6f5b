"""ImageCoDe as published, in small."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from recompose.tracks.vlc.suites.catalogue import read_suite
from tests.tracks.vlc.data.formats.published import check_refused, questions, touch, write_json

VIDEO, STATIC = "MSR-VTT-video7-shot1_0", "open-images-7_f91d"
FRAMES = (0, 3, 7, 10, 21, 33, 100, 101, 109, 200)  # as texts they sort otherwise
DESCRIPTIONS = {
    VIDEO: {"9": " A girl in blue. ", "2": "Two girls."},
    STATIC: {"0": "A deer head"},
    "YouCook2_x": {"5": "Two girls."},
}


def images(root: Path, name: str, frames: Sequence[int]) -> None:
    touch(*(root / f"images/imagecode/{name}/img{frame}.jpg" for frame in frames))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    write_json(tmp_path / "imagecode/valid_data.json", DESCRIPTIONS)
    images(tmp_path, VIDEO, FRAMES[::-1])
    images(tmp_path, STATIC, range(10))
    images(tmp_path, "YouCook2_x", range(0, 100, 10))
    return tmp_path


def paths(name: str, frames: Sequence[int]) -> list[str]:
    return [f"images/imagecode/{name}/img{frame}.jpg" for frame in frames]


def test_numbers_are_places_among_files_in_the_order_of_frames(root: Path) -> None:
    suite = read_suite("imagecode", root)
    assert questions(suite, "imagecode/video") == [
        ("A girl in blue.", paths(VIDEO, FRAMES), 9),
        ("Two girls.", paths(VIDEO, FRAMES), 2),
        ("Two girls.", paths("YouCook2_x", range(0, 100, 10)), 5),
    ]
    assert questions(suite, "imagecode/static") == [("A deer head", paths(STATIC, range(10)), 0)]
    assert (len(suite.images), len(suite.texts)) == (30, 3)


def test_other_files_are_no_images(root: Path) -> None:
    touch(*(root / f"images/imagecode/{VIDEO}" / name for name in (".DS_Store", "._img3.jpg", "list.txt")))
    assert questions(read_suite("imagecode", root), "imagecode/video")[0][1] == paths(VIDEO, FRAMES)


def test_ten_images_have_to_be_there(root: Path) -> None:
    folder = root / "images/imagecode" / VIDEO
    (folder / "img3.jpg").unlink()
    check_refused("imagecode", root, "missing-image", folder)
    touch(folder / "imgx.jpg")
    check_refused("imagecode", root, "unknown-name", folder)
    for file in folder.iterdir():
        file.unlink()
    folder.rmdir()
    check_refused("imagecode", root, "missing-image", folder)


@pytest.mark.parametrize(
    ("document", "code", "place"),
    [
        ({STATIC: DESCRIPTIONS[STATIC]}, "no-items", "video"),
        ({VIDEO: {"10": "a dog"}}, "wrong-number", f"item '{VIDEO}'"),
        ({VIDEO: {"03": "a dog"}}, "wrong-number", f"item '{VIDEO}'"),
        ({"../x": {"3": "a dog"}}, "outside-folder", "item '../x'"),
    ],
)
def test_a_broken_file_is_named(root: Path, document: Any, code: str, place: str) -> None:
    path = write_json(root / "imagecode/valid_data.json", document)
    check_refused("imagecode", root, code, path, place)
