"""What the files of a complete run say, from files whose digests were checked."""

from typing import Any

import numpy as np
from safetensors.numpy import load_file

from recompose.files import read_json
from recompose.phases import COSTS, EMBEDDINGS
from recompose.plan import Run
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.metrics.czsl import Curve, dense_curve
from recompose.tracks.czsl.metrics.worlds import FILE, Scores
from recompose.workspace import Workspace

INDEXED = ("pairs.json", "samples.csv")  # the files of an index that ``PairData`` reads


def read_metrics(work: Workspace, run: Run) -> dict[str, Any]:
    """A run's numbers, as fractions, under ``<split>/<world>``."""
    return work.metrics_of(run)


def read_costs(work: Workspace, run: Run) -> dict[str, Any]:
    """What a run on a backbone cost."""
    costs: dict[str, Any] = read_json(work.runs.file(run, COSTS))
    return costs


def read_scores(work: Workspace, run: Run) -> Scores:
    """The best pairs of its test and validation images."""
    return Scores.read(work.runs.file(run, FILE))


def read_curve(work: Workspace, run: Run, world: str) -> Curve:
    """Seen and unseen accuracy on test images over all biases."""
    return dense_curve(read_scores(work, run).best("test", world))


def read_embeddings(work: Workspace, run: Run) -> dict[str, np.ndarray]:
    """What a run kept for figures."""
    found: dict[str, np.ndarray] = load_file(work.runs.file(run, EMBEDDINGS))
    return found


def read_pairs(work: Workspace, dataset: str) -> PairData:
    """The index of a data set."""
    store, recipe = work.store("index"), work.plan.datasets[dataset]
    for name in INDEXED:
        store.file(recipe, name)
    return PairData.read(store.folder(recipe))
