"""The three paths against loops over images, prompts, states and objects."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import Interaction
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.three_path import CSO, ThreePath
from recompose.tracks.czsl.methods.troika import Troika
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    PAIRS,
    build_method,
    dense,
    method_of,
    plain_disentangled,
    plain_fused,
    plain_loss,
    plain_paths,
    random_images,
    settings_of,
    small_backbone,
    unsettle,
)

EVERYTHING = [[state, name] for state in range(3) for name in range(2)]
TARGETS = [0, 3, 4, 2]
METHODS: dict[str, type[ThreePath]] = {"c-s-o": CSO, "troika": Troika, "msci": MSCI}


@pytest.fixture(scope="module")
def images() -> Tensor:
    return random_images(4)


def build(backbone: Backbone, name: str = "c-s-o", *, new: bool = False, **changed: Any) -> ThreePath:
    method: ThreePath = build_method(METHODS[name], backbone, settings_of(name, **changed), new=new)
    return method


# prompts


def test_where_names_are_single_tokens_texts_begin_as_those_of_clip(backbone: Backbone) -> None:
    method = method_of(CSO, backbone, ["red", "striped"], ["circle", "moon"], **settings_of("c-s-o")).eval()
    (block,) = method.encode_texts([torch.tensor([[0, 0], [1, 1], [1, 0]])])
    for actual, names in (
        (block.pairs, ["red circle", "striped moon", "striped circle"]),
        (block.states, ["red", "striped"]),
        (block.objects, ["circle", "moon"]),
    ):
        texts = backbone.tokens([f"a photo of {name}" for name in names])
        torch.testing.assert_close(actual, backbone.model.encode_text(texts), atol=1e-5, rtol=1e-4)


# images


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("start", ["random", "residual"])
@pytest.mark.parametrize("end", ["relu", "linear"])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_disentangler_is_linear_maps_batch_norms_and_relus(layers: int, end: Any, start: Any, training: bool) -> None:
    torch.manual_seed(0)
    head = Disentangler(6, layers, 0.0, end=end, start=start).train(training)
    assert sum(isinstance(part, nn.BatchNorm1d) for part in head) == layers - (end == "linear")
    unsettle(head, size=0.5)
    x = torch.randn(5, 6)
    expected = plain_disentangled(head, x, training)
    torch.testing.assert_close(head(x), expected, atol=1e-5, rtol=1e-4)
    assert sum(isinstance(part, nn.Linear) for part in head) == layers


def test_a_disentangler_that_begins_at_zero_begins_as_its_input_and_learns() -> None:
    torch.manual_seed(0)
    head = Disentangler(6, 2, 0.5, end="linear", start="residual-zero").train()
    x = torch.randn(5, 6)
    assert torch.equal(head(x), x)
    optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
    for _ in range(2):
        optimizer.zero_grad()
        (head(x) * torch.randn(5, 6)).sum().backward()
        optimizer.step()
    # the last map first, and what stands before it as soon as that is not zero any more
    assert all(p.grad is not None and p.grad.any() for name, p in head.named_parameters() if name.endswith("weight"))
    assert not torch.allclose(head(x), x, atol=1e-3)


# what is tuned


def test_fixed_prompts_say_the_template_and_the_names_and_learn_nothing(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone, prompts="fixed", attribute_dropout=0.5).train()
    (actual,), (expected,) = (each.encode_texts([torch.tensor(PAIRS)]) for each in (method, build(backbone, new=True)))
    for name in ("pairs", "states", "objects"):
        torch.testing.assert_close(getattr(actual, name), getattr(expected, name))
    method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).backward()
    fixed = [p for name, p in method.named_parameters() if name.startswith("prompts.")]
    assert len(fixed) == 4
    assert not any(p.requires_grad or p.grad is not None for p in fixed)


@torch.no_grad()
def test_a_convolutional_tower_can_be_used_frozen_alone(images: Tensor, tmp_path: Path) -> None:
    convolutional = small_backbone("shapes-resnet", tmp_path)
    method = build(convolutional, image_tower="frozen")
    expected = convolutional.encode_image(convolutional.from_bytes(images))
    torch.testing.assert_close(method.encode_images(images).pair, expected)
    scores = dense(method, images, [torch.tensor(EVERYTHING)], "closed")
    torch.testing.assert_close(scores.sum(dim=1), torch.ones(4))
    for image_tower in ("adapters", "lora"):
        with raises(ArgumentError, code="no-blocks", place="image_tower"):
            build(convolutional, image_tower=image_tower)


# loss


def test_the_loss_is_the_weighted_sum_of_three_cross_entropies(backbone: Backbone, images: Tensor) -> None:
    weights = [0.3, 2.0, 0.7]
    method = build(backbone, loss_weights=weights).train()
    expected = plain_loss(plain_paths(method, images, PAIRS, training=True), TARGETS, PAIRS, weights)
    assert method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).item() == pytest.approx(expected, rel=1e-3)


# scores


@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("fusion", ["probabilities", "logits"])
def test_scores_fuse_a_pair_as_a_whole_with_its_state_and_object(
    backbone: Backbone, images: Tensor, fusion: str, world: str
) -> None:
    method = build(backbone, fusion=fusion)
    weights = {"closed": (0.1, 0.9), "open": (0.3, 0.7)}[world]
    expected = plain_fused(plain_paths(method, images, PAIRS), PAIRS, fusion, weights)
    actual = dense(method, images, BLOCKS, world)
    torch.testing.assert_close(actual, expected, atol=1e-3, rtol=5e-3)


# what parity with released code does not show of MSCI and Troika


def test_an_interaction_drops_projected_hidden_and_returned_elements_in_training() -> None:
    torch.manual_seed(0)
    interaction = Interaction(6, 2, 0.5)
    unsettle(interaction, size=0.5)
    texts, tokens = torch.randn(2, 3, 6), torch.randn(2, 4, 6)
    attended = interaction.eval().attention(texts, tokens)
    torch.manual_seed(1)
    projected, hidden, returned = (dropout(torch.ones(2, 3, width), 0.5) for width in (6, 24, 6))
    norm, widen, _, _, narrow, _ = interaction.feed_forward
    between = texts + attended * projected
    wide = widen(norm(between))
    expected = between + narrow(wide * torch.sigmoid(1.702 * wide) * hidden) * returned
    torch.manual_seed(1)
    torch.testing.assert_close(interaction.train()(texts, tokens), expected)


@pytest.mark.parametrize(
    ("name", "settings", "place"),
    [("troika", {"heads": 7}, "heads"), ("msci", {"aggregated": 5}, "aggregated")],
)
def test_heads_and_blocks_that_the_tower_does_not_have_are_errors(
    backbone: Backbone, name: str, settings: dict[str, int], place: str
) -> None:
    with raises(ArgumentError, place=place):
        build(backbone, name, **settings)


def test_shares_are_learned_vectors_that_begin_at_their_setting(backbone: Backbone) -> None:
    msci = build(backbone, "msci", new=True, share=0.25)
    troika = build(backbone, "troika", new=True, traction=0.25)
    assert set(msci.shares) == {"low", "high"}
    for share in (*msci.shares.values(), troika.traction):
        assert share.requires_grad
        assert torch.equal(share, torch.full((backbone.width,), 0.25))
