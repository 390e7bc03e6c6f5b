"""LoRA against towers whose weights were changed by hand, and what can be tuned in a tower."""

from copy import deepcopy
from math import sqrt
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.backbones.low_rank import BlockLoRA, LowRank
from recompose.tracks.czsl.methods.image_tower import BlockAdapters, image_tuning
from tests.tracks.czsl.methods.derivations import plain_joint, plain_tower, small_backbone, unsettle

EVERY = [0, 1, 2, 3]


@pytest.fixture(scope="module", params=["shapes-clip", "uneven-clip"])
def either(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Backbone:
    return small_backbone(request.param, tmp_path_factory.mktemp("architectures")).requires_grad_(False)


@pytest.fixture
def backbone(tmp_path: Path) -> Backbone:
    return small_backbone("uneven-clip", tmp_path).requires_grad_(False)


@pytest.fixture(scope="module")
def pixels() -> Tensor:
    return torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def lora_of(backbone: Backbone, seed: int | None = 7) -> Any:
    """Factors of rank 3; moved away from where they begin, unless there is no seed."""
    torch.manual_seed(1)
    actual = BlockLoRA(backbone.image_blocks, backbone.image_width, rank=3)
    if seed is not None:
        unsettle(actual, seed=seed, size=0.3)
    return actual


def projections(backbone: Backbone) -> list[Tensor]:
    """Of each block the joint weight [3 * W, W] of queries, keys and values."""
    blocks: Any = backbone.image_blocks
    return [block.attn.in_proj_weight for block in blocks]


@torch.no_grad()
def changed(backbone: Backbone, lora: Any) -> Backbone:
    """A copy of the backbone with other weights for queries, which come first, and values, which come last."""
    actual, width = deepcopy(backbone), backbone.image_width
    for weight, low_rank in zip(projections(actual), lora.attention, strict=True):
        for rows, up, down in zip((0, 2 * width), low_rank.up, low_rank.down, strict=True):
            for i in range(width):
                weight[rows + i] += sum(up[i, r] * down[r] for r in range(3))
    return actual


def state_of(backbone: Backbone) -> dict[str, tuple[int, bool, bytes]]:
    """Of each parameter by name: which one it is, whether it trains, and its bytes."""
    return {name: (id(p), p.requires_grad, p.detach().numpy().tobytes()) for name, p in backbone.named_parameters()}


def kinds(backbone: Backbone) -> list[type]:
    return [type(part) for part in backbone.modules()]


# one product


def test_products_begin_as_zero_behind_a_random_projection() -> None:
    torch.manual_seed(0)
    low_rank = LowRank(100, 50)
    assert not any(up.any() for up in low_rank.up)
    for down in low_rank.down:
        # uniform within the bound of Kaiming's initialisation with a slope of the square root of 5
        weights = down.detach().abs()
        assert 0.99 / sqrt(100) < weights.max() <= 1 / sqrt(100)
        assert float(weights.mean()) == pytest.approx(0.5 / sqrt(100), rel=0.05)
    assert not torch.equal(*low_rank.down)


# in the tower


def test_a_tower_with_new_factors_equals_the_frozen_one(either: Backbone, pixels: Tensor) -> None:
    frozen, embedding = either.image_tokens(pixels, EVERY), either.encode_image(pixels)
    with lora_of(either, seed=None).attach(either.image_blocks):
        with torch.no_grad():
            assert all(map(torch.equal, either.image_tokens(pixels, EVERY), frozen))
            assert torch.equal(either.encode_image(pixels), embedding)
        # where there are gradients PyTorch has another way to compute the tower's attention
        torch.testing.assert_close(either.encode_image(pixels), embedding, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("learning", [True, False])
def test_a_tower_with_factors_is_one_whose_weights_were_changed_by_hand(
    either: Backbone, pixels: Tensor, learning: bool
) -> None:
    lora = lora_of(either)
    by_hand = changed(either, lora)
    with torch.set_grad_enabled(learning), lora.attach(either.image_blocks):
        tokens, embedding = either.image_tokens(pixels, EVERY), either.encode_image(pixels)
    assert embedding.requires_grad == learning
    for actual, expected, written, frozen in zip(
        tokens,
        by_hand.image_tokens(pixels, EVERY),
        plain_tower(by_hand, pixels),
        either.image_tokens(pixels, EVERY),
        strict=True,
    ):
        torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-4)
        torch.testing.assert_close(actual, written, atol=1e-4, rtol=1e-4)
        assert (actual - frozen).abs().mean() > 0.01
    torch.testing.assert_close(embedding, by_hand.encode_image(pixels), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(embedding, plain_joint(by_hand, tokens[-1])[:, 0], atol=1e-4, rtol=1e-4)


def test_the_tower_is_restored_bit_by_bit_after_an_exception(backbone: Backbone, pixels: Tensor) -> None:
    def fail(*_: object) -> None:
        raise MemoryError

    lora = lora_of(backbone)
    before, parts, embedding = state_of(backbone), kinds(backbone), backbone.encode_image(pixels)
    with lora.attach(backbone.image_blocks):
        tuned_embedding = backbone.encode_image(pixels)
    block: Any = backbone.image_blocks[2]
    failing = block.mlp.register_forward_pre_hook(fail)
    with pytest.raises(MemoryError), lora.attach(backbone.image_blocks):
        backbone.encode_image(pixels)
    failing.remove()
    assert state_of(backbone) == before
    assert kinds(backbone) == parts
    assert torch.equal(backbone.encode_image(pixels), embedding)
    with lora.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), tuned_embedding)


@pytest.mark.parametrize("blocks", [slice(0, 3), slice(0, 0)])
def test_a_tower_of_another_depth_is_refused_and_left_frozen(backbone: Backbone, blocks: slice) -> None:
    lora, before, parts = lora_of(backbone), state_of(backbone), kinds(backbone)
    with pytest.raises(ValueError, match=r"zip\(\)"), lora.attach(backbone.image_blocks[blocks]):
        pass
    assert kinds(backbone) == parts
    assert state_of(backbone) == before


# training


def test_the_gradient_is_that_of_weights_changed_by_hand(backbone: Backbone, pixels: Tensor) -> None:
    """With dW the gradient of a projection, that of its factors is dW down' and up' dW."""
    lora, width = lora_of(backbone), backbone.image_width
    by_hand = changed(backbone, lora)
    weights = [weight.requires_grad_() for weight in projections(by_hand)]
    of_weights = torch.autograd.grad(by_hand.encode_image(pixels).square().sum(), weights)
    with lora.attach(backbone.image_blocks):
        backbone.encode_image(pixels).square().sum().backward()
    for low_rank, whole in zip(lora.attention, of_weights, strict=True):
        for part, up, down in zip((0, 2), low_rank.up, low_rank.down, strict=True):
            gradient = whole[part * width : (part + 1) * width]
            torch.testing.assert_close(up.grad, gradient @ down.T, atol=1e-3, rtol=1e-3)
            torch.testing.assert_close(down.grad, up.T @ gradient, atol=1e-3, rtol=1e-3)


def test_gradient_of_new_factors_is_not_zero_where_they_add(backbone: Backbone, pixels: Tensor) -> None:
    lora = lora_of(backbone, seed=None)
    with lora.attach(backbone.image_blocks):
        backbone.encode_image(pixels).square().sum().backward()
    for name, parameter in lora.named_parameters():
        assert parameter.grad is not None
        assert bool(parameter.grad.any()) == (".up." in name), name


# how many, and of which towers


def test_factors_of_vit_l_14_have_6_29_million_parameters() -> None:
    vision = open_clip.get_model_config("ViT-L-14")["vision_cfg"]
    assert (vision["layers"], vision["width"]) == (24, 1024)
    with torch.device("meta"):
        lora = BlockLoRA(nn.ModuleList(nn.Identity() for _ in range(24)), 1024, rank=64)
    assert sum(p.numel() for p in lora.parameters()) == 24 * 2 * (64 * 1024 + 1024 * 64) == 6_291_456
    assert all(p.requires_grad for p in lora.parameters())


def test_a_tower_is_tuned_as_it_is_asked_for(backbone: Backbone, pixels: Tensor) -> None:
    lora, adapters = (image_tuning(kind, backbone, bottleneck=5, dropout=0.1) for kind in ("lora", "adapters"))
    assert isinstance(lora, BlockLoRA)
    factors = {tuple(factor.shape) for factor in lora.parameters()}
    assert factors == {(5, backbone.image_width), (backbone.image_width, 5)}
    assert isinstance(adapters, BlockAdapters)
    parts = list(adapters.modules())
    assert {part.in_features for part in parts if isinstance(part, nn.Linear)} == {5, backbone.image_width}
    assert {part.p for part in parts if isinstance(part, nn.Dropout)} == {0.1}
    frozen, before = image_tuning("frozen", backbone, bottleneck=5, dropout=0.1), backbone.encode_image(pixels)
    assert isinstance(frozen, nn.Module)
    assert not list(frozen.parameters())
    with frozen.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), before)
