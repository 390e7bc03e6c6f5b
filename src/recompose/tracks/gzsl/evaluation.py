"""An evaluation: a trained run scores the test images of seen and of unseen classes."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from recompose.backbones.arrays import ShardedArray
from recompose.files import read_json, write_atomically
from recompose.progress import ProgressLogger
from recompose.tracks.building import CHECKPOINT, COSTS, Document, TypedSettings
from recompose.tracks.gzsl.building import (
    BEST_ACCURACY,
    BLOCK,
    SELECTION,
    blocks,
    build_method,
    read_grid_array,
    read_index,
)
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import final_stage
from recompose.tracks.gzsl.methods.base import GridMethod, Prediction
from recompose.tracks.gzsl.methods.settings import ClassScoring
from recompose.tracks.gzsl.scores import EMBEDDINGS, UNCERTAINTY, ClassScores
from recompose.training.checkpoint import restore
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts, trainable

MAPPED = 12  # images whose attention is saved, of different classes


def evaluate(document: Document, needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str) -> None:
    """Score a run, and write ``scores.safetensors``, ``calibration.json`` and ``costs.json``, and
    ``embeddings.safetensors`` if the document asks for it, into a folder.

    Args:
        document: ``class``, ``settings`` (a method's own, and ``scoring.bias``), ``seed``, ``threads`` and ``save``.
        needs: the verified folders ``data``, ``grids`` and ``run``.
        folder: the folder of the results.
        hardware: the device of torch.
        title: the title of progress reports.
    """
    torch.set_num_threads(document["threads"])
    data, grids, run, device = read_index(needs["data"]), read_grid_array(needs["grids"]), needs["run"], hardware.device
    stage = final_stage(data)
    settings = TypedSettings(document)
    method = build_method(settings, data, grids.shape[-1], stage.classes, stage.seen).to(device).eval()
    rows = data.test_rows
    costs = EvaluationCosts(trainable(method), device)
    with costs.scoring():
        restore(method, run / CHECKPOINT)
        parts = predict_images(method, grids, rows, title)
    if "embeddings" in document["save"]:
        vectors = embeddings(method, data, grids)
        write_atomically(folder / EMBEDDINGS, lambda path: save_file(vectors, path))
    by_accuracy, scoring = None, settings.scoring
    assert isinstance(scoring, ClassScoring)
    biases = {"own": scoring.bias, "none": 0.0}
    if (run / BEST_ACCURACY).exists():
        restore(method, run / BEST_ACCURACY)
        by_accuracy = predict_images(method, grids, rows, title)["all"]
    else:
        biases["validated"] = read_json(run / SELECTION)["chosen"]["bias"]
    ClassScores(
        parts.pop("all"),
        by_accuracy,
        {name.partition("/")[2]: array for name, array in parts.items() if name.startswith("paths/")},
        {name.partition("/")[2]: array for name, array in parts.items() if name.startswith("uncertainties/")},
        biases,
        _validation_uncertainty(run),
    ).write(folder)
    costs.write(folder / COSTS)


@torch.no_grad()
def predict_images(
    method: GridMethod, grids: np.ndarray | ShardedArray, rows: np.ndarray, title: str
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


def _inputs(method: GridMethod, grids: np.ndarray | ShardedArray, rows: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(grids[rows]).to(method.signatures.device).float()


@torch.no_grad()
def embeddings(method: GridMethod, data: ClassData, grids: np.ndarray | ShardedArray) -> dict[str, torch.Tensor]:
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
