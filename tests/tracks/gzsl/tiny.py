"""A data set of classes so small that tests train on it, and its grids."""

from pathlib import Path
from typing import Any

import numpy as np

from recompose.backbones.grids import GRIDS
from recompose.tracks.gzsl.data.classes import ClassData

CLASSES, SEEN, VALIDATION, ATTRIBUTES, PER_CLASS = 9, 6, 2, 5, 12
REGIONS, CHANNELS = 4, 8
BILINEAR: dict[str, Any] = {"margin": 0.1, "normalisation": "length", "violations": "all"}
RATES: dict[str, Any] = {"optimizer": "adam", "momentum": 0.0, "lr": 0.01, "weight_decay": 0.0, "batch_size": 16}


def class_data(seed: int = 0) -> ClassData:
    """Classes of which two thirds are seen; of each seen one a quarter of the images is for the test."""
    rng = np.random.default_rng(seed)
    signatures = rng.random((CLASSES, ATTRIBUTES)).astype(np.float32)
    labels = np.repeat(np.arange(CLASSES), PER_CLASS)
    order = rng.permutation(len(labels))
    splits = np.where(np.arange(len(labels)) % 4 == 0, "test_seen", "trainval")
    splits = np.where(labels >= SEEN, "test_unseen", splits)
    return ClassData(
        tuple(f"class {index}" for index in range(CLASSES)),
        tuple(f"attribute {index}" for index in range(ATTRIBUTES)),
        signatures / np.linalg.norm(signatures, axis=1, keepdims=True),
        rng.normal(size=(ATTRIBUTES, 3)).astype(np.float32),
        np.arange(CLASSES) < SEEN,
        (np.arange(CLASSES) >= SEEN - VALIDATION) & (np.arange(CLASSES) < SEEN),
        tuple(f"images/{index}.png" for index in range(len(labels))),
        labels[order],
        splits[order],
        rng.random(len(labels)) < 0.3,
    )


def grids_of(data: ClassData, seed: int = 0) -> np.ndarray:
    """Grids in which a class shows by its attributes, with noise."""
    rng = np.random.default_rng(seed)
    shown = data.signatures[data.labels] @ rng.normal(size=(ATTRIBUTES, CHANNELS))
    return (shown[:, None] + rng.normal(scale=0.3, size=(len(shown), REGIONS, CHANNELS))).astype(np.float16)


def write(folder: Path, data: ClassData, grids: np.ndarray) -> dict[str, Path]:
    """The folders that a run needs."""
    needs = {"data": folder / "data", "grids": folder / "grids"}
    for path in needs.values():
        path.mkdir(parents=True)
    data.write(needs["data"])
    np.save(needs["grids"] / GRIDS, grids)
    return needs
