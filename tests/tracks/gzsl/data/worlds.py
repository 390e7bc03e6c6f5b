"""Small data sets in the form of xlsa17, written as MATLAB writes them."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from scipy.io import savemat

from recompose.tracks.gzsl.data.xlsa17 import Counts

ELSEWHERE = "/BS/xian/data//Birds/images"
COUNTS = Counts(10, 3, 3, 1, 1, 5, 3, 2, 3, 2)


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

    def write(self, root: Path, *, version: int = 7) -> Path:
        """Write the data set, with empty images where its index says."""
        root.mkdir(parents=True, exist_ok=True)
        write = savemat if version == 5 else write_version_7
        write(root / "res101.mat", self.index)
        write(root / "att_splits.mat", self.splits)
        for name, lines in self.lists.items():
            (root / name).write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        np.save(root / "words.npy", self.words)
        for name in _index()["image_files"].flat:
            place = root / "images" / name.removeprefix(f"{ELSEWHERE}/")
            place.parent.mkdir(parents=True, exist_ok=True)
            place.touch()
        return root


def write_version_7(path: Path, fields: dict[str, np.ndarray]) -> None:
    """Arrays transposed, cells as references to numbers of characters."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in fields.items():
            if array.dtype != object:
                file.create_dataset(name, data=array.T)
                continue
            references = np.empty(array.T.shape, dtype=h5py.ref_dtype)
            for place, text in np.ndenumerate(array.T):
                references[place] = _characters(file, f"#refs#/{name}{place}", text).ref
            file.create_dataset(name, data=references, dtype=h5py.ref_dtype)
    with path.open("r+b") as raw:
        raw.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


def _characters(file: h5py.File, place: str, text: str) -> h5py.Dataset:
    codes = np.frombuffer(text.encode("utf-16-le"), dtype=np.uint16)
    dataset = file.create_dataset(place, data=codes[:, None] if text else np.zeros(2, dtype=np.uint64))
    dataset.attrs["MATLAB_class"] = np.bytes_("char")
    if not text:
        dataset.attrs["MATLAB_empty"] = np.uint8(1)
    return dataset
