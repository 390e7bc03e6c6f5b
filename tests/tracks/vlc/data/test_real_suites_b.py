"""Formats of suites against real annotation files, in the folder that RECOMPOSE_REAL_DATA names.

There are the files of VALSE, ComVG and COCO's test split.
"""

import os
from pathlib import Path

import numpy as np
import pytest

from recompose.tracks.vlc.suites.catalogue import SUBTASKS, missing_subtasks, present_suites, read_suite
from recompose.tracks.vlc.suites.tasks import Choices, Pool
from tests.tracks.vlc.data.formats.published import questions

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
    }
    for place, file in links.items():
        (root / place).parent.mkdir(exist_ok=True)
        (root / place).symlink_to(REAL / file)
    assert present_suites(root) == ["coco", "comvg", "valse"]
    return root


def test_valse_has_as_many_items_as_papers_print(root: Path) -> None:
    suite = read_suite("valse", root)
    counts = {name: len(task.asked) for name, task in suite.tasks.items() if isinstance(task, Choices)}
    assert counts == {name: task.items for name, task in SUBTASKS.items() if task.suite == "valse"}
    assert sum(counts.values()) == 7_702
    assert not missing_subtasks(suite)
    first = questions(suite, "valse/action-replacement")[0]
    assert first == ("images/swig/exercising_255.jpg", ["A man exercises his torso.", "A man lifts his torso."], 0)


def test_comvg_has_5400_items(root: Path) -> None:
    suite = read_suite("comvg", root)
    task = suite.tasks["comvg"]
    assert isinstance(task, Choices)
    assert len(task.asked) == SUBTASKS["comvg"].items == 5_400
    assert task.offered.shape == (5_400, 2)
    assert (task.offered[:, 0] != task.offered[:, 1]).all()
    verbs = suite.tasks["comvg/verb"]
    assert isinstance(verbs, Choices) and len(verbs.asked) == SUBTASKS["comvg/verb"].items == 1_280


def test_cocos_test_split_has_25010_captions(root: Path) -> None:
    suite = read_suite("coco", root)
    task = suite.tasks["coco"]
    assert isinstance(task, Pool)
    assert (len(task.images), len(task.texts)) == (SUBTASKS["coco"].items, SUBTASKS["coco"].captions)
    assert np.bincount(np.bincount(task.image_of)).tolist() == [0, 0, 0, 0, 0, 4_990, 10]
    assert suite.images[0].path == "images/coco/val2014/COCO_val2014_000000391895.jpg"
    assert suite.texts[0] == "A man with a red helmet on a small moped on a dirt road. "  # as people wrote them
