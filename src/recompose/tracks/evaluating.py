"""Evaluations: threads, devices, costs and files, the same for all tracks."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Generic, TypeAlias, TypeVar

import torch
from safetensors.torch import save_file

from recompose.files import write_atomically
from recompose.recipes.plan import Recipe
from recompose.tracks.building import COSTS, EMBEDDINGS, Document
from recompose.training.hardware import Hardware
from recompose.training.resources import EvaluationCosts

Scores = TypeVar("Scores")
Watch: TypeAlias = Callable[..., AbstractContextManager[None]]


class Scoring(ABC, Generic[Scores]):
    """One pass of a method over a benchmark, for evaluations that differ only in their scorings and in what they save.

    Args:
        documents: of the evaluations.
        needs: the verified folders that they need.
        device: where to compute.
        title: the title of progress reports.
    """

    trainable_parameters = 0

    def __init__(
        self, documents: Sequence[Document], needs: Mapping[str, Path], device: torch.device, title: str
    ) -> None:
        self.documents, self.needs, self.device, self.title = documents, needs, device, title
        self.build()

    @abstractmethod
    def build(self) -> None:
        """Build the method, as its run left it."""

    @abstractmethod
    def score(self, watch: Watch) -> Sequence[Scores]:
        """Return the scores of each evaluation.

        Args:
            watch: a context for the work that serves only the evaluations at some positions.
        """

    @abstractmethod
    def write(self, scores: Scores, folder: Path) -> None:
        """Write the scores of an evaluation into its folder."""

    def save(self, names: Collection[str], folder: Path) -> None:
        """Write what an evaluation saves besides scores, all for figures."""
        if "embeddings" in names:
            vectors = self.embeddings()
            write_atomically(folder / EMBEDDINGS, lambda path: save_file(vectors, path))

    def embeddings(self) -> dict[str, torch.Tensor]:
        """Return the vectors that figures show, by name.

        Raises:
            NotImplementedError: the method has none.
        """
        raise NotImplementedError(f"{type(self).__name__} has no embeddings to show")

    @classmethod
    def evaluate(cls, recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
        """Score a method, and write its scores, ``costs.json``, and what a document saves into its folder; by several
        scorings in one pass, with the results of separate evaluations to the bit.

        Args:
            recipes: by the folder of the results. Documents have ``class``, ``settings`` (a method's own, and those of
                its ``scoring``), ``trainer`` where the method has a backbone, and ``save``. They differ only in
                ``scoring`` and ``save``. The first one's name is the title of progress reports.
            needs: the verified folders that the track's evaluations need, ``run`` of a trained method.
        """
        documents = {folder: recipe.document for folder, recipe in recipes.items()}
        first = next(iter(recipes.values()))
        title = f"{first.name} and {len(recipes) - 1} more scorings" if len(recipes) > 1 else first.name
        torch.set_num_threads(first.trainer.get("threads", 1))
        device = Hardware.of(first.trainer).device
        scoring = cls([*documents.values()], needs, device, title)
        costs = EvaluationCosts(scoring.trainable_parameters, device, len(documents))
        with costs.scoring():
            by_document = scoring.score(costs.time_separately)
        for position, folder in enumerate(documents):
            costs.write(folder / COSTS, position)
        for (folder, document), scores in zip(documents.items(), by_document, strict=True):
            scoring.save(document["save"], folder)
            scoring.write(scores, folder)
