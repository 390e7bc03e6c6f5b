"""Tuned image towers: adapters against loops over blocks, low-rank changes against weights changed by hand."""

from copy import deepcopy
from math import sqrt
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.backbones.low_rank import LowRank
from recompose.tracks.czsl.methods.image_tower import Adapter, image_tuning
from recompose.tracks.czsl.methods.settings import ImageTower
from tests.tracks.czsl.methods.derivations import plain_joint, plain_tower, unsettle

EVERY = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def pixels(backbone: Backbone, images: Tensor) -> Tensor:
    return backbone.from_bytes(images)


def tuning(kind: ImageTower, backbone: Backbone, *, new: bool = False) -> Any:
    """Learned parts beside a frozen tower; unless they are to be new, away from where they begin."""
    backbone.requires_grad_(False)
    torch.manual_seed(1)
    parts: Any = image_tuning(kind, backbone, bottleneck=3, dropout=0.0)
    if not new:
        unsettle(parts, size=0.3)
    return parts


def projections(backbone: Backbone) -> list[Tensor]:
    """The joint weight [3 * W, W] of queries, keys and values of each block."""
    blocks: Any = backbone.image_blocks
    return [block.attn.in_proj_weight for block in blocks]


@torch.no_grad()
def changed_by_hand(backbone: Backbone, lora: Any) -> Backbone:
    """A copy of the backbone with other weights for queries, which come first, and values, which come last."""
    copy, width = deepcopy(backbone), backbone.image_width
    for weight, low_rank in zip(projections(copy), lora.attention, strict=True):
        for rows, up, down in zip((0, 2 * width), low_rank.up, low_rank.down, strict=True):
            for i in range(width):
                weight[rows + i] += sum(up[i, r] * down[r] for r in range(3))
    return copy


# one part


def test_parts_begin_as_zero_behind_a_random_projection() -> None:
    torch.manual_seed(0)
    adapter, low_rank = Adapter(100, 50, 0.1), LowRank(100, 50)
    assert not any(zero.any() for zero in (adapter.down.bias, adapter.up.weight, adapter.up.bias, *low_rank.up))
    assert not torch.equal(*low_rank.down)
    for down in (adapter.down.weight, *low_rank.down):
        # uniform within the bound of Kaiming's initialisation with a slope of the square root of 5
        weights = down.detach().abs()
        assert 0.99 / sqrt(100) < weights.max() <= 1 / sqrt(100)
        assert float(weights.mean()) == pytest.approx(0.5 / sqrt(100), rel=0.05)


# in the tower


@pytest.mark.parametrize("kind", ["adapters", "lora", "frozen"])
def test_a_tower_with_new_parts_equals_the_frozen_one(backbone: Backbone, pixels: Tensor, kind: ImageTower) -> None:
    frozen = backbone.encode_image(pixels)
    parts = tuning(kind, backbone, new=True)
    with torch.no_grad(), parts.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), frozen)
    widths = {size for p in parts.parameters() if p.dim() == 2 for size in p.shape}
    assert widths == (set() if kind == "frozen" else {3, backbone.image_width})


def test_adapters_stand_beside_attention_and_feed_forward_network_of_each_block(
    backbone: Backbone, images: Tensor, pixels: Tensor
) -> None:
    adapters = tuning("adapters", backbone)
    expected, frozen = plain_tower(backbone, images, adapters), backbone.image_tokens(pixels, EVERY)
    with adapters.attach(backbone.image_blocks):
        tokens, embedding = backbone.image_tokens(pixels, EVERY), backbone.encode_image(pixels)
    for adapted, plain, before in zip(tokens, expected, frozen, strict=True):
        assert (adapted - before).abs().mean() > 0.01
        torch.testing.assert_close(adapted, plain, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(embedding, plain_joint(backbone, expected[-1])[:, 0], atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("learning", [True, False])
def test_a_tower_with_factors_is_one_whose_weights_were_changed_by_hand(
    backbone: Backbone, images: Tensor, pixels: Tensor, learning: bool
) -> None:
    lora = tuning("lora", backbone)
    by_hand, frozen = changed_by_hand(backbone, lora), backbone.image_tokens(pixels, EVERY)
    with torch.set_grad_enabled(learning), lora.attach(backbone.image_blocks):
        tokens, embedding = backbone.image_tokens(pixels, EVERY), backbone.encode_image(pixels)
    assert embedding.requires_grad == learning
    for tuned, plain, before in zip(tokens, plain_tower(by_hand, images), frozen, strict=True):
        torch.testing.assert_close(tuned, plain, atol=1e-4, rtol=1e-4)
        assert (tuned - before).abs().mean() > 0.01
    torch.testing.assert_close(embedding, by_hand.encode_image(pixels), atol=1e-4, rtol=1e-4)


def test_the_gradient_of_factors_is_that_of_weights_changed_by_hand(backbone: Backbone, pixels: Tensor) -> None:
    """With dW the gradient of a projection, that of its factors is dW down' and up' dW."""
    lora, width = tuning("lora", backbone), backbone.image_width
    by_hand = changed_by_hand(backbone, lora)
    weights = [weight.requires_grad_() for weight in projections(by_hand)]
    of_weights = torch.autograd.grad(by_hand.encode_image(pixels).square().sum(), weights)
    with lora.attach(backbone.image_blocks):
        backbone.encode_image(pixels).square().sum().backward()
    for low_rank, whole in zip(lora.attention, of_weights, strict=True):
        for part, up, down in zip((0, 2), low_rank.up, low_rank.down, strict=True):
            gradient = whole[part * width : (part + 1) * width]
            torch.testing.assert_close(up.grad, gradient @ down.T, atol=1e-3, rtol=1e-3)
            torch.testing.assert_close(down.grad, up.T @ gradient, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("kind", ["adapters", "lora"])
def test_the_tower_is_restored_bit_by_bit_after_an_exception(
    backbone: Backbone, pixels: Tensor, kind: ImageTower
) -> None:
    """The attention of the third block raises: its adapter has computed, and nothing has taken that yet."""

    def fail(*_: object) -> None:
        raise MemoryError

    parts, embedding = tuning(kind, backbone), backbone.encode_image(pixels)
    weights = {name: parameter.clone() for name, parameter in backbone.named_parameters()}
    with parts.attach(backbone.image_blocks):
        tuned = backbone.encode_image(pixels)
    block: Any = backbone.image_blocks[2]
    failing = block.attn.register_forward_pre_hook(fail)
    with pytest.raises(MemoryError), parts.attach(backbone.image_blocks):
        backbone.encode_image(pixels)
    failing.remove()
    assert all(torch.equal(parameter, weights[name]) for name, parameter in backbone.named_parameters())
    assert torch.equal(backbone.encode_image(pixels), embedding)
    with parts.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), tuned)
