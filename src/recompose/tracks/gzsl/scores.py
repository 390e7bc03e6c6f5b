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
    """The scores of the test images, of seen and of unseen classes, in the order of the data set."""

    all: np.ndarray  # [images, classes] float32, without a calibration bias
    accuracy: np.ndarray | None = None  # the same by the checkpoint with the best accuracy, if the test chose it
    paths: dict[str, np.ndarray] = field(default_factory=dict)  # path -> its scores alone [images, classes]
    uncertainties: dict[str, np.ndarray] = field(default_factory=dict)  # view -> [images]
    biases: dict[str, float] = field(default_factory=dict)  # of unseen classes: name of the choice -> bias
    validation: dict[str, float] = field(default_factory=dict)  # mean uncertainty of validation: ``first``, ``last``

    def write(self, folder: Path) -> None:
        """Write ``scores.safetensors`` and ``calibration.json``."""
        arrays = {"all": self.all, **({} if self.accuracy is None else {"accuracy": self.accuracy})}
        arrays |= {f"paths/{name}": array for name, array in self.paths.items()}
        arrays |= {f"uncertainties/{name}": array for name, array in self.uncertainties.items()}
        write_atomically(folder / SCORES, lambda path: save_file(arrays, path))
        write_json(folder / CALIBRATION, {"biases": self.biases, "validation": self.validation})

    @classmethod
    def read(cls, folder: Path) -> "ClassScores":
        """Read the files of ``write``."""
        arrays, calibration = load_file(folder / SCORES), read_json(folder / CALIBRATION)

        def below(place: str) -> dict[str, np.ndarray]:
            return {name.removeprefix(place): array for name, array in arrays.items() if name.startswith(place)}

        of_paths, uncertainties = below("paths/"), below("uncertainties/")
        return cls(arrays["all"], arrays.get("accuracy"), of_paths, uncertainties, **calibration)
