"""The common format of a data set of classes that attributes describe, whatever its format on disk."""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from recompose.data.pictures import Picture
from recompose.files import read_csv, read_json, write_csv, write_json

SPLITS = ("trainval", "test_seen", "test_unseen")
SIGNATURES, WORDS = "signatures.npy", "words.npy"


@dataclass(frozen=True)
class ClassData:
    """Classes with their attributes, and images of classes.

    A seen class may be one of validation: training that chooses an epoch or a setting leaves its images out, and treats
    them as those of an unseen class.
    """

    classes: tuple[str, ...]
    attributes: tuple[str, ...]
    signatures: np.ndarray  # [classes, attributes] float32, how strongly a class has an attribute; rows of unit length
    words: np.ndarray  # [attributes, width] float32, a vector for the words of each attribute
    seen: np.ndarray  # [classes] bool
    validation: np.ndarray  # [classes] bool, seen classes that validation treats as unseen
    paths: tuple[str, ...]  # of images, below the data set's folder
    labels: np.ndarray  # [images] int64, indices of classes
    splits: np.ndarray  # [images] str, one of SPLITS
    hard: np.ndarray  # [images] bool, generated with an attribute missing or misleading; unknown for published data

    def rows(self, split: str) -> np.ndarray:
        """Return the positions [images] of a split's images."""
        return np.flatnonzero(self.splits == split)

    @cached_property
    def test_rows(self) -> np.ndarray:
        """The positions of test images, of seen and of unseen classes."""
        return np.flatnonzero(self.splits != "trainval")

    @cached_property
    def training_rows(self) -> np.ndarray:
        """The positions of training images whose class is not one of validation."""
        rows = self.rows("trainval")
        return rows[~self.validation[self.labels[rows]]]

    @cached_property
    def validation_rows(self) -> np.ndarray:
        """The positions of training images whose class is one of validation."""
        rows = self.rows("trainval")
        return rows[self.validation[self.labels[rows]]]

    @cached_property
    def statistics(self) -> dict[str, int]:
        """The counts that papers print."""
        return {
            "images": len(self.paths),
            "classes": len(self.classes),
            "attributes": len(self.attributes),
            "seen_classes": int(self.seen.sum()),
            "unseen_classes": int((~self.seen).sum()),
            "validation_classes": int(self.validation.sum()),
            **{f"{split}_images": len(self.rows(split)) for split in SPLITS},
            "training_images": len(self.training_rows),
            "validation_images": len(self.validation_rows),
        }

    def write(self, folder: Path) -> None:
        """Write ``classes.json``, ``signatures.npy``, ``words.npy``, ``images.csv`` and ``statistics.json``."""
        flags = {"seen": self.seen.tolist(), "validation": self.validation.tolist()}
        write_json(folder / "classes.json", {"classes": self.classes, "attributes": self.attributes, **flags})
        write_json(folder / "statistics.json", self.statistics)
        np.save(folder / SIGNATURES, self.signatures, allow_pickle=False)
        np.save(folder / WORDS, self.words, allow_pickle=False)
        rows = zip(self.paths, self.labels, self.splits, self.hard.astype(int), strict=True)
        write_csv(folder / "images.csv", ("path", "label", "split", "hard"), rows)

    @classmethod
    def read(cls, folder: Path) -> "ClassData":
        """Read the files of ``write``."""
        names = read_json(folder / "classes.json")
        images = read_csv(folder / "images.csv")
        return cls(
            tuple(names["classes"]),
            tuple(names["attributes"]),
            np.load(folder / SIGNATURES, allow_pickle=False),
            np.load(folder / WORDS, allow_pickle=False),
            np.array(names["seen"], dtype=bool),
            np.array(names["validation"], dtype=bool),
            tuple(image["path"] for image in images),
            np.array([int(image["label"]) for image in images], dtype=np.int64),
            np.array([image["split"] for image in images]),
            np.array([image["hard"] == "1" for image in images]),
        )


@lru_cache(maxsize=4)
def read_index(folder: Path) -> ClassData:
    """Return a data set's index, read once by a process."""
    return ClassData.read(folder)


def pictures(folder: Path) -> list[Picture]:
    """Return the pictures of an index, in the order of pixels, features and grids."""
    return [Picture(path) for path in read_index(folder).paths]
