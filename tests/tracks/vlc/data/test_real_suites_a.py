"""The adapters of SugarCrepe and ImageCoDe against real annotations, in the folder named by RECOMPOSE_REAL_DATA."""

import json
import os
from pathlib import Path

import pytest

from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.data.formats import sugarcrepe
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import read_suite
from tests.tracks.vlc.data.formats.published import questions, touch

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "vlc"
FRAMES = range(0, 30, 3)


@pytest.fixture(scope="module")
def descriptions() -> dict[str, dict[str, str]]:
    return json.loads((REAL / "imagecode/valid_data.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def frames(tmp_path_factory: pytest.TempPathFactory, descriptions: dict[str, dict[str, str]]) -> Suite:
    """ImageCoDe with the real descriptions, of images that are empty files."""
    root = tmp_path_factory.mktemp("imagecode")
    (root / "imagecode").symlink_to(REAL / "imagecode")
    touch(*(root / f"images/imagecode/{name}/img{frame}.jpg" for name in descriptions for frame in FRAMES))
    return read_suite("imagecode", root)


def test_sugarcrepe_has_the_published_counts() -> None:
    suite = read_suite("sugarcrepe", REAL)
    check_counts(suite)
    assert sum(len(questions(suite, name)) for name in suite.tasks) == 7_511
    assert all(picture.path.startswith("images/coco/val2017/0000") for picture in suite.images)


def test_items_of_sugarcrepe_are_those_of_the_files() -> None:
    suite = read_suite("sugarcrepe", REAL)
    for name in sugarcrepe.SETS:
        published = json.loads((REAL / f"sugarcrepe/{name}.json").read_text(encoding="utf-8"))
        assert questions(suite, f"sugarcrepe/{name}") == [
            (f"images/coco/val2017/{one['filename']}", [one["caption"], one["negative_caption"]], 0)
            for one in published.values()
        ]


def test_descriptions_are_those_of_the_file(frames: Suite, descriptions: dict[str, dict[str, str]]) -> None:
    check_counts(frames)
    for kind, static in (("static", True), ("video", False)):
        expected = [
            (text.strip(), [f"images/imagecode/{name}/img{frame}.jpg" for frame in FRAMES], int(number))
            for name, texts in descriptions.items()
            if ("open-images" in name) == static
            for number, text in texts.items()
        ]
        assert questions(frames, f"imagecode/{kind}") == expected
