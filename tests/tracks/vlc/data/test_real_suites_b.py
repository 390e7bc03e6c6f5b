"""Nine formats of suites against real annotation files, in the folder that RECOMPOSE_REAL_DATA names.

There are the files of VALSE, ComVG and COCO's test split, ELEVATER's prompts and registry without its indices, and
ColorSwap's captions without its images.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from recompose.tracks.vlc.data.formats import elevater
from recompose.tracks.vlc.data.suite import Choices, Classes, Groups, Pool
from recompose.tracks.vlc.data.suites_on_disk import missing_subtasks, present_suites, read_suite
from recompose.tracks.vlc.suites.catalogue import ITEMS, RETRIEVALS
from tests.tracks.vlc.data.formats.published import questions, write_json

if not os.environ.get("RECOMPOSE_REAL_DATA"):
    pytest.skip("RECOMPOSE_REAL_DATA names no folder of real annotation files", allow_module_level=True)

REAL = Path(os.environ["RECOMPOSE_REAL_DATA"]) / "vlc"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The real files in the places that the formats want them at."""
    root = tmp_path_factory.mktemp("vlc")
    links = {
        "valse": "valse",
        "comvg/ComVG.csv": "ComVG.csv",
        "coco/coco_karpathy_test.json": "retrieval/coco_karpathy_test.json",
        "elevater/elevater_prompts.json": "elevater/elevater_prompts.json",
        "elevater/vision_datasets.json": "elevater/yaml/vision_datasets.json",
    }
    for place, file in links.items():
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).symlink_to(REAL / file)
    assert present_suites(root) == ["valse", "comvg", "elevater", "coco"]
    return root


def test_valse_has_as_many_items_as_papers_print(root: Path) -> None:
    suite = read_suite("valse", root)
    counts = {name: len(task.asked) for name, task in suite.tasks.items() if isinstance(task, Choices)}
    assert counts == {name: count for name, count in ITEMS.items() if name.startswith("valse/")}
    assert sum(counts.values()) == 7_702
    assert not missing_subtasks(suite)
    first = questions(suite, "valse/action-replacement")[0]
    assert first == ("images/swig/exercising_255.jpg", ["A man exercises his torso.", "A man lifts his torso."], 0)


def test_comvg_has_5400_items(root: Path) -> None:
    suite = read_suite("comvg", root)
    task = suite.tasks["comvg"]
    assert isinstance(task, Choices)
    assert len(task.asked) == ITEMS["comvg"] == 5_400
    assert task.offered.shape == (5_400, 2)
    assert (task.offered[:, 0] != task.offered[:, 1]).all()
    verbs = suite.tasks["comvg/verb"]
    assert isinstance(verbs, Choices) and len(verbs.asked) == ITEMS["comvg/verb"] == 1_280


def test_cocos_test_split_has_25010_captions(root: Path) -> None:
    suite = read_suite("coco", root)
    task = suite.tasks["coco"]
    assert isinstance(task, Pool)
    assert (len(task.images), len(task.texts)) == (RETRIEVALS["coco"].images, RETRIEVALS["coco"].captions)
    assert np.bincount(np.bincount(task.image_of)).tolist() == [0, 0, 0, 0, 0, 4_990, 10]
    assert suite.images[0].path == "images/coco/val2014/COCO_val2014_000000391895.jpg"
    assert suite.texts[0] == "A man with a red helmet on a small moped on a dirt road. "  # as people wrote them


def test_colorswap_has_300_captions_and_their_exchanged_ones(tmp_path: Path) -> None:
    """The captions are real; the images are named as its README has them."""
    real = json.loads((REAL / "test_captions_from_vlm_results.json").read_text())
    named = [{**one, **{f"image_{side}": f"images/img_{one['id']}_{side}.png" for side in (1, 2)}} for one in real]
    write_json(tmp_path / "colorswap/test.json", named)
    suite = read_suite("colorswap", tmp_path)
    task = suite.tasks["colorswap"]
    assert isinstance(task, Groups)
    assert task.images.shape == task.texts.shape == (ITEMS["colorswap"], 2)
    words = [[sorted(suite.texts[text].split()) for text in row] for row in task.texts]
    assert np.mean([one == other for one, other in words]) > 0.9  # the same words; some have a(n) changed


def test_elevater_has_prompts_of_all_its_sets(root: Path, tmp_path: Path) -> None:
    """Indices are made up: the last class, in the form that the registry says."""
    folder = tmp_path / "elevater"
    folder.mkdir()
    for file in ("elevater_prompts.json", "vision_datasets.json"):
        (folder / file).symlink_to((root / "elevater" / file).resolve())
    registry = {one["name"]: one for one in json.loads((folder / "vision_datasets.json").read_text())}
    prompts = json.loads((folder / "elevater_prompts.json").read_text())
    for name in elevater.SETS.values():
        one, classes = registry[name], len(prompts["class_map"][name])
        index = folder / one["root_folder"] / one["test"]["index_path"]
        archive = one["test"]["files_for_local_usage"][0]
        if one.get("format") == "coco":
            images, annotations = [{"id": 5, "file_name": "1.jpg", "zip_file": archive}], [(5, classes)]
            write_json(
                index,
                {
                    "images": images,
                    "annotations": [{"image_id": image, "category_id": label} for image, label in annotations],
                    "categories": [{"id": label + 1} for label in range(classes)],
                },
            )
        else:
            index.parent.mkdir(parents=True)
            index.write_text(f"{archive}@1.jpg {classes - 1}\n")
    suite = read_suite("elevater", tmp_path)
    assert not missing_subtasks(suite)
    for name, published in elevater.SETS.items():
        task, one = suite.tasks[f"elevater/{name}"], registry[published]
        assert isinstance(task, Classes)
        assert len(task.names) == one.get("num_classes", 1_000)
        assert {len(numbers) for numbers in task.prompts} == {len(prompts["template_map"][published])}
        archive = one["test"]["files_for_local_usage"][0].removesuffix(".zip")
        assert suite.images[task.images[0]].path == f"images/elevater/{one['root_folder']}/{archive}/1.jpg"
        assert task.labels[0][-1] if task.labels.ndim == 2 else task.labels[0] == len(task.names) - 1
    pets = suite.tasks["elevater/oxford-iiit-pets"]
    assert isinstance(pets, Classes)
    assert suite.texts[pets.prompts[0][0]] == "a photo of a Abyssinian, a type of pet."
    squeezed = [image.path for image in suite.images if image.squeezed]
    assert len(squeezed) == 1
    assert "kitti" in squeezed[0]
