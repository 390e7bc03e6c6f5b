"""An evaluation: a trained run, or an untrained method, scores the validation and test images of all worlds.

What is not needed is not imported: a method without a backbone is evaluated without torch.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recompose.tracks.czsl.building import COSTS, method_class, own_settings, prepared_method, read_index
from recompose.tracks.czsl.metrics.worlds import FILE, Scores, score_worlds, world_by_world
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts, trainable

EMBEDDINGS = "embeddings.safetensors"


def evaluate(
    document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str
) -> None:
    """Score a method, and leave ``scores.safetensors`` and ``costs.json``, and ``embeddings.safetensors`` where they
    are kept, in a folder.

    Args:
        document: ``class``, ``settings`` (a method's own, and those of its ``scoring``), ``seed``, ``threads``,
            ``feasibility`` and ``keeps``.
        needs: verified folders: ``data``, an index; for a method on a backbone ``features``, ``pixels`` and
            ``backbone``; ``run``, of the training whose checkpoint is scored; ``words``, the folder or the file of
            GloVe, where feasibility asks for it.
        folder: where results are left.
        hardware: where torch computes.
        title: what progress is reported under.
    """
    scores = (_scores_on_backbone if "backbone" in needs else _scores_alone)(document, needs, folder, hardware, title)
    scores.write(folder / FILE)


def _scores_alone(
    document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, _: Hardware, title: str
) -> Scores:
    """The scores of a method that needs no backbone."""
    method = method_class(document)(document["seed"], **own_settings(document["settings"]))
    costs = EvaluationCosts(0, None)
    with costs.scoring():
        scores = score_worlds(read_index(needs["data"]), world_by_world(method.scorer), title=title)
    costs.write(folder / COSTS)
    return scores


def _scores_on_backbone(
    document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str
) -> Scores:
    """The scores of a method on a backbone, brought to a run's checkpoint where there is one."""
    import torch

    from recompose.tracks.czsl.scoring import read_feasibility, restore_run, scorer_of, write_embeddings

    torch.set_num_threads(document["threads"])
    device = hardware.device
    feasibility = read_feasibility(document["feasibility"], needs, device)
    method, data, inputs = prepared_method(document, needs)
    method.scored_with(**document["settings"].get("scoring", {}))
    if "run" in needs:
        restore_run(method, needs["run"])
    costs = EvaluationCosts(trainable(method), device)
    with costs.scoring():
        scores = score_worlds(data, scorer_of(method, data, inputs, device), feasibility, title)
    costs.write(folder / COSTS)
    if "embeddings" in document["keeps"]:
        write_embeddings(method, data, inputs, device, folder / EMBEDDINGS)
    return scores
