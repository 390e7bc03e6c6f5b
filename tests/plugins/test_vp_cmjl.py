"""The example VP-CMJL against plain loops, derived from reading; its training; and its place in a plan."""

import math
import sys
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TrainingPrior
from tests.conftest import ROOT
from tests.precision import assert_close
from tests.tracks.czsl.methods import conftest
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    OBJECTS,
    PAIRS,
    STATES,
    method_of,
    plain_disentangled,
    plain_layers,
    plain_linear,
    plain_logits,
    plain_norm,
    plain_texts,
    plain_weights,
    unsettle,
)

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

EXAMPLE = ROOT / "examples/vp-cmjl"
SETTINGS: dict[str, Any] = {
    "prompt": "a photo of {state} {object}",
    "attribute_dropout": 0.0,
    "image_tower": "adapters",
    "adapter_bottleneck": 8,
    "adapter_dropout": 0.0,
    "disentangler_dropout": 0.0,
    "heads": 4,
    "loss_weights": [1.0, 0.5, 0.25],
    "selection": [0.6, 0.4],
}
SCORING = {"closed": [0.3, 0.7], "open": [0.8, 0.1]}
TARGETS = [3, 0, 2, 1]
NAMES = ("pairs", "states", "objects")

backbone, images = conftest.backbone, conftest.images  # fixtures


@pytest.fixture(scope="module", autouse=True)
def package() -> Iterator[None]:
    """The package is importable, as a plugin's is."""
    sys.path.append(str(EXAMPLE))
    yield
    sys.path.remove(str(EXAMPLE))


def vp_cmjl() -> Any:
    """The class."""
    return import_module("vp_cmjl.model").VpCmjl


def fresh(backbone: Backbone, **changed: Any) -> Any:
    """A method before training."""
    torch.manual_seed(5)
    method = method_of(vp_cmjl(), backbone, STATES, OBJECTS, **SETTINGS | changed)
    method.prepare(TrainingPrior(torch.tensor(PAIRS), torch.zeros(1, backbone.width), torch.tensor(PAIRS[:1])))
    return method


def unsettled(backbone: Backbone, **changed: Any) -> Any:
    """A method away from where it begins, in evaluation."""
    method = fresh(backbone, **changed).eval()
    unsettle(method)
    return method


def plain_attention(block: Any, view: Tensor, texts: Tensor) -> tuple[Tensor, Tensor]:
    """An image [E] after attention to texts, one head at a time, and the mean weights [texts] of the heads."""
    attention, size = block.attention, len(view) // block.attention.num_heads
    weight, bias = attention.in_proj_weight, attention.in_proj_bias
    query, seen = plain_norm(block.norm, view), plain_norm(block.norm_texts, texts)
    q, k, v = (
        x @ weight[part * len(view) : (part + 1) * len(view)].T + bias[part * len(view) : (part + 1) * len(view)]
        for part, x in enumerate((query, seen, seen))
    )
    values, weights = [], []
    for head in range(attention.num_heads):
        columns = slice(head * size, (head + 1) * size)
        weights.append(plain_weights(k[:, columns] @ q[columns] / math.sqrt(size)))
        values.append(weights[-1] @ v[:, columns])
    view = view + plain_linear(attention.out_proj, torch.cat(values))
    norm, up, _, _, down, _ = block.feed_forward
    hidden = plain_linear(up, plain_norm(norm, view))
    view = view + plain_linear(down, hidden / (1 + (-1.702 * hidden).exp()))
    return view, sum(weights) / len(weights)  # type: ignore[return-value]


@torch.no_grad()
def plain_branches(method: Any, images: Tensor, *, training: bool = False) -> dict[str, tuple[Tensor, Tensor]]:
    """The logits [images, ...] of visual proxies and of texts, of pairs, states and objects."""
    backbone = method.backbone
    whole = plain_layers(method, images)[-1][:, 0]
    texts, scale = plain_texts(method, len(STATES), PAIRS), math.exp(float(backbone.model.logit_scale))
    proxies = [
        method.compose.weight @ torch.cat([method.state_proxies[s], method.object_proxies[o]]) + method.compose.bias
        for s, o in PAIRS
    ]
    logits = {
        "pairs": (plain_logits(backbone, whole, torch.stack(proxies)), plain_logits(backbone, whole, texts["pair"]))
    }
    for name, head, block, own, kind in (
        ("states", method.of_state, method.to_states, method.state_proxies, "state"),
        ("objects", method.of_object, method.to_objects, method.object_proxies, "object"),
    ):
        rows = []
        for view in whole:
            attended, weights = plain_attention(block, view, texts[kind])
            rows.append(plain_logits(backbone, attended[None], texts[kind])[0] + scale * weights)
        logits[name] = plain_logits(backbone, plain_disentangled(head, whole, training), own), torch.stack(rows)
    return logits


def plain_scores(branches: dict[str, tuple[Tensor, Tensor]], weights: list[float]) -> Tensor:
    """The scores [images, pairs]: a mixed logit of the pair, and two probabilities."""
    rows = []
    for image in range(len(branches["pairs"][0])):
        mixed = {name: weights[0] * a[image] + weights[1] * b[image] for name, (a, b) in branches.items()}
        states, objects = plain_weights(mixed["states"]), plain_weights(mixed["objects"])
        rows.append([float(mixed["pairs"][n] + states[s] + objects[o]) for n, (s, o) in enumerate(PAIRS)])
    return torch.tensor(rows)


def plain_total(branches: dict[str, tuple[Tensor, Tensor]], weights: list[float]) -> float:
    """The loss, image by image."""
    total = 0.0
    for image, target in enumerate(TARGETS):
        labels = dict(zip(NAMES, (target, *PAIRS[target]), strict=True))
        entropy = {
            name: -sum(math.log(plain_weights(logits[image])[labels[name]]) for logits in branches[name])
            for name in NAMES
        }
        proxies, texts = (plain_weights(logits[image]).tolist() for logits in branches["pairs"])
        divergence = sum(q * math.log(q / p) for p, q in zip(proxies, texts, strict=True))
        parts = entropy["pairs"], entropy["states"] + entropy["objects"], divergence
        total += sum(weight * part for weight, part in zip(weights, parts, strict=True))
    return total / len(TARGETS)


@torch.no_grad()
@pytest.mark.parametrize("world", ["closed", "open"])
def test_a_score_is_a_mixed_logit_and_two_probabilities(backbone: Backbone, images: Tensor, world: str) -> None:
    method = unsettled(backbone)
    branches = plain_branches(method, images)
    validation = torch.cat(list(method.scores(images, method.encode_texts(BLOCKS), world)), dim=1)
    assert_close(validation, plain_scores(branches, SETTINGS["selection"]))
    method.set_scoring(method.settings_class.scoring_class(**SCORING))
    actual = torch.cat(list(method.scores(images, method.encode_texts(BLOCKS), world)), dim=1)
    assert_close(actual, plain_scores(branches, SCORING[world]))


def test_the_loss_adds_six_cross_entropies_and_a_divergence(backbone: Backbone, images: Tensor) -> None:
    method = unsettled(backbone).train()
    expected = plain_total(plain_branches(method, images, training=True), SETTINGS["loss_weights"])
    loss = method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS))
    assert float(loss.detach()) == pytest.approx(expected)
    loss.backward()
    for name, parameter in method.named_parameters():
        assert (parameter.grad is not None) == (not name.startswith("backbone.")), name


@torch.no_grad()
def test_proxies_begin_at_the_texts_of_bare_names(backbone: Backbone) -> None:
    method = fresh(backbone)
    for proxies, names in ((method.state_proxies, STATES), (method.object_proxies, OBJECTS)):
        ids = backbone.tokens([name.replace(".", " ").lower() for name in names])
        assert_close(proxies, backbone.model.encode_text(ids))
