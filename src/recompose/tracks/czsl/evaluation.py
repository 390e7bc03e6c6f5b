"""An evaluation: a trained run, or an untrained method, scores the validation and test images of all worlds.

A method without a backbone is evaluated without importing torch.
"""

from collections.abc import Mapping
from pathlib import Path

from recompose.tracks.building import CHECKPOINT, COSTS, Document, TypedSettings, method_class
from recompose.tracks.czsl.building import prepare_method, read_index
from recompose.tracks.czsl.metrics.worlds import FILE, score_worlds
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts, trainable

EMBEDDINGS = "embeddings.safetensors"


def evaluate(document: Document, needs: Mapping[str, Path], folder: Path, hardware: Hardware, title: str) -> None:
    """Score a method, and write ``scores.safetensors`` and ``costs.json``, and ``embeddings.safetensors`` if the
    document asks for it, into a folder.

    Args:
        document: ``class``, ``settings`` (a method's own, and those of its ``scoring``), ``seed``, ``threads``,
            ``feasibility`` and ``save``.
        needs: verified folders: ``data``, an index; for a method on a backbone ``features``, ``pixels`` and
            ``backbone``; ``run``, the training whose checkpoint is scored; ``words``, the folder or the file of
            GloVe, if feasibility needs it.
        folder: the folder of the results.
        hardware: the device of torch.
        title: the title of progress reports.
    """
    if "backbone" in needs:
        evaluate_together({folder: document}, needs, hardware, title)
    else:
        _evaluate_alone(document, needs, folder, title)


def _evaluate_alone(document: Document, needs: Mapping[str, Path], folder: Path, title: str) -> None:
    """Score a method that needs no backbone."""
    method = method_class(document)(document["seed"], TypedSettings(document).own)
    costs = EvaluationCosts(0, None)
    with costs.scoring():
        scores = score_worlds(read_index(needs["data"]), method.score, title=title)
    costs.write(folder / COSTS)
    scores.write(folder / FILE)


def evaluate_together(
    documents: Mapping[Path, Document], needs: Mapping[str, Path], hardware: Hardware, title: str
) -> None:
    """Score a method on a backbone, from a run's checkpoint if there is one, with several scoring settings. Images and
    texts are encoded once; the results equal those of separate evaluations to the bit.

    Args:
        documents: by the folder of the results; they differ only in ``scoring`` and ``save``.
        needs, hardware, title: as of ``evaluate``.
    """
    import torch

    from recompose.tracks.czsl.scoring import read_feasibility, score_method, write_embeddings
    from recompose.training.checkpoint import restore

    document = next(iter(documents.values()))
    torch.set_num_threads(document["threads"])
    device = hardware.device
    feasibility = read_feasibility(document["feasibility"], needs, device)
    method, data, inputs, _ = prepare_method(document, needs)
    scorings = [TypedSettings(evaluated).scoring for evaluated in documents.values()]
    if "run" in needs:
        restore(method, needs["run"] / CHECKPOINT)
    costs = EvaluationCosts(trainable(method), device, len(documents))
    with costs.scoring():
        scores = score_method(method, data, inputs, device, scorings, feasibility, title, costs.time_separately)
    for position, folder in enumerate(documents):
        costs.write(folder / COSTS, position)
    for (folder, evaluated), evaluation_scores in zip(documents.items(), scores, strict=True):
        if "embeddings" in evaluated["save"]:
            write_embeddings(method, data, inputs, device, folder / EMBEDDINGS)
        evaluation_scores.write(folder / FILE)
