"""What methods with three paths from an image to a pair are made of: as a whole, by its state and by its object.

Symbols: E is the width of the joint space, D of the text tower; P, S and O are the numbers of pairs, states and
objects.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings
from recompose.tracks.czsl.methods.settings import PairSelection, ThreePathScoring, ThreePathSettings

PATHS = ("pair", "state", "object")
PathScoring: TypeAlias = PairSelection | ThreePathScoring  # the fusion of the paths into one score


@dataclass(frozen=True)
class Views:
    """The views of images by the paths: an embedding [images, E] for each path, and the tokens that texts attend to."""

    pair: Tensor
    state: Tensor
    object: Tensor
    tokens: tuple[Any, ...]


@dataclass(frozen=True)
class TextBlock:
    """A block of a world: its pairs [P, 2] and texts [P, E], and the texts of all states [S, E] and objects [O, E]."""

    index: Tensor
    pairs: Tensor
    states: Tensor
    objects: Tensor


@dataclass(frozen=True)
class Parts:
    """The parts of the scores of images and a block's pairs [P, 2]: the logits [images, P] of each way to score a pair
    as a whole, and the probabilities of all states [images, S] and objects [images, O].
    """

    index: Tensor
    wholes: tuple[Tensor, ...]
    states: Tensor
    objects: Tensor

    @cached_property
    def apart(self) -> Tensor:
        """The products p(state) p(object) [images, P]."""
        return self.states[:, self.index[:, 0]] * self.objects[:, self.index[:, 1]]


class PathPrompts(nn.Module):
    """Three learned contexts, of pairs, states and objects, before learned vectors of states and objects that they
    share.

    They begin as the token embeddings of the template and of the names.
    """

    def __init__(
        self, backbone: Backbone, states: list[str], objects: list[str], template: str, dropout: float
    ) -> None:
        super().__init__()
        self.prompt = SlottedPrompt(backbone, template)
        self.contexts = nn.ParameterDict({path: self.prompt.context.clone() for path in PATHS})
        self.primitives = nn.Parameter(mean_token_embeddings(backbone, [*states, *objects]))
        self.dropout = nn.Dropout(dropout)
        self._states = len(states)

    def words(self) -> tuple[Tensor, Tensor]:
        """Return the vectors of states [S, D] and objects [O, D]; all prompts share one dropout mask."""
        primitives = self.dropout(self.primitives)
        return primitives[: self._states], primitives[self._states :]

    def encode(self, backbone: Backbone, path: str, *words: Tensor) -> Tensor:
        """Return text embeddings [texts, E], not normalised, of a path's prompts with these words [texts, D]."""
        return self.prompt.encode(backbone, self.contexts[path], *words)


def disentangler_of(settings: ThreePathSettings, width: int) -> Disentangler:
    """Return a disentangler of embeddings of this width by a method's settings."""
    return Disentangler(
        width,
        settings.disentangler_layers,
        settings.disentangler_dropout,
        end=settings.disentangler_end,
        start=settings.disentangler_start,
    )


def weights_of(scoring: PathScoring, world: str) -> Sequence[float]:
    """Return the weights of a score's parts in a world; validation, in the closed world alone, has one set."""
    if isinstance(scoring, PairSelection):
        return scoring.weights
    return {"closed": scoring.closed, "open": scoring.open}[world]
