"""GIPCOL against a graph written out as lists of neighbours, and as a dense matrix."""

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.gipcol import GIPCOL
from recompose.tracks.czsl.methods.settings import GipcolTraining
from tests.precision import assert_close
from tests.tracks.czsl.methods import derivations
from tests.tracks.czsl.methods.derivations import BLOCKS, OBJECTS, PAIRS, STATES

pytestmark = pytest.mark.usefixtures("in_64_bits")

SETTINGS: dict[str, Any] = {"prompt": "a photo of {state} {object}", "hidden": 24, "graph_dropout": 0.0, "dropout": 0.0}
CLOSED = [[2, 1], [0, 1], [0, 0], [1, 1]]  # of the graph, in an order of its own
NAMES = len(STATES) + len(OBJECTS)


def build(backbone: Backbone, *, pairs: list[list[int]] = CLOSED, **changed: Any) -> Any:
    """A method in evaluation mode, prepared with these pairs; nothing in it stands where it begins."""
    torch.manual_seed(5)
    method = derivations.method_of(GIPCOL, backbone, STATES, OBJECTS, **(SETTINGS | changed)).eval()
    unseen = torch.zeros(0, backbone.width), torch.zeros(0, 2, dtype=torch.long)
    method.prepare(TrainingPrior(torch.tensor(pairs), *unseen))
    derivations.unsettle(method)
    return method


# the graph, written out


def neighbours(pairs: list[list[int]]) -> list[set[int]]:
    """Of each node, states first, then objects, then pairs: itself and what it stands in a pair with."""
    actual = [{node} for node in range(NAMES + len(pairs))]
    for number, (state, name) in enumerate(pairs):
        triangle = {state, len(STATES) + name, NAMES + number}
        for node in triangle:
            actual[node] |= triangle
    return actual


def adjacency(pairs: list[list[int]]) -> Tensor:
    """The dense matrix whose product with nodes [nodes, D] is the mean over each node's neighbours."""
    near = neighbours(pairs)
    return torch.tensor([[(other in mine) / len(mine) for other in range(len(near))] for mine in near])


def nodes(method: Any, pairs: list[list[int]]) -> Tensor:
    """Names' words, and for each pair the mean of its two."""
    made_of = [(method.words[state] + method.words[len(STATES) + name]) / 2 for state, name in pairs]
    return torch.stack([*method.words, *made_of])


def plain_vectors(method: Any, pairs: list[list[int]]) -> Tensor:
    """Two graph convolutions by dense products, a ReLU between them; what names become."""
    mean = adjacency(pairs)
    first, second = method.convolutions
    hidden = (mean @ (nodes(method, pairs) @ first.weight.T) + first.bias).clamp(min=0)
    return (mean @ (hidden @ second.weight.T) + second.bias)[:NAMES]


def plain_pairs(method: Any, vectors: Tensor) -> Tensor:
    """The texts [pairs, E], one prompt at a time."""
    texts = [
        derivations.plain_prompt(method.backbone, list(method.context), vectors[state], vectors[len(STATES) + name])
        for state, name in PAIRS
    ]
    return torch.stack([text / text.norm() for text in texts])


# the graph


@torch.no_grad()
@pytest.mark.parametrize("pairs", [CLOSED, CLOSED[:1]], ids=["four", "one"])
def test_words_go_through_two_convolutions_of_dense_matrices(backbone: Backbone, pairs: list[list[int]]) -> None:
    method = build(backbone, pairs=pairs)
    expected = plain_vectors(method, pairs)
    assert_close(method.vectors(), expected)
    assert (expected == 0).sum() == 0
    csp = derivations.method_of(CSP, backbone, STATES, OBJECTS, prompt=SETTINGS["prompt"], dropout=0.0)
    assert torch.equal(method.words, csp.primitives)  # where CSP's vectors begin


# texts and scores


@torch.no_grad()
def test_pairs_outside_the_graph_are_scored_as_those_in_it(backbone: Backbone) -> None:
    method = build(backbone)
    images = torch.randn(3, backbone.width, generator=torch.Generator().manual_seed(4)) * 3
    expected = derivations.plain_logits(backbone, images, plain_pairs(method, plain_vectors(method, CLOSED)))
    actual = torch.cat(list(method.scores(images, method.encode_texts(BLOCKS), "open")), dim=1)
    assert_close(actual, expected)


# training


@torch.no_grad()
def test_what_goes_into_each_convolution_is_dropped(backbone: Backbone) -> None:
    method = build(backbone, graph_dropout=0.5).train()
    mean, x = adjacency(CLOSED), nodes(method, CLOSED)
    first, second = method.convolutions
    torch.manual_seed(3)
    masks = [dropout(torch.ones(len(x), width), 0.5) for width in (backbone.text_width, 24)]
    hidden = (mean @ (x * masks[0] @ first.weight.T) + first.bias).clamp(min=0)
    expected = mean @ (hidden * masks[1] @ second.weight.T) + second.bias
    torch.manual_seed(3)
    assert_close(method.vectors(), expected[:NAMES])


def test_the_graph_may_have_a_rate_and_a_decay_of_its_own(backbone: Backbone) -> None:
    method = build(backbone)
    plain = {"lr": 5e-4, "weight_decay": 1e-5, "batch_size": 2, "accumulate": 1, "epochs": 1}
    for extra, rates in (
        ({}, [(5e-4, 1e-5), (5e-4, 1e-5)]),
        ({"graph_lr": 5e-5, "graph_weight_decay": 5e-5}, [(5e-4, 1e-5), (5e-5, 5e-5)]),
    ):
        training = GipcolTraining.model_validate(plain | extra)
        optimizer = torch.optim.Adam(method.parameter_groups(training), lr=5e-4, weight_decay=1e-5)
        assert [(group["lr"], group["weight_decay"]) for group in optimizer.param_groups] == rates
        (context,), graph = (group["params"] for group in optimizer.param_groups)
        assert context is method.context
        assert len(graph) == 4 and all(any(one is two for two in method.convolutions.parameters()) for one in graph)
