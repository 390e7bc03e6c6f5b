"""The result of an evaluation: a method's scores of the test images."""

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import read_json, write_atomically, write_json
from recompose.tracks.building import SCORES

CALIBRATION = "calibration.json"
UNCERTAINTY = "uncertainty.safetensors"  # of a run whose method has one: [epochs, images]


@dataclass(frozen=True)
class ClassScores:
    """The scores of the test images, of seen and of unseen classes, in the order of the data set.

    Arrays are, by name: ``all`` [images, classes] float32, without a calibration bias; ``accuracy``, the same by the
    checkpoint with the best accuracy, if the test chose it; ``paths/<path>``, the scores of a path alone [images,
    classes]; ``uncertainties/<view>`` [images].
    """

    arrays: dict[str, np.ndarray]
    biases: dict[str, float] = field(default_factory=dict)  # of unseen classes: name of the choice -> bias
    validation: dict[str, float] = field(default_factory=dict)  # mean uncertainty of validation: ``first``, ``last``

    @property
    def all(self) -> np.ndarray:
        """The scores [images, classes] by which seen and unseen classes are predicted."""
        return self.arrays["all"]

    def below(self, place: str) -> dict[str, np.ndarray]:
        """Return the arrays of a place, ``paths`` or ``uncertainties``, by the rest of their names."""
        inside = f"{place}/"
        return {name.removeprefix(inside): array for name, array in self.arrays.items() if name.startswith(inside)}

    def write(self, folder: Path) -> None:
        """Write ``scores.safetensors`` and ``calibration.json``."""
        write_atomically(folder / SCORES, lambda path: save_file(self.arrays, path))
        write_json(folder / CALIBRATION, {"biases": self.biases, "validation": self.validation})

    @classmethod
    def read(cls, folder: Path) -> "ClassScores":
        """Read the files of ``write``."""
        return cls(load_file(folder / SCORES), **read_json(folder / CALIBRATION))
