"""Duplex against its equations, written out pair by pair, image by image and node by node."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.errors import CheckpointError
from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.methods import duplex
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.duplex import Duplex
from recompose.tracks.czsl.methods.image_tower import BlockAdapters, BlockLoRA
from recompose.tracks.czsl.methods.settings import PairTrainingSettings
from recompose.tracks.czsl.methods.three_path import CSO, ThreePath, Views
from recompose.tracks.czsl.training import CHECKPOINT, PairTraining, fit_method
from recompose.training.checkpoint import restore
from recompose.training.hardware import Hardware
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import (
    OBJECTS,
    STATES,
    THREE_PATHS,
    new_method,
    plain_disentangled,
    plain_joint,
    plain_pixels,
    plain_texts,
    plain_tower,
    plain_weights,
    random_images,
    unsettle,
)
from tests.tracks.czsl.methods.graphs import Batch, Pair, plain_aggregated, plain_candidates, unit

SETTINGS: dict[str, Any] = THREE_PATHS | {
    "prompts": "soft",
    "image_tower": "adapters",
    "disentangler_layers": 2,
    "loss_weights": [1.0, 0.5, 0.25, 2.0],
    "closed": [0.5, 0.2, 0.3],
    "open": [0.1, 0.6, 0.4],
    "target": "closed",
    "text_target": "target",
    "unseen_start": "sum",
    "codebook": "buffer",
    "refinement": "graph",
    "writes_from": "training",
    "initial": "random",
    "momentum": 0.75,
    "edges": "posteriors",
    "differentiable": True,
}
EVERYTHING = [(m, n) for m in range(3) for n in range(2)]
# of training, of the closed world in an order of its own, and the labels of a batch of four
TRAIN = [(0, 0), (1, 1), (2, 1)]
CLOSED = [(2, 1), (0, 1), (0, 0), (1, 1)]
TARGETS = [0, 2, 1, 2]
LABELS = [TRAIN[target] for target in TARGETS]
# (0, 1) has no image in it, nor have (1, 0) and (2, 0), which the closed world leaves out
TARGET = {"closed": CLOSED, "open": EVERYTHING}
FEWER = [0, 2, 2, 2]  # a batch without state 1
KNOWN = [(0, 0), (2, 1), (0, 0), (1, 1), (2, 1)]  # labels of the images whose embeddings are known
CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)
every_graph = pytest.mark.parametrize(("target", "edges"), list(product(TARGET, ("posteriors", "labels"))))
TRAINING = PairTrainingSettings(lr=1e-3, weight_decay=0.0, batch_size=4, accumulate=1, epochs=1)


@pytest.fixture(scope="module")
def images() -> Tensor:
    return random_images(4)


def known(backbone: Backbone, pairs: list[Pair] = CLOSED) -> TrainingPrior:
    embeddings = torch.randn(len(KNOWN), backbone.width, generator=torch.Generator().manual_seed(2))
    return TrainingPrior(torch.tensor(pairs), embeddings, torch.tensor(KNOWN))


def made(backbone: Backbone, *, new: bool = False, seed: int = 5, pairs: list[Pair] = CLOSED, **changed: Any) -> Duplex:
    """A method in evaluation mode; unless it is to be new, nothing in it stands where it begins."""
    torch.manual_seed(seed)
    method: Duplex = new_method(Duplex, backbone, STATES, OBJECTS, SETTINGS | changed).eval()
    method.prepare(known(backbone, pairs))
    if not new:
        unsettle(method)
    return method


def learning(backbone: Backbone, **changed: Any) -> Duplex:
    """One in training."""
    method = made(backbone, **changed)
    method.train()
    return method


def loss_of(method: Duplex, images: Tensor, targets: list[int] = TARGETS) -> Tensor:
    return method.loss(images, torch.tensor(targets), torch.tensor(TRAIN))


def learned(method: Duplex) -> dict[str, Tensor]:
    return {name: parameter for name, parameter in method.named_parameters() if parameter.requires_grad}


def gradients(loss: Tensor, method: Duplex) -> dict[str, Tensor]:
    """Of what is learned; zeros where none comes."""
    parameters = learned(method)
    actual = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(parameters, actual, strict=True))


def dense(method: ThreePath, images: Tensor, blocks: list[Tensor], world: str) -> Tensor:
    """The scores of all blocks of a world, side by side."""
    with torch.no_grad():
        return torch.cat(list(method.scores(images, method.encode_texts(blocks), world)), dim=1)


# the derivation


@dataclass(frozen=True)
class Derived:
    """What the paper's equations give for a batch."""

    parts: list[Tensor]  # L c t, L s, L o and L c h
    codebook: Tensor  # [S, O, E], afterwards

    def loss(self, weights: list[float]) -> Tensor:
        """Eq. 20 with weights."""
        return sum((weight * part for weight, part in zip(weights, self.parts, strict=True)), torch.zeros(()))


def plain_views(method: Duplex, images: Tensor, training: bool) -> dict[str, Tensor]:
    """z c, z s and z o (Eqs. 3 and 5), as they come."""
    adapters = method.adapters if isinstance(method.adapters, BlockAdapters) else None
    layers = plain_tower(method.backbone, plain_pixels(images), adapters)
    embedding = plain_joint(method.backbone, layers[-1])[:, 0]
    return {
        "pair": embedding,
        "state": plain_disentangled(method.of_state, embedding, training),
        "object": plain_disentangled(method.of_object, embedding, training),
    }


def plain_probabilities(method: Duplex, view: Tensor, prototypes: Tensor) -> Tensor:
    """The softmax of cosines over the temperature, as in Eqs. 4, 8, 9 and 19."""
    scale = math.exp(float(method.backbone.model.logit_scale))
    rows = [torch.stack([scale * (unit(z) @ unit(t)) for t in prototypes]) for z in view]
    return plain_weights(torch.stack(rows))


def plain_refined(
    method: Duplex, views: dict[str, Tensor], beliefs: dict[str, Tensor], labels: list[Pair], target: list[Pair]
) -> Tensor:
    """The codebook [S, O, E] after Algorithm 1."""

    def phi(z: Tensor, y: Tensor) -> Tensor:
        return unit((method.from_state.weight @ z + method.from_object.weight @ y).clamp(min=0))

    states, objects = ([label[place] for label in labels] for place in (0, 1))
    batch = Batch(states, objects, unit(views["state"]), unit(views["object"]), beliefs["state"], beliefs["object"])
    pairs = sorted(plain_candidates(states, objects, target))
    before, momentum = method.codebook.prototypes.clone(), method.settings.momentum
    if method.settings.refinement == "none":
        return before
    if method.settings.refinement == "graph":
        actual = plain_aggregated(
            pairs, batch, phi, method.settings.edges, torch.stack([before[m, n] for m, n in pairs])
        )
    else:
        actual = torch.stack([plain_composed(batch, pair, phi) for pair in pairs])
    if not method.settings.differentiable:
        actual = actual.detach()
    rows = []
    for m, n in EVERYTHING:
        refined = before[m, n]
        if (m, n) in pairs:
            refined = unit(momentum * refined + (1 - momentum) * actual[pairs.index((m, n))])
        rows.append(refined)
    return torch.stack(rows).view(3, 2, -1)


def plain_composed(batch: Batch, pair: Pair, phi: Any) -> Tensor:
    """The mean of all features composed of an image with this state and one with this object."""
    images = range(len(batch.states))
    couples = [
        phi(batch.of_states[i], batch.of_objects[j])
        for i in images
        for j in images
        if (batch.states[i], batch.objects[j]) == pair
    ]
    return sum(couples, torch.zeros(())) / len(couples)


def derive(
    method: Duplex, images: Tensor, target: list[Pair], targets: list[int] = TARGETS, training: bool = True
) -> Derived:
    """The losses of a batch, and the codebook after it."""
    labels = [TRAIN[number] for number in targets]
    views, texts = plain_views(method, images, training), plain_texts(method, 3, [list(pair) for pair in target])
    beliefs = {path: plain_probabilities(method, views[path], texts[path]) for path in ("pair", "state", "object")}
    anchored = {path: plain_probabilities(method, views[path], texts[path].detach()) for path in ("state", "object")}
    codebook = plain_refined(method, views, anchored, labels, target)
    beliefs["prototype"] = plain_probabilities(method, views["pair"], torch.stack([codebook[m, n] for m, n in target]))
    competing = target
    if method.settings.text_target == "seen":
        competing = TRAIN
        texts = plain_texts(method, 3, [list(pair) for pair in TRAIN])
        beliefs["pair"] = plain_probabilities(method, views["pair"], texts["pair"])
    right = {
        "pair": competing.index,
        "state": lambda pair: pair[0],
        "object": lambda pair: pair[1],
        "prototype": target.index,
    }
    parts = []
    for path, place in right.items():
        logs = [beliefs[path][i, place(label)].log() for i, label in enumerate(labels)]
        parts.append(-sum(logs, torch.zeros(())) / len(logs))
    return Derived(parts, codebook)


def plain_scores(method: Duplex, images: Tensor, pairs: list[Pair], weights: list[float]) -> Tensor:
    """Eq. 21 with weights, of an untouched codebook."""
    views, texts = plain_views(method, images, False), plain_texts(method, 3, [list(pair) for pair in pairs])
    of = {path: plain_probabilities(method, views[path], texts[path]).tolist() for path in views}
    prototypes = torch.stack([method.codebook.prototypes[m, n] for m, n in pairs])
    prototype_logits = plain_probabilities(method, views["pair"], prototypes).tolist()
    return torch.tensor(
        [
            [
                weights[0] * of["pair"][i][k]
                + weights[1] * prototype_logits[i][k]
                + weights[2] * of["state"][i][m] * of["object"][i][n]
                for k, (m, n) in enumerate(pairs)
            ]
            for i in range(len(images))
        ]
    )


# the target


@pytest.mark.parametrize("target", ["closed", "open"])
def test_the_target_is_the_closed_world_or_every_pair(backbone: Backbone, target: str) -> None:
    method = made(backbone, target=target)
    actual = [(int(m), int(n)) for m, n in method.target]
    assert len(actual) == len(set(actual))
    assert set(actual) == set(TARGET[target])
    for m, n in EVERYTHING:
        assert int(method.place[m, n]) == (actual.index((m, n)) if (m, n) in actual else -1)


# where the codebook begins


def test_the_codebook_begins_at_random_or_at_the_means_of_embeddings(backbone: Backbone) -> None:
    torch.manual_seed(5)
    method = new_method(Duplex, backbone, STATES, OBJECTS, SETTINGS)
    initial = method.codebook.prototypes.clone()
    method.prepare(known(backbone))
    assert torch.equal(method.codebook.prototypes, initial)
    actual = made(backbone, new=True, initial="means").codebook.prototypes
    embeddings = unit(known(backbone).embeddings)
    assert actual.shape == initial.shape == (3, 2, backbone.width)
    torch.testing.assert_close(actual[0, 0], unit(embeddings[0] + embeddings[2]))
    torch.testing.assert_close(actual[1, 1], embeddings[3])
    # state 0 and object 1 never meet: of the one only pair (0, 0) is known, of the other pairs (2, 1) and (1, 1)
    halves = unit(embeddings[0] + embeddings[2]), unit(embeddings[1] + embeddings[3] + embeddings[4])
    torch.testing.assert_close(actual[0, 1], unit(halves[0] + halves[1]))


def test_projections_begin_as_the_sum_of_a_state_and_an_object(backbone: Backbone) -> None:
    method = made(backbone, new=True)
    for layer in (method.from_state, method.from_object):
        assert layer.bias is None
        assert torch.equal(layer.weight, torch.eye(backbone.width))


# the loss


@pytest.mark.parametrize("momentum", [0.0, 0.75])
@every_graph
def test_the_loss_is_that_of_equation_20(
    either: Backbone, images: Tensor, target: str, edges: str, momentum: float
) -> None:
    method = learning(either, target=target, edges=edges, momentum=momentum)
    expected = derive(method, images, TARGET[target]).loss(SETTINGS["loss_weights"])
    torch.testing.assert_close(loss_of(method, images), expected, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("place", range(4))
def test_each_weight_is_of_its_own_loss_and_zero_switches_it_off(
    backbone: Backbone, images: Tensor, place: int
) -> None:
    weights = [0.0] * 4
    weights[place] = 3.0
    method = learning(backbone, loss_weights=weights)
    parts = derive(method, images, CLOSED).parts
    torch.testing.assert_close(loss_of(method, images), 3 * parts[place], atol=1e-4, rtol=1e-4)
    assert all((part - parts[place]).abs() > 1e-2 for k, part in enumerate(parts) if k != place)


@every_graph
@pytest.mark.parametrize("differentiable", [True, False])
def test_gradients_are_those_of_the_derivation(
    backbone: Backbone, images: Tensor, differentiable: bool, edges: str, target: str
) -> None:
    method = learning(backbone, differentiable=differentiable, edges=edges, target=target)
    expected = gradients(derive(method, images, TARGET[target]).loss(SETTINGS["loss_weights"]), method)
    actual = gradients(loss_of(method, images), method)
    for name, gradient in actual.items():
        torch.testing.assert_close(gradient, expected[name], atol=2e-4, rtol=2e-3, msg=name)


# interpretations of what the paper leaves open


INTERPRETATIONS: list[dict[str, Any]] = [
    {"text_target": "seen"},
    {"text_target": "seen", "target": "open"},
    {"codebook": "trained"},
    {"codebook": "trained", "differentiable": False, "momentum": 0.0},
    {"refinement": "counterfactual"},
    {"refinement": "counterfactual", "codebook": "trained", "target": "open"},
    {"refinement": "none"},
    {"refinement": "none", "codebook": "trained", "text_target": "seen"},
    {"disentangler_end": "linear"},
    {"disentangler_end": "linear", "disentangler_start": "residual-zero"},
    {"disentangler_start": "residual"},
]


@pytest.mark.parametrize("changed", INTERPRETATIONS, ids=str)
def test_each_interpretation_has_the_loss_the_gradients_and_the_codebook_of_its_derivation(
    backbone: Backbone, images: Tensor, changed: dict[str, Any]
) -> None:
    method = learning(backbone, **changed)
    before = method.codebook.prototypes.detach().clone()
    derived = derive(method, images, TARGET[(SETTINGS | changed)["target"]])
    expected = derived.loss(SETTINGS["loss_weights"])
    wanted = gradients(expected, method)
    assert ("codebook.prototypes" in wanted) == (changed.get("codebook") == "trained")
    loss = loss_of(method, images)
    torch.testing.assert_close(loss, expected, atol=1e-4, rtol=1e-4)
    for name, gradient in gradients(loss, method).items():
        torch.testing.assert_close(gradient, wanted[name], atol=2e-4, rtol=2e-3, msg=name)
        assert name != "codebook.prototypes" or gradient.any() or changed.get("momentum") == 0
    after = method.codebook.prototypes.detach()
    torch.testing.assert_close(after, derived.codebook.detach(), atol=1e-5, rtol=1e-4)
    assert torch.equal(after, before) == (changed.get("refinement") == "none")


def test_texts_over_seen_pairs_name_no_unseen_pair_in_training(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = learning(backbone, text_target="seen")
    encoded: list[int] = []
    encode = Duplex._encode

    def watch(self: Duplex, path: str, *words: Tensor) -> Tensor:
        encoded.append(len(words[0])) if path == "pair" else None
        return encode(self, path, *words)

    monkeypatch.setattr(Duplex, "_encode", watch)
    loss_of(method, images)
    assert encoded == [len(TRAIN)]


def test_its_text_side_over_seen_pairs_is_the_plain_three_paths(backbone: Backbone, images: Tensor) -> None:
    """Rows (0) and (1) of Table 5."""
    method = learning(backbone, text_target="seen", loss_weights=[1.0, 0.5, 0.25, 0.0])
    own = THREE_PATHS | {"disentangler_layers": 2, "loss_weights": [1.0, 0.5, 0.25]}
    plain = new_method(CSO, backbone, STATES, OBJECTS, own).train()
    plain.load_state_dict(method.state_dict(), strict=False)
    actual, expected = (loss_of(each, images) for each in (method, plain))
    torch.testing.assert_close(actual, expected)
    wanted = gradients(expected, plain)
    for name, gradient in gradients(actual, method).items():
        torch.testing.assert_close(
            gradient, wanted.get(name, torch.zeros(())).expand_as(gradient), atol=1e-5, rtol=1e-4
        )


@torch.no_grad()
@pytest.mark.parametrize("fusion", ["probabilities", "logits"])
def test_without_its_prototypes_it_scores_as_the_plain_three_paths_to_the_bit(
    backbone: Backbone, images: Tensor, fusion: str
) -> None:
    """So the semantic rows of Tables 5, 7 and 11 are declared as C-S-O: one recipe under two names."""
    method = made(backbone, fusion=fusion, closed=[0.5, 0.0, 0.25])
    own = THREE_PATHS | {"disentangler_layers": 2, "fusion": fusion, "closed": [0.5, 0.25]}
    plain = new_method(CSO, backbone, STATES, OBJECTS, own).eval()
    plain.load_state_dict(method.state_dict(), strict=False)
    blocks = list(torch.tensor(CLOSED).split(3))
    assert torch.equal(dense(method, images, blocks, "closed"), dense(plain, images, blocks, "closed"))


def test_what_is_written_may_come_from_features_as_evaluation_has_them(backbone: Backbone, images: Tensor) -> None:
    rates = {"adapter_dropout": 0.5, "attribute_dropout": 0.5, "disentangler_dropout": 0.5}
    method, other = (learning(backbone, writes_from=mode, **rates) for mode in ("evaluation", "training"))
    before = method.codebook.prototypes.clone()
    losses = []
    for each in (method, other):
        torch.manual_seed(3)
        losses.append(loss_of(each, images))
    torch.testing.assert_close(losses[0], losses[1])  # images are compared with what training's features refined
    written = method.codebook.prototypes.clone()
    with torch.no_grad():
        method.codebook.prototypes.copy_(before)
        expected = derive(method, images, CLOSED, training=False).codebook  # by running statistics as they are now
    torch.testing.assert_close(written, expected, atol=1e-5, rtol=1e-4)
    assert not torch.allclose(other.codebook.prototypes, expected, atol=1e-2)
    assert method.training
    assert method.of_state.training
    assert not method.backbone.training
    # the pass as in evaluation leaves running statistics alone
    torch.testing.assert_close(method.of_state[1].running_mean, other.of_state[1].running_mean)


@torch.no_grad()
def test_without_refinement_no_graph_is_built_and_at_lambda_one_neither(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError

    for name in ("aggregate", "candidates", "compose_alone"):
        monkeypatch.setattr(duplex, name, refuse)
    for changed in ({"refinement": "none"}, {"refinement": "counterfactual", "momentum": 1.0}, {"momentum": 1.0}):
        method = learning(backbone, **changed)
        before = method.codebook.prototypes.clone()
        loss_of(method, images)
        assert torch.equal(method.codebook.prototypes, before)


# what is refined


@torch.no_grad()
@pytest.mark.parametrize("training", [True, False])
@every_graph
def test_refined_prototypes_are_those_of_algorithm_1_in_the_order_of_the_target(
    backbone: Backbone, target: str, edges: str, training: bool
) -> None:
    """Of any features and any posteriors."""
    method = made(backbone, target=target, edges=edges)
    method.train(training)
    generator = torch.Generator().manual_seed(11)
    views = {path: torch.randn(4, backbone.width, generator=generator) for path in ("pair", "state", "object")}
    beliefs = {
        path: torch.rand(4, count, generator=generator).softmax(dim=-1) for path, count in (("state", 3), ("object", 2))
    }
    before = method.codebook.prototypes.clone()
    expected = plain_refined(method, views, beliefs, LABELS, TARGET[target])
    images = Views(**views, tokens=())
    actual, written = method.refine(images, torch.tensor(LABELS), beliefs["state"], beliefs["object"])
    assert actual.shape == (len(method.target), backbone.width)
    for row, (m, n) in zip(actual, method.target.tolist(), strict=True):
        torch.testing.assert_close(row, expected[m, n], atol=1e-6, rtol=1e-5)
    assert torch.equal(method.codebook.prototypes, before)
    assert written is not None
    method.codebook.write(*written)
    torch.testing.assert_close(method.codebook.prototypes, expected, atol=1e-6, rtol=1e-5)
    assert not torch.allclose(expected, before, atol=1e-3)


# what is written


@torch.no_grad()
@pytest.mark.parametrize("momentum", [0.0, 0.5, 0.9])
@every_graph
def test_candidates_move_and_all_others_stay_to_the_bit(
    backbone: Backbone, images: Tensor, target: str, edges: str, momentum: float
) -> None:
    method = learning(backbone, target=target, edges=edges, momentum=momentum)
    before = method.codebook.prototypes.clone()
    expected = derive(method, images, TARGET[target], FEWER).codebook
    loss_of(method, images, FEWER)
    after = method.codebook.prototypes
    moved = {(0, 0), (0, 1), (2, 1)} | ({(2, 0)} if target == "open" else set())
    for m, n in EVERYTHING:
        if (m, n) not in moved:
            assert torch.equal(after[m, n], before[m, n])
            continue
        torch.testing.assert_close(after[m, n], expected[m, n], atol=1e-5, rtol=1e-4)
        assert (after[m, n] - before[m, n]).abs().max() > 1e-3
        assert float(after[m, n].norm()) == pytest.approx(1, abs=1e-6)


@torch.no_grad()
def test_batches_add_up(backbone: Backbone, images: Tensor) -> None:
    """The second batch moves on from where the first one left each prototype."""
    method = learning(backbone)
    for targets, seen in ((TARGETS, images), (FEWER, images.flip(-1))):
        expected = derive(method, seen, CLOSED, targets).codebook
        loss_of(method, seen, targets)
        torch.testing.assert_close(method.codebook.prototypes, expected, atol=1e-5, rtol=1e-4)


@torch.no_grad()
@pytest.mark.parametrize("target", ["closed", "open"])
def test_evaluation_writes_nothing(backbone: Backbone, images: Tensor, target: str) -> None:
    method = made(backbone, target=target)
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    expected = derive(method, images, TARGET[target], training=False).loss(SETTINGS["loss_weights"])
    torch.testing.assert_close(loss_of(method, images), expected, atol=1e-4, rtol=1e-4)
    for world in ("closed", "open"):
        dense(method, images, [torch.tensor(EVERYTHING)], world)
    method.image_embeddings(images)
    method.pair_embeddings(torch.tensor(CLOSED))
    assert all(torch.equal(tensor, before[name]) for name, tensor in method.state_dict().items())


def test_worlds_and_images_write_nothing_in_training_either(backbone: Backbone, images: Tensor) -> None:
    method = learning(backbone)
    before = method.codebook.prototypes.clone()
    dense(method, images, [torch.tensor(EVERYTHING)], "closed")
    method.pair_embeddings(torch.tensor(CLOSED))
    assert torch.equal(method.codebook.prototypes, before)


def test_a_loss_without_prototypes_builds_no_graph_and_writes_nothing(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any) -> Any:
        raise AssertionError

    monkeypatch.setattr(duplex, "aggregate", refuse)
    method = learning(backbone, loss_weights=[1.0, 1.0, 1.0, 0.0])
    before = method.codebook.prototypes.clone()
    actual = gradients(loss_of(method, images), method)
    assert torch.equal(method.codebook.prototypes, before)
    assert not any(gradient.any() for name, gradient in actual.items() if name.startswith("from_"))


# what is learned


def parts_with_gradient(method: Duplex, loss: Tensor) -> set[str]:
    """What is learned of Duplex, contexts by their path, without what batch normalisation takes away."""
    actual = set()
    for name, gradient in gradients(loss, method).items():
        head, *rest = name.split(".")
        if gradient.abs().max() > 1e-4:
            actual.add(f"{head}.{rest[-1]}" if head == "prompts" else head)
    return actual


IMAGES = {"adapters"}
HEADS = {"of_state", "of_object"}
WORDS = {"prompts.primitives"}
ALONE = {"prompts.state", "prompts.object"}
PROJECTIONS = {"from_state", "from_object"}
EVERY = IMAGES | HEADS | WORDS | ALONE | PROJECTIONS | {"prompts.pair"}


@pytest.mark.parametrize(
    ("weights", "changed", "expected"),
    [
        ([1.0, 1.0, 1.0, 1.0], {}, EVERY),
        ([0.0, 1.0, 1.0, 1.0], {}, EVERY - {"prompts.pair"}),
        ([1.0, 1.0, 1.0, 0.0], {}, EVERY - PROJECTIONS),
        ([1.0, 0.0, 0.0, 0.0], {}, IMAGES | WORDS | {"prompts.pair"}),
        ([0.0, 1.0, 0.0, 0.0], {}, IMAGES | WORDS | {"of_state", "prompts.state"}),
        ([0.0, 0.0, 1.0, 0.0], {}, IMAGES | WORDS | {"of_object", "prompts.object"}),
        # through posteriors and features, whose texts are anchors
        ([0.0, 0.0, 0.0, 1.0], {}, IMAGES | HEADS | PROJECTIONS),
        ([0.0, 0.0, 0.0, 1.0], {"differentiable": False}, IMAGES),
        ([0.0, 0.0, 0.0, 1.0], {"momentum": 1.0}, IMAGES),
        ([1.0, 1.0, 1.0, 1.0], {"differentiable": False}, EVERY - PROJECTIONS),
        ([1.0, 1.0, 1.0, 1.0], {"momentum": 1.0}, EVERY - PROJECTIONS),
    ],
)
def test_gradient_reaches_what_it_should(
    backbone: Backbone, images: Tensor, weights: list[float], changed: dict[str, Any], expected: set[str]
) -> None:
    method = learning(backbone, loss_weights=weights, **changed)
    assert {name.split(".")[0] for name in learned(method)} == {"prompts", *IMAGES, *HEADS, *PROJECTIONS}
    assert parts_with_gradient(method, loss_of(method, images)) == expected


@torch.no_grad()
@pytest.mark.parametrize(
    ("weights", "count"),
    [
        ([1.0, 1.0, 1.0, 1.0], 3 + 2 + 4),
        ([1.0, 0.0, 0.0, 0.0], 3 + 2 + 4),
        ([0.0, 1.0, 1.0, 1.0], 3 + 2),
        ([0.0, 0.0, 0.0, 1.0], 3 + 2),
    ],
)
def test_texts_of_pairs_are_encoded_only_where_they_count(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch, weights: list[float], count: int
) -> None:
    method, encoded = learning(backbone, loss_weights=weights), []
    right = Backbone.encode_alike

    def watch(self: Backbone, prompts: Tensor, shared: int) -> Tensor:
        encoded.append(len(prompts))
        return right(self, prompts, shared)

    monkeypatch.setattr(Backbone, "encode_alike", watch)
    loss_of(method, images)
    assert sum(encoded) == count


def test_steps_move_what_is_learned_and_the_codebook_and_not_the_towers(backbone: Backbone, images: Tensor) -> None:
    method = learning(backbone)
    before = {name: tensor.clone() for name, tensor in method.state_dict().items()}
    optimizer = torch.optim.Adam(learned(method).values(), lr=1e-3)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        losses.append(loss_of(method, images))
        losses[-1].backward()
        optimizer.step()
    assert losses[-1] < losses[0]
    after = method.state_dict()
    for name in ("codebook.prototypes", "from_state.weight", "from_object.weight", "prompts.primitives"):
        assert not torch.equal(after[name], before[name]), name
    assert all(torch.equal(after[name], before[name]) for name in before if name.startswith("backbone."))


def test_fixed_prompts_learn_nothing(backbone: Backbone, images: Tensor) -> None:
    method = learning(backbone, prompts="fixed", attribute_dropout=0.5)
    assert not any(name.startswith("prompts.") for name in learned(method))
    expected = derive(method, images, CLOSED).loss(SETTINGS["loss_weights"])
    loss = loss_of(method, images)
    torch.testing.assert_close(loss, expected, atol=1e-4, rtol=1e-4)
    loss.backward()
    assert all(parameter.grad is None for parameter in method.prompts.parameters())
    assert method.from_state.weight.grad is not None
    new, soft = (
        made(backbone, new=True, prompts=kind).encode_texts([torch.tensor(CLOSED)])[0] for kind in ("fixed", "soft")
    )
    for name in ("pairs", "states", "objects"):
        assert torch.equal(getattr(new, name), getattr(soft, name))


def test_a_frozen_image_tower_has_nothing_to_learn(backbone: Backbone, images: Tensor) -> None:
    method = learning(backbone, image_tower="frozen")
    assert {name.split(".")[0] for name in learned(method)} == {"prompts", *HEADS, *PROJECTIONS}
    expected = derive(method, images, CLOSED)
    loss = loss_of(method, images)
    torch.testing.assert_close(loss, expected.loss(SETTINGS["loss_weights"]), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(method.codebook.prototypes, expected.codebook.detach(), atol=1e-5, rtol=1e-4)
    assert parts_with_gradient(method, loss) == EVERY - IMAGES


def test_low_rank_changes_of_the_image_tower_learn(backbone: Backbone, images: Tensor) -> None:
    method = learning(backbone, image_tower="lora")
    assert isinstance(method.adapters, BlockLoRA)
    actual = gradients(loss_of(method, images), method)
    of_tower = [gradient for name, gradient in actual.items() if name.startswith("adapters.")]
    assert len(of_tower) == 4 * backbone.depth
    assert all(gradient.any() for gradient in of_tower)
    assert not any("parametriz" in name for name, _ in backbone.named_parameters())


# scores


@pytest.mark.parametrize("size", [1, 2, 6])
@pytest.mark.parametrize("world", ["closed", "open"])
def test_scores_are_those_of_equation_21_in_blocks_of_any_size(
    either: Backbone, images: Tensor, world: str, size: int
) -> None:
    method = made(either)
    pairs = [EVERYTHING[k] for k in (3, 0, 5, 1, 4, 2)]
    with torch.no_grad():
        expected = plain_scores(method, images, pairs, SETTINGS[world])
    blocks = list(torch.tensor(pairs).split(size))
    actual = dense(method, images, blocks, world)
    assert actual.dtype == torch.float32
    torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-3)


@torch.no_grad()
@pytest.mark.parametrize("size", [2, 4])
def test_fused_logits_take_the_place_of_probabilities(backbone: Backbone, images: Tensor, size: int) -> None:
    method = made(backbone, fusion="logits", closed=[0.5, 0.2, 0.0])
    views, texts = plain_views(method, images, False), plain_texts(method, 3, [list(pair) for pair in CLOSED])
    scale = math.exp(float(backbone.model.logit_scale))
    prototypes = torch.stack([method.codebook.prototypes[m, n] for m, n in CLOSED])
    expected = scale * unit(views["pair"]) @ (0.5 * unit(texts["pair"]) + 0.2 * prototypes).T
    actual = dense(method, images, list(torch.tensor(CLOSED).split(size)), "closed")
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-3)


@torch.no_grad()
def test_scores_follow_the_codebook_as_it_stands_when_a_world_is_encoded(backbone: Backbone, images: Tensor) -> None:
    method = made(backbone)
    before = dense(method, images, [torch.tensor(CLOSED)], "closed")
    method.train()
    loss_of(method, images)
    method.eval()
    torch.testing.assert_close(
        dense(method, images, [torch.tensor(CLOSED)], "closed"),
        plain_scores(method, images, CLOSED, SETTINGS["closed"]),
        atol=1e-5,
        rtol=1e-3,
    )
    assert not torch.allclose(dense(method, images, [torch.tensor(CLOSED)], "closed"), before, atol=1e-4)


@torch.no_grad()
def test_figures_show_unit_embeddings_and_what_states_and_objects_send(backbone: Backbone, images: Tensor) -> None:
    method = made(backbone)
    views = plain_views(method, images, False)
    actual = method.image_embeddings(images)
    assert set(actual) == {"images", "from_states", "from_objects"}
    for name, expected in (
        ("images", unit(views["pair"])),
        ("from_states", unit(views["state"]) @ method.from_state.weight.T),
        ("from_objects", unit(views["object"]) @ method.from_object.weight.T),
    ):
        torch.testing.assert_close(actual[name], expected, atol=1e-5, rtol=1e-3)
    shown = method.pair_embeddings(torch.tensor(CLOSED))
    assert set(shown) == {"semantic", "visual"}
    texts = plain_texts(method, 3, [list(pair) for pair in CLOSED])["pair"]
    torch.testing.assert_close(shown["semantic"], unit(texts), atol=1e-5, rtol=1e-3)
    for row, (m, n) in zip(shown["visual"], CLOSED, strict=True):
        torch.testing.assert_close(row, method.codebook.prototypes[m, n])


# precision


def test_in_mixed_precision_the_codebook_stays_in_full(backbone: Backbone, images: Tensor) -> None:
    method, full = (learning(backbone) for _ in range(2))
    with torch.autocast("cpu", dtype=torch.bfloat16):
        loss = loss_of(method, images)
    loss.backward()
    expected = loss_of(full, images)
    assert loss.dtype == torch.float32
    assert float(loss) == pytest.approx(float(expected), rel=0.1)
    for gradient in (parameter.grad for parameter in learned(method).values()):
        assert gradient is not None
        assert gradient.isfinite().all()
    actual = method.codebook.prototypes
    assert actual.dtype == torch.float32
    torch.testing.assert_close((actual**2).sum(dim=-1), torch.ones(3, 2))
    assert ((actual * full.codebook.prototypes).sum(dim=-1) > 0.999).all()
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert dense(method.eval(), images, [torch.tensor(CLOSED)], "closed").dtype == torch.float32


# checkpoints


@pytest.fixture(scope="module")
def data() -> PairData:
    """The states and objects of the derivations, sorted; two pairs are of validation and testing alone."""
    names = sorted(STATES), sorted(OBJECTS)
    of = {
        "train": [(names[0][m], names[1][n]) for m, n in TRAIN],
        "val": [(names[0][0], names[1][0]), (names[0][0], names[1][1])],
        "test": [(names[0][2], names[1][1]), (names[0][1], names[1][0])],
    }
    samples = [
        Sample(f"{split}{number}.png", *of[split][number % len(of[split])], split)
        for split, count in (("train", 8), ("val", 4), ("test", 2))
        for number in range(count)
    ]
    return PairData(of, samples)


def training_of(method: Duplex, data: PairData) -> PairTraining:
    return PairTraining(method, data, TRAINING)


def test_what_training_keeps_holds_the_codebook_and_a_restored_method_has_it(
    backbone: Backbone, images: Tensor, data: PairData, tmp_path: Path
) -> None:
    method = learning(backbone)
    loss_of(method, images)
    state = training_of(method, data).trained_state()
    assert torch.equal(state["method.codebook.prototypes"], method.codebook.prototypes)
    assert not {"method.target", "method.place"} & set(state)
    assert not any(name.startswith("method.backbone.") for name in state)
    save_file(state, tmp_path / CHECKPOINT)
    other = made(backbone, new=True, seed=6)
    assert not torch.equal(other.codebook.prototypes, method.codebook.prototypes)
    restore(other, tmp_path / CHECKPOINT)
    assert torch.equal(other.codebook.prototypes, method.codebook.prototypes)
    blocks = list(torch.tensor(EVERYTHING).split(4))
    assert torch.equal(dense(other.eval(), images, blocks, "open"), dense(method.eval(), images, blocks, "open"))


def checkpoint_of(method: Duplex, data: PairData) -> dict[str, Tensor]:
    """What a checkpoint of a method as it is holds."""
    return training_of(method, data).trained_state()


def test_a_checkpoint_without_the_codebook_is_refused(backbone: Backbone, data: PairData, tmp_path: Path) -> None:
    state = checkpoint_of(made(backbone), data)
    del state["method.codebook.prototypes"]
    save_file(state, tmp_path / CHECKPOINT)
    with raises(CheckpointError, code="other-parameters", place="codebook.prototypes"):
        restore(made(backbone, seed=6), tmp_path / CHECKPOINT)


def test_a_checkpoint_of_three_paths_is_refused(backbone: Backbone, data: PairData, tmp_path: Path) -> None:
    own = {"target", "text_target", "initial", "unseen_start", "codebook", "refinement"}
    own |= {"momentum", "edges", "writes_from", "differentiable"}
    plain = {name: value for name, value in SETTINGS.items() if name not in own}
    plain |= {"loss_weights": [1.0] * 3, "closed": [0.5, 0.5], "open": [0.5, 0.5]}
    method = new_method(ThreePath, backbone, STATES, OBJECTS, plain)
    save_file(PairTraining(method, data, TRAINING).trained_state(), tmp_path / CHECKPOINT)
    lacking = "codebook.prototypes, from_object.weight, from_state.weight"
    with raises(CheckpointError, code="other-parameters", place=lacking):
        restore(made(backbone), tmp_path / CHECKPOINT)


def test_what_a_checkpoint_holds_beside_the_method_is_ignored(
    backbone: Backbone, data: PairData, tmp_path: Path
) -> None:
    method, other = made(backbone), made(backbone, seed=6)
    state = checkpoint_of(method, data)
    beside = {"augmentation.steps.0._p": torch.ones(2), "codebook.prototypes": torch.zeros(3, 2, backbone.width)}
    save_file(state | beside, tmp_path / CHECKPOINT)
    restore(other, tmp_path / CHECKPOINT)
    actual = other.state_dict()
    assert all(torch.equal(actual[name.removeprefix("method.")], tensor) for name, tensor in state.items())


def test_names_without_the_method_s_prefix_bring_nothing_back(
    backbone: Backbone, data: PairData, tmp_path: Path
) -> None:
    state = {name.removeprefix("method."): tensor for name, tensor in checkpoint_of(made(backbone), data).items()}
    save_file(state, tmp_path / CHECKPOINT)
    with raises(CheckpointError, code="other-parameters", place="codebook.prototypes"):
        restore(made(backbone), tmp_path / CHECKPOINT)


def test_a_resumed_training_goes_on_from_its_codebook(backbone: Backbone, images: Tensor, data: PairData) -> None:
    method, other = learning(backbone), learning(backbone, new=True, seed=6)
    loss_of(method, images)
    checkpoint: dict[str, Any] = {}
    training_of(method, data).on_save_checkpoint(checkpoint)
    training_of(other, data).load_state_dict(checkpoint["state_dict"], strict=False)
    for each in (method, other):
        loss_of(each, images.flip(-1))
    assert torch.equal(other.codebook.prototypes, method.codebook.prototypes)


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    (tmp_path / "scratch").mkdir()
    yield tmp_path


def test_training_writes_the_codebook_that_it_ends_with(backbone: Backbone, data: PairData, folder: Path) -> None:
    torch.manual_seed(0)
    method = new_method(Duplex, backbone, data.states, data.objects, SETTINGS)
    method.prepare(TrainingPrior(torch.from_numpy(data.indices(data.pairs)), torch.empty(0), torch.empty(0)))
    before = method.codebook.prototypes.clone()
    pixels: np.ndarray = random_images(len(data.samples)).numpy()
    assert fit_method(method, data, pixels, folder, CPU, TRAINING, title="t", seed=0)
    stored = load_file(folder / CHECKPOINT)["method.codebook.prototypes"]
    assert torch.equal(stored, method.codebook.prototypes)  # of the only epoch
    seen = {tuple(pair) for pair in data.indices(data.pairs_of["train"]).tolist()}
    moved = {(m, n) for m, n in EVERYTHING if not torch.equal(stored[m, n], before[m, n])}
    assert seen < moved <= {tuple(pair) for pair in data.indices(data.pairs).tolist()}
