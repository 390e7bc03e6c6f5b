"""What stands for a data set in a few steps of training: its own size, but for the images."""

import importlib
from dataclasses import asdict
from pathlib import Path

import pytest

from recompose.plan import Recipe
from recompose.tracks import TRACKS
from recompose.tracks.czsl import catalogue as czsl
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.gzsl import catalogue as gzsl
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import selection_stage


@pytest.mark.slow
@pytest.mark.parametrize("adapter", ["mit-states", "ut-zappos", "cgqa"])
def test_pairs_are_as_many_as_the_data_set_has(tmp_path: Path, adapter: str) -> None:
    TRACKS["czsl"].synthetic_index(Recipe("data", adapter, {"adapter": adapter}), tmp_path, 600)
    found = asdict(PairData.read(tmp_path).statistics)
    expected = asdict(importlib.import_module(czsl.ADAPTERS[adapter].module).STATISTICS)
    images = {"train_images": 600, "val_images": round(600 * expected["val_images"] / expected["train_images"])}
    assert found == expected | images | {"test_images": 0}


@pytest.mark.parametrize("adapter", ["cub", "sun", "awa2"])
def test_classes_are_as_many_as_the_data_set_has(tmp_path: Path, adapter: str) -> None:
    TRACKS["gzsl"].synthetic_index(Recipe("data", adapter, {"adapter": adapter}), tmp_path, 200)
    data = ClassData.read(tmp_path)
    expected = asdict(importlib.import_module(gzsl.ADAPTERS[adapter].module).COUNTS)
    of_classes = ("attributes", "seen_classes", "unseen_classes", "validation_classes")
    assert {name: data.statistics[name] for name in of_classes} == {name: expected[name] for name in of_classes}
    assert data.statistics["trainval_images"] == 200
    stage = selection_stage(data, seed=0)
    shown = stage.seen[stage.targets(data, stage.chooses)]
    assert shown.any() and not shown.all()  # validation needs both to choose an epoch


def test_published_sizes_are_those_that_data_sets_are_checked_against() -> None:
    for entry in (czsl.ADAPTERS[name] for name in ("mit-states", "ut-zappos", "cgqa")):
        counts = importlib.import_module(entry.module).STATISTICS
        sizes = {"train": counts.train_images, "val": counts.val_images, "test": counts.test_images}
        assert entry.sizes == sizes
    for entry in (gzsl.ADAPTERS[name] for name in ("cub", "sun", "awa2")):
        counts = importlib.import_module(entry.module).COUNTS
        test = counts.test_seen_images + counts.test_unseen_images
        assert entry.sizes == {"train": counts.trainval_images, "test": test}
