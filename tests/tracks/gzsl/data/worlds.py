"""Small data sets in the form of xlsa17, written as MATLAB writes them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from scipy.io import loadmat, savemat

ELSEWHERE = "/BS/xian/data//Birds/images"
COUNTS = {
    "images": 10,
    "attributes": 3,
    "seen_classes": 3,
    "unseen_classes": 1,
    "validation_classes": 1,
    "trainval_images": 5,
    "test_seen_images": 3,
    "test_unseen_images": 2,
    "training_images": 3,
    "validation_images": 2,
}


def column(*values: Any) -> np.ndarray:
    return np.array(values).reshape(-1, 1)


def cells(texts: Iterable[Any]) -> np.ndarray:
    listed = list(texts)
    array = np.empty((len(listed), 1), dtype=object)
    array[:, 0] = listed
    return array


def unit_columns(array: np.ndarray) -> np.ndarray:
    return array / np.linalg.norm(array, axis=0)


def _index() -> dict[str, np.ndarray]:
    """Images in the order of their folders; the classes' numbers are not their places among the classes."""
    folders = ["001.owl"] * 3 + ["002.auk"] * 2 + ["003.jay"] * 2 + ["004.kea"] * 3
    names = [f"{ELSEWHERE}/{folder}/{folder[4:]}_{row}.jpg" for row, folder in enumerate(folders)]
    labels = column(*[{"001": 3, "002": 1, "003": 4, "004": 2}[folder[:3]] for folder in folders])
    return {"labels": labels, "image_files": cells(names), "features": np.ones((7, len(names)))}


def _splits() -> dict[str, np.ndarray]:
    strengths = np.array([[70.0, 3, 0, 20], [0, 40, 10, 20], [-1, 5, 60, 0]])
    return {
        "allclasses_names": cells(["002.auk", "004.kea", "001.owl", "003.jay"]),
        "att": unit_columns(strengths),
        "original_att": strengths,
        "trainval_loc": column(10, 1, 2, 4, 8).astype(np.uint16),
        "test_seen_loc": column(9, 3, 5).astype(np.uint16),
        "test_unseen_loc": column(6, 7).astype(np.uint16),
    }


@dataclass
class World:
    """What the files of a data set hold: all is right, until a test changes it."""

    index: dict[str, Any] = field(default_factory=_index)
    splits: dict[str, Any] = field(default_factory=_splits)
    lists: dict[str, Iterable[str]] = field(
        default_factory=lambda: {
            "trainclasses1.txt": ["004.kea", "002.auk"],
            "valclasses1.txt": ["001.owl"],
            "attributes.txt": ["1 has_bill::curved (up)", "2 has_wing::red", "3 has_tail::long"],
        }
    )
    words: Any = field(default_factory=lambda: np.array([[1.0, 2], [0, 0], [-3, 0.5]]))

    def write(self, root: Path) -> Path:
        """Write the data set, with empty images where its index says."""
        root.mkdir(parents=True, exist_ok=True)
        savemat(root / "res101.mat", self.index)
        savemat(root / "att_splits.mat", self.splits)
        for name, lines in self.lists.items():
            (root / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        np.save(root / "words.npy", self.words)
        for name in _index()["image_files"].flat:
            place = root / "images" / name.removeprefix(f"{ELSEWHERE}/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        return root


def read_at_once(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return fields of a file of a world in this process, which takes a tenth of the time of a process of its own."""
    read = {name: array for name, array in loadmat(path).items() if name in fields}
    return {
        name: np.array([str(cell.flat[0]) for cell in array.flat], dtype=object) if array.dtype == object else array
        for name, array in read.items()
    }
