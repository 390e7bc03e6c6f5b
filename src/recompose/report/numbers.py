"""What the files of a complete run say, from files whose digests were checked."""

from typing import Any

from recompose.files import read_json
from recompose.metrics.czsl import Curve, dense_curve
from recompose.metrics.worlds import FILE, Scores
from recompose.plan import Run
from recompose.workspace import Workspace


def read_metrics(work: Workspace, run: Run) -> dict[str, Any]:
    """A run's numbers, as fractions, under ``<split>/<world>``."""
    metrics: dict[str, Any] = read_json(work.runs.file(run, "metrics.json"))
    return metrics


def read_curve(work: Workspace, run: Run, world: str) -> Curve:
    """Seen and unseen accuracy on test images over all biases."""
    return dense_curve(Scores.read(work.runs.file(run, FILE)).best("test", world))
