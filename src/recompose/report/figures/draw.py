"""Which way each kind of figure is drawn."""

from collections.abc import Callable

from recompose.papers.declaration import Artifact
from recompose.report.figures.plots import draw_curves, draw_sweep
from recompose.report.figures.style import Sheet, styled
from recompose.tracks.czsl.figures.galleries import draw_predictions, draw_retrieval, draw_swapping
from recompose.tracks.czsl.figures.maps import draw_prototypes, draw_samples, draw_training
from recompose.workspace import Workspace

DRAWN: dict[str, Callable[[Workspace, Artifact, Sheet], None]] = {
    "curves": draw_curves,
    "sweep": draw_sweep,
    "prototypes": draw_prototypes,
    "samples": draw_samples,
    "training": draw_training,
    "predictions": draw_predictions,
    "retrieval": draw_retrieval,
    "swapping": draw_swapping,
}


def draw(work: Workspace, artifact: Artifact, sheet: Sheet) -> None:
    """Draw a figure from the runs that are there."""
    with styled():
        DRAWN[artifact.kind](work, artifact, sheet)
