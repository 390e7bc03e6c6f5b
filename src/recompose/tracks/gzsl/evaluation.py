"""An evaluation: a trained run scores the test images of seen and of unseen classes."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file

from recompose.backbones.grids import read_grids
from recompose.files import read_json
from recompose.progress import ProgressLogger
from recompose.tracks.building import CHECKPOINT, TypedSettings
from recompose.tracks.evaluating import Scoring, Watch
from recompose.tracks.gzsl.building import BEST_ACCURACY, BLOCK, SELECTION, blocks, build_method
from recompose.tracks.gzsl.data.classes import read_index
from recompose.tracks.gzsl.data.stages import final_stage
from recompose.tracks.gzsl.methods.settings import ClassScoring
from recompose.tracks.gzsl.scores import UNCERTAINTY, ClassScores
from recompose.training.checkpoint import restore
from recompose.training.resources import trainable

MAPPED = 12  # images whose attention is saved, of different classes


class ClassesScoring(Scoring[dict[str, np.ndarray]]):
    """A pass of a run over the test images. Needs are ``data``, ``grids`` and ``run``."""

    def build(self) -> None:
        """Build the method, as its run left it."""
        (document,) = self.documents
        self._data, self._grids = read_index(self.needs["data"]), read_grids(self.needs["grids"])
        self._run, settings = self.needs["run"], TypedSettings(document)
        assert isinstance(settings.scoring, ClassScoring)
        self._bias = settings.scoring.bias
        method = build_method(settings, self._data, self._grids.shape[-1], final_stage(self._data))
        self._method = method.to(self.device).eval()
        self.trainable_parameters = trainable(method)
        restore(method, self._run / CHECKPOINT)

    def score(self, watch: Watch) -> Sequence[dict[str, np.ndarray]]:
        """Return the predictions for test images by name."""
        return [self._predict()]

    @torch.no_grad()
    def _predict(self) -> dict[str, np.ndarray]:
        """Return the predictions for test images: ``all``, ``paths/<path>`` [images, classes] and
        ``uncertainties/<view>`` [images].
        """
        rows, parts = self._data.test_rows, []
        pace = ProgressLogger(self.title, "image", len(rows))
        for block in blocks(rows):
            prediction = self._method.predict(self._inputs(block))
            named = {"": {"all": prediction.scores}, "paths/": prediction.paths}
            named["uncertainties/"] = prediction.uncertainties
            parts.append({kind + name: tensor for kind, tensors in named.items() for name, tensor in tensors.items()})
            pace.at(min(len(rows), len(parts) * BLOCK))
        return {name: torch.cat([part[name] for part in parts]).float().cpu().numpy() for name in parts[0]}

    def _inputs(self, rows: np.ndarray) -> torch.Tensor:
        return torch.from_numpy(self._grids[rows]).to(self.device).float()

    @torch.no_grad()
    def embeddings(self) -> dict[str, torch.Tensor]:
        """Return the method's embeddings [images, ...] of the test images, each under its name, and for ``mapped``
        [images] of them, positions in the data set, the ``attention`` [images, attributes, regions].
        """
        rows = self._data.test_rows
        parts = [self._method.embeddings(self._inputs(block)) for block in blocks(rows)]
        vectors = {name: torch.cat([part[name] for part in parts]).cpu() for name in parts[0]}
        _, first = np.unique(self._data.labels[rows], return_index=True)
        mapped = rows[first][:: max(1, len(first) // MAPPED)][:MAPPED]
        vectors["mapped"] = torch.from_numpy(mapped)
        vectors["attention"] = self._method.attention(self._inputs(mapped)).cpu()
        return {name: tensor.contiguous() for name, tensor in vectors.items()}

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


def _validation_uncertainty(run: Path) -> dict[str, float]:
    """Return the mean uncertainty of the images that chose an epoch, after the first and after the last one."""
    if not (run / UNCERTAINTY).exists():
        return {}
    means = load_file(run / UNCERTAINTY)["uncertainty"].mean(dim=1)
    return {"first": float(means[0]), "last": float(means[-1])}
