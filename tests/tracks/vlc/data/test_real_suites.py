"""Formats of suites against real annotation files, in the folder that RECOMPOSE_REAL_DATA names."""

import json
import os
from pathlib import Path

import pytest
import yaml

from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.suites.catalogue import PUBLISHED, SUBTASKS, missing_subtasks, read_suite
from recompose.tracks.vlc.suites.tasks import Pool
from tests.tracks.vlc.data.formats.published import questions, touch

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "vlc"
FRAMES = range(0, 30, 3)
PLACES = {  # of real files where the formats want them -> below the folder
    "sugarcrepe": "sugarcrepe",
    "valse": "valse",
    "comvg/ComVG.csv": "ComVG.csv",
    "coco/coco_karpathy_test.json": "retrieval/coco_karpathy_test.json",
    "imagecode": "imagecode",
}
FIRST = ("images/swig/exercising_255.jpg", ["A man exercises his torso.", "A man lifts his torso."], 0)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real files, and for ImageCoDe images that are empty files."""
    root = tmp_path_factory.mktemp("vlc")
    for place, file in PLACES.items():
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).symlink_to(REAL / file)
    descriptions = json.loads((REAL / "imagecode/valid_data.json").read_text(encoding="utf-8"))
    touch(*(root / f"images/imagecode/{name}/img{frame}.jpg" for name in descriptions for frame in FRAMES))
    return root


@pytest.mark.parametrize("form", ["sugarcrepe", "valse", "comvg", "coco", "imagecode"])
def test_suites_have_the_published_counts(form: str, root: Path) -> None:
    suite = read_suite(form, root)
    check_counts(suite)
    assert not missing_subtasks(suite)


def test_items_are_those_of_the_files(root: Path) -> None:
    files = ("sugarcrepe/swap_obj.json", "imagecode/valid_data.json")
    sugarcrepe, descriptions = (json.loads((REAL / file).read_text(encoding="utf-8")) for file in files)
    assert questions(read_suite("sugarcrepe", root), "sugarcrepe/swap_obj") == [
        (f"images/coco/val2017/{one['filename']}", [one["caption"], one["negative_caption"]], 0)
        for one in sugarcrepe.values()
    ]
    assert questions(read_suite("imagecode", root), "imagecode/static") == [
        (text.strip(), [f"images/imagecode/{name}/img{frame}.jpg" for frame in FRAMES], int(number))
        for name, texts in descriptions.items()
        if "open-images" in name
        for number, text in texts.items()
    ]
    assert questions(read_suite("valse", root), "valse/action-replacement")[0] == FIRST
    coco = read_suite("coco", root)
    task = coco.tasks["coco"]
    assert isinstance(task, Pool)
    assert (len(task.images), len(task.texts)) == (SUBTASKS["coco"].items, SUBTASKS["coco"].captions)
    assert coco.texts[0] == "A man with a red helmet on a small moped on a dirt road. "  # as people wrote them


def test_classifications_are_those_of_real_settings() -> None:
    folder = REAL / "elevater" / "yaml"
    data_sets = {one["name"]: one for one in json.loads((folder / "vision_datasets.json").read_text())}
    for task in PUBLISHED["elevater"].SUBTASKS:
        name = task.name.removeprefix("elevater/")
        settings = yaml.safe_load((folder / f"{name}.yaml").read_text())
        assert task.metric == settings["TEST"]["METRIC"]
        assert task.centre_crop == settings["TEST"].get("CENTER_CROP", settings["DATASET"].get("CENTER_CROP", True))
        assert task.items == data_sets[settings["DATASET"]["DATASET"]]["test"]["num_images"]
