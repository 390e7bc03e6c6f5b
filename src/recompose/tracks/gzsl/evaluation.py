"""An evaluation: a trained run scores the test images of seen and of unseen classes."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from recompose.backbones.arrays import StoredArray
from recompose.backbones.grids import read_grids
from recompose.files import read_json
from recompose.progress import ProgressLogger
from recompose.tracks.building import CHECKPOINT, Document, TypedSettings
from recompose.tracks.evaluating import Scoring, Watch
from recompose.tracks.gzsl.building import (
    BEST_ACCURACY,
    BLOCK,
    SELECTION,
    blocks,
    build_method,
)
from recompose.tracks.gzsl.data.classes import ClassData, read_index
from recompose.tracks.gzsl.data.stages import final_stage
from recompose.tracks.gzsl.methods.base import GridMethod, Prediction
from recompose.tracks.gzsl.methods.settings import ClassScoring
from recompose.tracks.gzsl.scores import UNCERTAINTY, ClassScores
from recompose.training.checkpoint import restore
from recompose.training.resources import trainable

MAPPED = 12  # images whose attention is saved, of different classes


class ClassesScoring(Scoring[dict[str, np.ndarray]]):
    """A pass of a run over the test images. Needs are ``data``, ``grids`` and ``run``."""

    def __init__(
        self, documents: Sequence[Document], needs: Mapping[str, Path], device: torch.device | None, title: str
    ) -> None:
        (document,) = documents
        self._data, self._grids = read_index(needs["data"]), read_grids(needs["grids"])
        self._run, self._title, settings = needs["run"], title, TypedSettings(document)
        assert isinstance(settings.scoring, ClassScoring)
        self._bias = settings.scoring.bias
        stage = final_stage(self._data)
        method = build_method(settings, self._data, self._grids.shape[-1], stage.classes, stage.seen)
        self._method = method.to(device).eval()
        self.trainable_parameters = trainable(method)
        restore(method, self._run / CHECKPOINT)

    def score(self, watch: Watch) -> Sequence[dict[str, np.ndarray]]:
        """Return the predictions for test images by name."""
        return [self._predict()]

    def _predict(self) -> dict[str, np.ndarray]:
        return predict_images(self._method, self._grids, self._data.test_rows, self._title)

    def embeddings(self) -> dict[str, torch.Tensor]:
        """Return the vectors of test images, and the attention of some."""
        return embeddings(self._method, self._data, self._grids)

    def write(self, scores: dict[str, np.ndarray], folder: Path) -> None:
        """Write ``scores.safetensors`` and ``calibration.json``; where the test chose, first score again by the
        checkpoint with the best accuracy.
        """
        biases = {"own": self._bias, "none": 0.0}
        if (self._run / BEST_ACCURACY).exists():
            restore(self._method, self._run / BEST_ACCURACY)
            scores = scores | {"accuracy": self._predict()["all"]}
        else:
            biases["validated"] = read_json(self._run / SELECTION)["chosen"]["bias"]
        ClassScores(scores, biases, _validation_uncertainty(self._run)).write(folder)


evaluate = ClassesScoring.evaluate


@torch.no_grad()
def predict_images(
    method: GridMethod, grids: np.ndarray | StoredArray, rows: np.ndarray, title: str
) -> dict[str, np.ndarray]:
    """Return a method's predictions for images at these positions: ``all``, ``paths/<path>`` [images, classes] and
    ``uncertainties/<view>`` [images].
    """
    pace = ProgressLogger(title, "image", len(rows))
    parts: list[dict[str, torch.Tensor]] = []
    for block in blocks(rows):
        parts.append(_flat(method.predict(_inputs(method, grids, block))))
        pace.at(min(len(rows), len(parts) * BLOCK))
    return {name: torch.cat([part[name] for part in parts]).float().cpu().numpy() for name in parts[0]}


def _flat(prediction: Prediction) -> dict[str, torch.Tensor]:
    paths = {f"paths/{name}": scores for name, scores in prediction.paths.items()}
    return {"all": prediction.scores, **paths, **{f"uncertainties/{n}": u for n, u in prediction.uncertainties.items()}}


def _inputs(method: GridMethod, grids: np.ndarray | StoredArray, rows: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(grids[rows]).to(method.signatures.device).float()


@torch.no_grad()
def embeddings(method: GridMethod, data: ClassData, grids: np.ndarray | StoredArray) -> dict[str, torch.Tensor]:
    """Return the vectors of a method that figures show: its embeddings [images, ...] of the test images, each under its
    name, and for ``mapped`` [images] of them, positions in the data set, the ``attention`` [images, attributes,
    regions].
    """
    rows = data.test_rows
    parts = [method.embeddings(_inputs(method, grids, block)) for block in blocks(rows)]
    vectors = {name: torch.cat([part[name] for part in parts]).cpu() for name in parts[0]}
    _, first = np.unique(data.labels[rows], return_index=True)
    mapped = rows[first][:: max(1, len(first) // MAPPED)][:MAPPED]
    vectors["mapped"] = torch.from_numpy(mapped)
    vectors["attention"] = method.attention(_inputs(method, grids, mapped)).cpu()
    return {name: tensor.contiguous() for name, tensor in vectors.items()}


def _validation_uncertainty(run: Path) -> dict[str, float]:
    """Return the mean uncertainty of the images that chose an epoch, after the first and after the last one."""
    if not (run / UNCERTAINTY).exists():
        return {}
    means = load_file(run / UNCERTAINTY)["uncertainty"].mean(dim=1)
    return {"first": float(means[0]), "last": float(means[-1])}
