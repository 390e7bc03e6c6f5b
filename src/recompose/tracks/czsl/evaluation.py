"""An evaluation: a trained run, or an untrained method, scores the validation and test images of all worlds."""

from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
import torch

from recompose.backbones.arrays import StoredArray
from recompose.recipes.plan import Recipe
from recompose.tracks.building import CHECKPOINT, SCORES, Settings, TypedSettings, method_class
from recompose.tracks.czsl.building import backbone_copy, prepare_method
from recompose.tracks.czsl.data.glove import ARCHIVE, MEMBER, read_glove
from recompose.tracks.czsl.data.pairs import PairData, read_index
from recompose.tracks.czsl.methods.base import Compared, PairMethod
from recompose.tracks.czsl.methods.prompts import text_vectors
from recompose.tracks.czsl.metrics.feasibility import feasibility
from recompose.tracks.czsl.metrics.worlds import IMAGE_BLOCK, PairScores, WorldEvaluation, score_worlds
from recompose.tracks.evaluating import Scoring, Watch
from recompose.training.checkpoint import restore
from recompose.training.resources import trainable


class WorldScoring(Scoring[PairScores]):
    """A pass of a method without a backbone over the images of the closed and of the open world."""

    def build(self) -> None:
        """Build the method."""
        (document,) = self.documents
        self._method = method_class(document)(document["seed"], TypedSettings(document).own)
        self._data = read_index(self.needs["data"])

    def score(self, watch: Watch) -> Sequence[PairScores]:
        """Score all images of validation and test in the closed and in the open world."""
        return [score_worlds(self._data, self._method.score, title=self.title)]

    def write(self, scores: PairScores, folder: Path) -> None:
        """Write ``scores.safetensors``."""
        scores.write(folder / SCORES)


class PairScoring(WorldScoring):
    """The same of a method on a backbone: images and texts are encoded once for all scorings.

    The documents have the settings of ``feasibility``, too. Needs are ``data``, ``features``, ``pixels`` and
    ``backbone``; ``run``, the training whose checkpoint is scored; ``words``, the folder or the file of GloVe, if
    feasibility needs it.
    """

    def build(self) -> None:
        """Build the method, as its run left it."""
        self._feasibility = read_feasibility(self.documents[0]["feasibility"], self.needs, self.device)
        self._method, self._data, self._inputs = prepare_method(self.documents[0], self.needs)
        self._scorings = [TypedSettings(document).scoring for document in self.documents]
        if "run" in self.needs:
            restore(self._method, self.needs["run"] / CHECKPOINT)
        self.trainable_parameters = trainable(self._method)

    @torch.no_grad()
    def score(self, watch: Watch) -> Sequence[PairScores]:
        """Score all images of validation and test in the closed and in the open world: texts are encoded once for each
        world, and images once for all.
        """
        method, device, scorings = self._method.eval().to(self.device), self.device, self._scorings
        evaluation = WorldEvaluation(self._data, self._feasibility, len(scorings))
        texts = {
            world: method.encode_texts([torch.from_numpy(self._data.indices(pairs)).to(device) for pairs in blocks])
            for world, blocks in evaluation.pairs.items()
        }
        with_totals = [position for position, scoring in enumerate(scorings) if method.needs_totals(scoring)]
        for block in evaluation.images(self.title):
            images = method.encode_images(torch.from_numpy(self._inputs[block.rows]).to(device))
            for world, texts_of_world in texts.items():
                compared = Compared(method, images, texts_of_world)
                log_totals: tuple[torch.Tensor, ...] = ()
                if with_totals:
                    with watch(*with_totals):
                        log_totals = method.log_totals(compared)
                for number, parts in enumerate(compared):
                    for position, scoring in enumerate(scorings):
                        with watch(position):
                            scores = method.score(parts, scoring, world, log_totals)
                            evaluation.update(block, world, number, scores, position)
        return [evaluation.result(position) for position in range(len(scorings))]

    def embeddings(self) -> dict[str, torch.Tensor]:
        """Return the vectors of test images, and of the closed world's pairs."""
        return embeddings(self._method, self._data, self._inputs, self.device)


def evaluate(recipes: Mapping[Path, Recipe], needs: Mapping[str, Path]) -> None:
    """Score a method, with a backbone or without; see ``Scoring.evaluate``."""
    scoring = PairScoring if "backbone" in needs else WorldScoring
    scoring.evaluate(recipes, needs)


@torch.no_grad()
def embeddings(
    method: PairMethod, data: PairData, inputs: np.ndarray | StoredArray, device: torch.device
) -> dict[str, torch.Tensor]:
    """Return the vectors that figures show: of test images, and of the closed world's pairs."""
    method.eval().to(device)
    pairs = torch.from_numpy(data.indices(data.pairs)).to(device)
    rows = data.rows("test")
    blocks = [rows[start : start + IMAGE_BLOCK] for start in range(0, len(rows), IMAGE_BLOCK)]
    parts = [method.image_embeddings(torch.from_numpy(inputs[block]).to(device)) for block in blocks]
    images = {name: torch.cat([part[name] for part in parts]) for name in parts[0]}
    vectors = images | method.pair_embeddings(pairs)
    return {name: tensor.float().cpu().contiguous() for name, tensor in vectors.items()}


def read_feasibility(section: Settings | None, needs: Mapping[str, Path], device: torch.device) -> np.ndarray | None:
    """Return the feasibility [states, objects] of every pair by an evaluation's document, or None without such
    settings.

    Raises:
        WordVectorsError: the file of GloVe is another one, or has no word of a name.
    """
    if section is None:
        return None
    if section["vectors"] == "glove":
        return _feasibility_by_glove(needs["data"], needs["words"])
    return _feasibility_by_text(needs["data"], needs["backbone"], section["prompt"], device)


@lru_cache(maxsize=4)
def _feasibility_by_text(index: Path, folder: Path, prompt: str, device: torch.device) -> np.ndarray:
    """Return the feasibility by the backbone's texts of a state and an object."""
    data, backbone = read_index(index), backbone_copy(folder).to(device)
    states, objects = (text_vectors(backbone, names, prompt) for names in (data.states, data.objects))
    return feasibility(states, objects, data.seen_matrix)


@lru_cache(maxsize=4)
def _feasibility_by_glove(index: Path, words: Path) -> np.ndarray:
    """Return the feasibility by GloVe's vectors of the words of a state and an object, as in the released code."""
    data, inside = read_index(index), [path for path in (words / MEMBER, words / ARCHIVE) if path.exists()]
    vectors = read_glove(next(iter(inside), words), [*data.states, *data.objects])
    return feasibility(vectors[: len(data.states)], vectors[len(data.states) :], data.seen_matrix)
