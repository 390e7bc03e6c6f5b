"""Duplex against its equations, written out pair by pair, image by image and node by node: its codebook, the graph of a
batch, and what both learn.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.duplex.model import Duplex
from recompose.tracks.czsl.methods.duplex.prototypes import Codebook, Factors, aggregate
from recompose.tracks.czsl.methods.three_path import CSO
from tests.precision import assert_close, default_dtype
from tests.tracks.czsl.methods.derivations import (
    OBJECTS,
    STATES,
    dense,
    new_method,
    plain_disentangled,
    plain_joint,
    plain_texts,
    plain_tower,
    plain_weights,
    settings_of,
    unsettle,
)
from tests.tracks.czsl.methods.released import unit

pytestmark = pytest.mark.usefixtures("in_64_bits")

Pair = tuple[int, int]
Phi = Callable[[Tensor, Tensor], Tensor]


@dataclass(frozen=True)
class Batch:
    """Labels of images, features [B, E] of their states and objects, and posteriors [B, states] and [B, objects]."""

    states: list[int]
    objects: list[int]
    of_states: Tensor
    of_objects: Tensor
    p_states: Tensor
    p_objects: Tensor


def plain_candidates(states: list[int], objects: list[int], target: list[Pair]) -> set[Pair]:
    """Eqs. 12 and 13."""
    return {(m, n) for m in states for n in objects} & set(target)


def plain_aggregated(pairs: list[Pair], batch: Batch, phi: Phi, edges: str, prototypes: Tensor) -> Tensor:
    """The candidates [pairs, E] after Eqs. 14 to 16: means of all nodes by the weights of their edges."""
    images = range(len(batch.states))
    nodes = torch.cat([prototypes, batch.of_states, batch.of_objects])
    couples = torch.stack([phi(batch.of_states[i], batch.of_objects[j]) for i in images for j in images])
    nothing, rows = prototypes.new_zeros(()), []
    for m, n in pairs:
        of_state, of_object = (len([pair for pair in pairs if pair[place] == one]) for place, one in ((0, m), (1, n)))
        of_labels = edges == "labels"
        weights = [
            *(nothing for _ in pairs),  # prototypes do not write to each other
            *(nothing if of_labels and batch.states[i] != m else batch.p_states[i, m] / of_state for i in images),
            *(nothing if of_labels and batch.objects[j] != n else batch.p_objects[j, n] / of_object for j in images),
        ]
        weights += [
            batch.p_states[i, m] * batch.p_objects[j, n] if (batch.states[i], batch.objects[j]) == (m, n) else nothing
            for i in images
            for j in images
        ]
        row = torch.stack(weights)
        rows.append(row @ torch.cat([nodes, couples]) / row.sum())
    return torch.stack(rows)


# where the codebook begins


def random_rows(*shape: int, seed: int = 1) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed))


def plain_mean_of(rows: list[Tensor]) -> Tensor:
    return sum(rows, torch.zeros(())) / len(rows)


def plain_additive(of_pair: dict[Pair, Tensor]) -> Tensor:
    """Return the parts of three states, then of three objects, whose sums are nearest to the means of pairs."""
    design = torch.zeros(len(of_pair), 6, dtype=torch.double)
    for number, (s, o) in enumerate(of_pair):
        design[number, s] = design[number, 3 + o] = 1
    return torch.linalg.lstsq(design, torch.stack([*of_pair.values()]), driver="gelsd").solution


def plain_start(embeddings: Tensor, labels: list[Pair], unseen: str) -> dict[Pair, Tensor]:
    """Return the first prototypes of all pairs of states and objects that images show."""
    rows = [unit(row) for row in embeddings.double()]

    def images_of(names: dict[int, int]) -> list[Tensor]:
        """Return the images with these names, by their place in a pair."""
        return [row for row, label in zip(rows, labels, strict=True) if all(label[k] == n for k, n in names.items())]

    of_pair = {(s, o): unit(plain_mean_of(images_of({0: s, 1: o}))) for s, o in sorted(set(labels))}
    starts = {}
    for s in {s for s, _ in labels}:
        for o in {o for _, o in labels}:
            means = [plain_mean_of(images_of(names)) for names in ({0: s}, {1: o})]
            if (s, o) in of_pair:
                starts[s, o] = of_pair[s, o]
            elif unseen == "sum":
                starts[s, o] = unit(unit(means[0]) + unit(means[1]))
            elif unseen == "centred":
                starts[s, o] = unit(means[0] + means[1] - plain_mean_of(rows))
            else:
                parts = plain_additive(of_pair)
                starts[s, o] = unit(parts[s] + parts[3 + o])
    return starts


@pytest.mark.parametrize("unseen", ["sum", "centred", "least-squares"])
def test_prototypes_begin_at_means_and_those_of_unseen_pairs_as_derived(unseen: Any) -> None:
    labels = [(0, 0), (0, 1), (1, 1), (2, 2), (2, 1), (0, 0), (1, 2)]
    embeddings = 3 * random_rows(len(labels), 4, seed=4) + 1
    codebook = Codebook(3, 3, 4)
    codebook.begin_at_means(embeddings, torch.tensor(labels), unseen)
    expected = plain_start(embeddings, labels, unseen)
    assert len(expected) == 9
    for (s, o), vector in expected.items():
        assert_close(codebook.prototypes[s, o], vector.float())


@pytest.mark.parametrize("unseen", ["sum", "centred", "least-squares"])
def test_pairs_of_which_images_show_neither_name_stay(unseen: Any) -> None:
    codebook, embeddings = Codebook(3, 3, 4), random_rows(2, 4)
    before = codebook.prototypes.clone()
    codebook.begin_at_means(embeddings, torch.tensor([[0, 0], [1, 1]]), unseen)
    assert torch.equal(codebook.prototypes[2, 2], before[2, 2])
    assert_close(codebook.prototypes.norm(dim=-1), torch.ones(3, 3))
    if unseen == "sum":  # a name without images leaves a pair to the other
        assert_close(codebook.prototypes[2, :2], unit(embeddings))


# the graph


def random_factors(labels: list[int], names: int) -> Factors:
    features = unit(random_rows(len(labels), 5, seed=names))
    return Factors(torch.tensor(labels), features, random_rows(len(labels), names).softmax(dim=-1))


@default_dtype(torch.float32)
@pytest.mark.parametrize("edges", ["posteriors", "labels"])
def test_where_towers_compute_in_16_bits_the_graph_does_not(edges: Any) -> None:
    """A thousand couples make each candidate: in 16 bits sums would stop to grow."""
    states, objects = random_factors([0, 1] * 32, 4), random_factors([0, 0, 1, 1] * 16, 3)
    pairs, composed = torch.tensor([[0, 0], [0, 1], [1, 0]]), random_rows(64, 64, 5)
    expected = aggregate(pairs, states, objects, lambda i, j: composed[i, j], edges)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        actual = aggregate(pairs, states, objects, lambda i, j: composed[i, j], edges)
    assert actual.dtype == torch.float32
    assert torch.equal(actual, expected)


def test_a_candidate_without_any_weight_is_zero_and_its_gradients_are_finite() -> None:
    """Posteriors of 32 bits can be 0, of an image's own state and object, too."""
    learned = torch.tensor([[0.0, 1.0, 0.0]] * 2), torch.tensor([[0.0, 1.0]] * 2), torch.eye(4)[:2], torch.eye(4)[2:]
    p_states, p_objects, of_states, of_objects = (tensor.requires_grad_() for tensor in learned)
    labels = torch.tensor([0, 1])
    factors = Factors(labels, of_states, p_states), Factors(labels, of_objects, p_objects)
    composed = unit(random_rows(2, 2, 4))
    actual = aggregate(torch.tensor([[0, 0], [1, 1]]), *factors, lambda i, j: composed[i, j], "posteriors")
    assert torch.equal(actual[0], torch.zeros(4))
    assert actual[1].norm() > 0.1
    assert all(gradient.isfinite().all() for gradient in torch.autograd.grad(actual.sum(), learned))


# the whole method


SETTINGS = settings_of("duplex", closed=[0.5, 0.2, 0.3], open=[0.1, 0.6, 0.4])
EVERYTHING = [(m, n) for m in range(3) for n in range(2)]
# of training, of the closed world in an order of its own, and the labels of a batch of four
TRAIN = [(0, 0), (1, 1), (2, 1)]
CLOSED = [(2, 1), (0, 1), (0, 0), (1, 1)]
TARGETS = [0, 2, 1, 2]
# (0, 1) has no image in it, nor have (1, 0) and (2, 0), which the closed world leaves out
TARGET = {"closed": CLOSED, "open": EVERYTHING}
KNOWN = [(0, 0), (2, 1), (0, 0), (1, 1), (2, 1)]  # labels of the images whose embeddings are known


def prior_of(backbone: Backbone) -> TrainingPrior:
    return TrainingPrior(torch.tensor(CLOSED), random_rows(len(KNOWN), backbone.width, seed=2), torch.tensor(KNOWN))


def build(backbone: Backbone, *, new: bool = False, **changed: Any) -> Duplex:
    """A method in evaluation mode; unless it is to be new, nothing in it stands where it begins."""
    torch.manual_seed(5)
    method: Duplex = new_method(Duplex, backbone, STATES, OBJECTS, SETTINGS | changed).eval()
    method.prepare(prior_of(backbone))
    if not new:
        unsettle(method)
    return method


def loss_of(method: Duplex, images: Tensor) -> Tensor:
    return method.loss(images, torch.tensor(TARGETS), torch.tensor(TRAIN))


def gradients(loss: Tensor, method: Duplex) -> dict[str, Tensor]:
    """Of what is learned; zeros where none comes."""
    parameters = {name: parameter for name, parameter in method.named_parameters() if parameter.requires_grad}
    actual = torch.autograd.grad(loss, list(parameters.values()), allow_unused=True, materialize_grads=True)
    return dict(zip(parameters, actual, strict=True))


# the derivation


def plain_views(method: Duplex, images: Tensor, training: bool) -> dict[str, Tensor]:
    """z c, z s and z o (Eqs. 3 and 5), as they come."""
    layers = plain_tower(method.backbone, images, method.adapters)
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
        own = torch.stack([before[m, n] for m, n in pairs])
        actual = plain_aggregated(pairs, batch, phi, method.settings.edges, own)
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


def derive(method: Duplex, images: Tensor, target: list[Pair], training: bool = True) -> tuple[Tensor, Tensor]:
    """The loss of a batch (Eq. 20 with weights), and the codebook [S, O, E] after it."""
    labels = [TRAIN[number] for number in TARGETS]
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
    weighted = [weight * part for weight, part in zip(SETTINGS["loss_weights"], parts, strict=True)]
    return torch.stack(weighted).sum(), codebook


def plain_scores(method: Duplex, images: Tensor, pairs: list[Pair], weights: list[float]) -> Tensor:
    """Eq. 21 with weights, of an untouched codebook."""
    views, texts = plain_views(method, images, False), plain_texts(method, 3, [list(pair) for pair in pairs])
    shares = {path: plain_probabilities(method, views[path], texts[path]).tolist() for path in views}
    prototypes = torch.stack([method.codebook.prototypes[m, n] for m, n in pairs])
    prototype_logits = plain_probabilities(method, views["pair"], prototypes).tolist()
    return torch.tensor(
        [
            [
                weights[0] * shares["pair"][i][k]
                + weights[1] * prototype_logits[i][k]
                + weights[2] * shares["state"][i][m] * shares["object"][i][n]
                for k, (m, n) in enumerate(pairs)
            ]
            for i in range(len(images))
        ]
    )


# where the codebook begins


def test_the_codebook_begins_at_random_or_at_the_means_of_embeddings(backbone: Backbone) -> None:
    methods = [build(backbone, new=True, initial=initial) for initial in ("random", "means")]
    random, means = (method.codebook.prototypes for method in methods)
    embeddings = unit(prior_of(backbone).embeddings)
    assert_close(means[0, 0], unit(embeddings[0] + embeddings[2]))
    assert_close(means[1, 1], embeddings[3])
    assert_close(random.norm(dim=-1), torch.ones(3, 2))
    assert not torch.allclose(random, means, atol=1e-2)
    for layer in (methods[0].from_state, methods[0].from_object):
        assert torch.equal(layer.weight, torch.eye(backbone.width))


# interpretations of what the paper leaves open


INTERPRETATIONS: list[dict[str, Any]] = [
    {},
    {"edges": "labels"},
    {"target": "open"},
    {"differentiable": False},
    {"prompts": "fixed"},
    {"image_tower": "frozen"},
    {"text_target": "seen", "target": "open"},
    {"codebook": "trained", "differentiable": False, "momentum": 0.0},
    {"refinement": "counterfactual", "codebook": "trained", "target": "open"},
    {"refinement": "none", "codebook": "trained", "text_target": "seen"},
    {"disentangler_end": "linear", "disentangler_start": "residual-zero"},
]


@pytest.mark.parametrize("changed", INTERPRETATIONS, ids=str)
def test_each_interpretation_has_the_loss_the_gradients_and_the_codebook_of_its_derivation(
    backbone: Backbone, images: Tensor, changed: dict[str, Any]
) -> None:
    method = build(backbone, **changed)
    method.train()
    before = method.codebook.prototypes.detach().clone()
    expected, codebook = derive(method, images, TARGET[(SETTINGS | changed)["target"]])
    wanted = gradients(expected, method)
    assert ("codebook.prototypes" in wanted) == (changed.get("codebook") == "trained")
    loss = loss_of(method, images)
    assert_close(loss, expected)
    for name, gradient in gradients(loss, method).items():
        assert_close(gradient, wanted[name], msg=name)
        assert name != "codebook.prototypes" or gradient.any() or changed.get("momentum") == 0
    after = method.codebook.prototypes.detach()
    assert_close(after, codebook.detach())
    assert torch.equal(after, before) == (changed.get("refinement") == "none")


@torch.no_grad()
@pytest.mark.parametrize("fusion", ["probabilities", "logits"])
def test_without_its_prototypes_it_scores_as_the_plain_three_paths_to_the_bit(
    backbone: Backbone, images: Tensor, fusion: str
) -> None:
    """So the semantic rows of Tables 5, 7 and 11 are declared as C-S-O: one recipe under two names."""
    method = build(backbone, fusion=fusion, closed=[0.5, 0.0, 0.25])
    own = settings_of("c-s-o", disentangler_layers=2, fusion=fusion, closed=[0.5, 0.25])
    plain = new_method(CSO, backbone, STATES, OBJECTS, own).eval()
    plain.load_state_dict(method.state_dict(), strict=False)
    blocks = list(torch.tensor(CLOSED).split(3))
    assert torch.equal(dense(method, images, blocks, "closed"), dense(plain, images, blocks, "closed"))


def test_what_is_written_may_come_from_features_as_evaluation_has_them(backbone: Backbone, images: Tensor) -> None:
    rates = {"adapter_dropout": 0.5, "attribute_dropout": 0.5, "disentangler_dropout": 0.5}
    method, other = (build(backbone, writes_from=mode, **rates) for mode in ("evaluation", "training"))
    before = method.codebook.prototypes.clone()
    losses = []
    for each in (method, other):
        each.train()
        torch.manual_seed(3)
        losses.append(loss_of(each, images))
    assert_close(losses[0], losses[1])  # images are compared with what training's features refined
    written = method.codebook.prototypes.clone()
    with torch.no_grad():
        method.codebook.prototypes.copy_(before)
        _, expected = derive(method, images, CLOSED, training=False)  # by running statistics as they are now
    assert_close(written, expected)
    assert not torch.allclose(other.codebook.prototypes, expected, atol=1e-2)
    assert method.training
    assert method.of_state.training
    assert not method.backbone.training
    # the pass as in evaluation leaves running statistics alone
    assert_close(method.of_state[1].running_mean, other.of_state[1].running_mean)


# scores


@pytest.mark.parametrize("world", ["closed", "open"])
def test_scores_are_those_of_equation_21(backbone: Backbone, images: Tensor, world: str) -> None:
    method = build(backbone)
    pairs = [EVERYTHING[k] for k in (3, 0, 5, 1, 4, 2)]
    with torch.no_grad():
        expected = plain_scores(method, images, pairs, SETTINGS[world])
    actual = dense(method, images, list(torch.tensor(pairs).split(4)), world)
    assert_close(actual, expected)


@torch.no_grad()
def test_fused_logits_take_the_place_of_probabilities(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone, fusion="logits", closed=[0.5, 0.2, 0.0])
    views, texts = plain_views(method, images, False), plain_texts(method, 3, [list(pair) for pair in CLOSED])
    scale = math.exp(float(backbone.model.logit_scale))
    prototypes = torch.stack([method.codebook.prototypes[m, n] for m, n in CLOSED])
    expected = scale * unit(views["pair"]) @ (0.5 * unit(texts["pair"]) + 0.2 * prototypes).T
    actual = dense(method, images, list(torch.tensor(CLOSED).split(2)), "closed")
    assert_close(actual, expected)


@torch.no_grad()
def test_figures_show_unit_embeddings_and_what_states_and_objects_send(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone)
    views = plain_views(method, images, False)
    actual = method.image_embeddings(images)
    assert set(actual) == {"images", "from_states", "from_objects"}
    for name, expected in (
        ("images", unit(views["pair"])),
        ("from_states", unit(views["state"]) @ method.from_state.weight.T),
        ("from_objects", unit(views["object"]) @ method.from_object.weight.T),
    ):
        assert_close(actual[name], expected)
    shown = method.pair_embeddings(torch.tensor(CLOSED))
    assert set(shown) == {"semantic", "visual"}
    texts = plain_texts(method, 3, [list(pair) for pair in CLOSED])["pair"]
    assert_close(shown["semantic"], unit(texts))
    for row, (m, n) in zip(shown["visual"], CLOSED, strict=True):
        assert_close(row, method.codebook.prototypes[m, n])
