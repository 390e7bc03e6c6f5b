"""Adapters against loops over their units and over the blocks of the tower."""

from math import sqrt

import open_clip
import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.image_tower import Adapter, BlockAdapters
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import plain_joint, plain_tower, unsettle

EVERY = [0, 1, 2, 3]


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip().requires_grad_(False)


@pytest.fixture(scope="module")
def pixels() -> Tensor:
    return torch.randn(3, 3, 32, 32, generator=torch.Generator().manual_seed(1))


def adapters_of(backbone: Backbone, rate: float = 0.0) -> BlockAdapters:
    return BlockAdapters(backbone.image_blocks, backbone.image_width, bottleneck=8, dropout=rate)


@pytest.fixture
def adapters(backbone: Backbone) -> BlockAdapters:
    """Adapters that add something, each something else."""
    torch.manual_seed(1)
    actual = adapters_of(backbone)
    unsettle(actual, size=0.3)
    return actual


def hooks(backbone: Backbone) -> int:
    return sum(len(part._forward_hooks) + len(part._forward_pre_hooks) for part in backbone.modules())


# one adapter


def test_an_adapter_drops_what_its_bottleneck_holds_and_only_in_training() -> None:
    adapter = Adapter(5, 3, 0.5)
    unsettle(adapter, size=1.0)
    x = torch.randn(2, 4, 5, generator=torch.Generator().manual_seed(2))
    hidden = (x @ adapter.down.weight.T + adapter.down.bias).clamp(min=0)
    torch.manual_seed(3)
    mask = dropout(torch.ones(2, 4, 3), 0.5)
    torch.manual_seed(3)
    actual = adapter.train()(x)
    torch.testing.assert_close(actual, 0.1 * ((hidden * mask) @ adapter.up.weight.T + adapter.up.bias))
    torch.testing.assert_close(adapter.eval()(x), 0.1 * (hidden @ adapter.up.weight.T + adapter.up.bias))


def test_an_adapter_begins_as_zero_behind_a_random_projection() -> None:
    torch.manual_seed(0)
    adapter = Adapter(100, 50, 0.1)
    assert not any(part.any() for part in (adapter.down.bias, adapter.up.weight, adapter.up.bias))
    weights = adapter.down.weight.detach().abs()
    # uniform within the bound of Kaiming's initialisation with a slope of the square root of 5
    assert 0.99 / sqrt(100) < weights.max() <= 1 / sqrt(100)
    assert float(weights.mean()) == pytest.approx(0.5 / sqrt(100), rel=0.05)


# in the tower


@pytest.mark.slow
def test_a_tower_with_new_adapters_equals_the_frozen_one(backbone: Backbone, pixels: Tensor) -> None:
    frozen, embedding = backbone.image_tokens(pixels, EVERY), backbone.encode_image(pixels)
    adapters = adapters_of(backbone, 0.1).train()
    with adapters.attach(backbone.image_blocks):
        with torch.no_grad():
            assert all(map(torch.equal, backbone.image_tokens(pixels, EVERY), frozen))
            assert torch.equal(backbone.encode_image(pixels), embedding)
        # where there are gradients PyTorch has another way to compute the tower's attention
        torch.testing.assert_close(backbone.encode_image(pixels), embedding, atol=1e-5, rtol=1e-4)


def test_adapters_stand_beside_attention_and_feed_forward_network_of_each_block(
    backbone: Backbone, pixels: Tensor, adapters: BlockAdapters
) -> None:
    expected, frozen = plain_tower(backbone, pixels, adapters), backbone.image_tokens(pixels, EVERY)
    with adapters.attach(backbone.image_blocks):
        actual, embedding = backbone.image_tokens(pixels, EVERY), backbone.encode_image(pixels)
    for adapted, plain, before in zip(actual, expected, frozen, strict=True):
        assert (adapted - before).abs().mean() > 0.01
        torch.testing.assert_close(adapted, plain, atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(embedding, plain_joint(backbone, expected[-1])[:, 0], atol=1e-4, rtol=1e-4)


def test_the_tower_is_frozen_again_after_an_exception(
    backbone: Backbone, pixels: Tensor, adapters: BlockAdapters
) -> None:
    """The attention of the third block raises: its adapter has computed, and nothing has taken that yet."""

    def fail(*_: object) -> None:
        raise MemoryError

    before = backbone.encode_image(pixels)
    with adapters.attach(backbone.image_blocks):
        adapted = backbone.encode_image(pixels)
    failing = backbone.image_blocks[2].attn.register_forward_pre_hook(fail)
    with pytest.raises(MemoryError), adapters.attach(backbone.image_blocks):
        backbone.encode_image(pixels)
    failing.remove()
    assert hooks(backbone) == 0
    assert torch.equal(backbone.encode_image(pixels), before)
    with adapters.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), adapted)


def test_a_tower_of_another_depth_is_refused_and_left_frozen(backbone: Backbone, adapters: BlockAdapters) -> None:
    with pytest.raises(ValueError, match=r"zip\(\)"), adapters.attach(backbone.image_blocks[:3]):
        pass
    assert hooks(backbone) == 0


def test_gradient_of_new_adapters_is_not_zero_where_they_add(backbone: Backbone, pixels: Tensor) -> None:
    adapters = adapters_of(backbone)
    with adapters.attach(backbone.image_blocks):
        backbone.encode_image(pixels).square().sum().backward()
    for name, parameter in adapters.named_parameters():
        assert bool(parameter.grad.any()) == (".up." in name), name


@pytest.mark.slow
def test_adapters_of_vit_l_14_have_6_34_million_parameters() -> None:
    vision = open_clip.get_model_config("ViT-L-14")["vision_cfg"]
    assert (vision["layers"], vision["width"]) == (24, 1024)
    with torch.device("meta"):
        adapters = BlockAdapters(nn.ModuleList(nn.Identity() for _ in range(24)), 1024, bottleneck=64, dropout=0.1)
    assert sum(p.numel() for p in adapters.parameters()) == 48 * (1024 * 64 + 64 + 64 * 1024 + 1024) == 6_343_680
    assert sum(isinstance(part, Adapter) for part in adapters.modules()) == 48
