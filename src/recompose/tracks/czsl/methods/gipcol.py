"""GIPCOL: the words of a prompt go through a graph of states, objects and pairs (Xu et al., 2024; HLR/GIPCOL at
aea6274).
"""

from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TextMethod, TrainingPrior
from recompose.tracks.czsl.methods.prompts import SlottedPrompt, mean_token_embeddings
from recompose.tracks.czsl.methods.settings import GipcolSettings, GipcolTraining, PairTrainingSettings


class GIPCOL(TextMethod):
    """A learned context before vectors of words, which two graph convolutions compute from the words' token embeddings.

    The graph's nodes are states, objects and the pairs of the closed world; a pair begins at the mean of its two words.
    A pair, its state and its object are neighbours, and each node is its own neighbour. The released code weighs the
    edges of its open world by feasibility; here one graph serves both worlds.
    """

    settings_class = GipcolSettings
    words: Tensor
    pairs: Tensor

    def __init__(self, backbone: Backbone, states: list[str], objects: list[str], settings: GipcolSettings) -> None:
        super().__init__(backbone)
        self._states = len(states)
        self.prompt = SlottedPrompt(backbone, settings.prompt)
        self.context = nn.Parameter(self.prompt.context.clone())
        words = mean_token_embeddings(backbone, [*states, *objects])
        self.register_buffer("words", words, persistent=False)
        self.register_buffer("pairs", torch.zeros(0, 2, dtype=torch.long), persistent=False)
        width = words.shape[1]
        self.convolutions = nn.ModuleList([nn.Linear(width, settings.hidden), nn.Linear(settings.hidden, width)])
        self.graph_dropout, self.dropout = nn.Dropout(settings.graph_dropout), nn.Dropout(settings.dropout)

    def parameter_groups(self, training: PairTrainingSettings) -> list[dict[str, Any]]:
        """Return the prompt's context and the graph's convolutions (``GraphPrompt.py:263`` of the released code)."""
        assert isinstance(training, GipcolTraining)
        rates = {"lr": training.graph_lr, "weight_decay": training.graph_weight_decay}
        graph = {name: value for name, value in rates.items() if value is not None}
        return [{"params": [self.context]}, {"params": list(self.convolutions.parameters()), **graph}]

    def prepare(self, prior: TrainingPrior) -> None:
        """Build the graph of the data set's pairs."""
        self.pairs = prior.pairs

    def _mean_of_neighbours(self) -> Tensor:
        """Return the sparse matrix [nodes, nodes] of the mean over each node's neighbours; states first, then objects,
        then pairs.
        """
        states, objects = self.pairs[:, 0], self.pairs[:, 1] + self._states
        nodes = torch.arange(len(self.words) + len(self.pairs), device=self.words.device)
        made = nodes[len(self.words) :]
        edges = [(nodes, nodes), (states, objects), (objects, states)]
        edges += [(made, states), (states, made), (made, objects), (objects, made)]
        into, out = (torch.cat(ends) for ends in zip(*edges, strict=True))
        weights = 1 / torch.bincount(into)[into].float()
        shape = (len(nodes), len(nodes))
        return torch.sparse_coo_tensor(torch.stack([into, out]), weights, shape, check_invariants=True)

    def vectors(self) -> Tensor:
        """Return the graph's vectors [states + objects, D] of words."""
        first, second = self.convolutions
        composed = (self.words[self.pairs[:, 0]] + self.words[self.pairs[:, 1] + self._states]) / 2
        with torch.autocast(self.words.device.type, enabled=False):  # there are no sparse products in 16 bits
            mean, x = self._mean_of_neighbours(), torch.cat([self.words, composed])
            x = (torch.sparse.mm(mean, self.graph_dropout(x) @ first.weight.T) + first.bias).relu()
            x = torch.sparse.mm(mean, self.graph_dropout(x) @ second.weight.T) + second.bias
        return x[: len(self.words)]

    def encode_pairs(self, pairs: Tensor) -> Tensor:
        """Return text embeddings [pairs, E], of unit length, of pairs [pairs, 2]; all share one dropout mask of the
        words' vectors.
        """
        vectors = self.dropout(self.vectors())
        states, objects = vectors[pairs[:, 0]], vectors[pairs[:, 1] + self._states]
        return normalize(self.prompt.encode(self.backbone, self.context, states, objects), dim=-1)
