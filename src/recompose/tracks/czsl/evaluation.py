"""An evaluation: a trained run, or an untrained method, scores the validation and test images of all worlds.

A method without a backbone is evaluated without importing torch.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.tracks.building import CHECKPOINT, SCORES, Document, TypedSettings, method_class
from recompose.tracks.czsl.building import prepare_method
from recompose.tracks.czsl.data.pairs import read_index
from recompose.tracks.czsl.metrics.worlds import PairScores, score_worlds
from recompose.tracks.evaluating import Scoring, Watch
from recompose.training.hardware import Hardware
from recompose.training.resources import trainable

if TYPE_CHECKING:
    import torch


class PairScoring(Scoring[PairScores]):
    """A pass of a method on a backbone over the images: these and texts are encoded once for all scorings.

    The documents have the settings of ``feasibility``, too. Needs are ``data``, ``features``, ``pixels`` and
    ``backbone``; ``run``, the training whose checkpoint is scored; ``words``, the folder or the file of GloVe, if
    feasibility needs it.
    """

    def __init__(
        self, documents: Sequence[Document], needs: Mapping[str, Path], device: "torch.device | None", title: str
    ) -> None:
        from recompose.tracks.czsl.scoring import read_feasibility
        from recompose.training.checkpoint import restore

        assert device is not None
        self._device, self._title = device, title
        self._feasibility = read_feasibility(documents[0]["feasibility"], needs, device)
        self._method, self._data, self._inputs, _ = prepare_method(documents[0], needs)
        self._scorings = [TypedSettings(document).scoring for document in documents]
        if "run" in needs:
            restore(self._method, needs["run"] / CHECKPOINT)
        self.trainable_parameters = trainable(self._method)

    def score(self, watch: Watch) -> Sequence[PairScores]:
        """Score all images of validation and test in the closed and in the open world."""
        from recompose.tracks.czsl.scoring import score_method

        inputs = self._method, self._data, self._inputs, self._device
        return score_method(*inputs, self._scorings, self._feasibility, self._title, watch)

    def embeddings(self) -> "dict[str, torch.Tensor]":
        """Return the vectors of test images, and of the closed world's pairs."""
        from recompose.tracks.czsl.scoring import embeddings

        return embeddings(self._method, self._data, self._inputs, self._device)

    def write(self, scores: PairScores, folder: Path) -> None:
        """Write ``scores.safetensors``."""
        scores.write(folder / SCORES)


class ChanceScoring(Scoring[PairScores]):
    """A pass of a method that needs no backbone."""

    needs_torch = False

    def __init__(
        self, documents: Sequence[Document], needs: Mapping[str, Path], device: "torch.device | None", title: str
    ) -> None:
        (document,) = documents
        self._method = method_class(document)(document["seed"], TypedSettings(document).own)
        self._data, self._title = read_index(needs["data"]), title

    def score(self, watch: Watch) -> Sequence[PairScores]:
        """Score all images of validation and test in the closed and in the open world."""
        return [score_worlds(self._data, self._method.score, title=self._title)]

    def write(self, scores: PairScores, folder: Path) -> None:
        """Write ``scores.safetensors``."""
        scores.write(folder / SCORES)


def evaluate(documents: Mapping[Path, Document], needs: Mapping[str, Path], hardware: Hardware, title: str) -> None:
    """Score a method, with a backbone or without; see ``Scoring.evaluate``."""
    scoring = PairScoring if "backbone" in needs else ChanceScoring
    scoring.evaluate(documents, needs, hardware, title)
