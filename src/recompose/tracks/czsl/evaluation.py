"""An evaluation: a trained run, or an untrained method, scores the validation and test images of all worlds.

What is not needed is not imported: a method without a backbone is evaluated without torch.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from recompose.tracks.building import COSTS, method_class, model_settings
from recompose.tracks.czsl.building import prepared_method, read_index
from recompose.tracks.czsl.metrics.worlds import FILE, score_worlds, score_worlds_by, world_by_world
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
    if "backbone" in needs:
        evaluate_together({folder: document}, needs, hardware, title)
    else:
        _evaluate_alone(document, needs, folder, title)


def _evaluate_alone(document: Mapping[str, Any], needs: Mapping[str, Path], folder: Path, title: str) -> None:
    """Score a method that needs no backbone."""
    method = method_class(document)(document["seed"], **model_settings(document["settings"]))
    costs = EvaluationCosts(0, None)
    with costs.scoring():
        scores = score_worlds(read_index(needs["data"]), world_by_world(method.scorer), title=title)
    costs.write(folder / COSTS)
    scores.write(folder / FILE)


def evaluate_together(
    documents: Mapping[Path, Mapping[str, Any]], needs: Mapping[str, Path], hardware: Hardware, title: str
) -> None:
    """Score a method on a backbone, brought to a run's checkpoint where there is one, by several settings of scores:
    images and texts are encoded once, and what is left is that of each alone, to the bit.

    Args:
        documents: by the folder where results are left; they differ in ``scoring`` and ``keeps`` alone.
        needs, hardware, title: as for a single one.
    """
    import torch

    from recompose.tracks.czsl.scoring import fusions, parts_of, read_feasibility, restore_run, write_embeddings

    document = next(iter(documents.values()))
    torch.set_num_threads(document["threads"])
    device = hardware.device
    feasibility = read_feasibility(document["feasibility"], needs, device)
    method, data, inputs = prepared_method(document, needs)
    scorings = [method.scoring_of(**each["settings"].get("scoring", {})) for each in documents.values()]
    if "run" in needs:
        restore_run(method, needs["run"])
    costs = EvaluationCosts(trainable(method), device, len(documents))
    with costs.scoring():
        scorer = parts_of(method, data, inputs, device, scorings, costs.own)
        scores = score_worlds_by(data, scorer, fusions(method, scorings), feasibility, title, costs.own)
    for place, folder in enumerate(documents):
        costs.write(folder / COSTS, place)
    for (folder, each), of_each in zip(documents.items(), scores, strict=True):
        if "embeddings" in each["save"]:
            write_embeddings(method, data, inputs, device, folder / EMBEDDINGS)
        of_each.write(folder / FILE)
