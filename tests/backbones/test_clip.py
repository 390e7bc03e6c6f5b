"""CLIP behind our interface, compared with open_clip's own functions."""

from copy import deepcopy
from functools import cache
from typing import Any

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from open_clip.tokenizer import SimpleTokenizer
from torch import Tensor

from recompose.backbones.clip import Backbone, SharedTokenizer, build
from recompose.errors import ArgumentError
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import assert_close

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

TEXTS = ["a photo of a red circle", "moon", "a scratched fish left of a glowing house and a frosted heart"]


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


@pytest.fixture(scope="module")
def pixels() -> Tensor:
    return torch.randn(5, 3, 32, 32, generator=torch.Generator().manual_seed(1))


tokenizer_with = cache(SimpleTokenizer)


@pytest.mark.parametrize("options", [{}, {"clean": "whitespace", "context_length": 5}], ids=str)
@given(texts=st.lists(st.text() | st.text(alphabet="aB's 7_-<>&;!\n\t\x1bé", max_size=40), max_size=4))
@example(texts=["it&amp;s A&B", "<start_of_text>dog's 42nd", "don 't  stop ... ", "_a_ -", "word " * 90, ""])
def test_words_are_tokenized_as_open_clip_tokenizes_whole_texts(options: dict[str, Any], texts: list[str]) -> None:
    tokenizer = tokenizer_with(**options)
    assert torch.equal(SharedTokenizer(tokenizer)(texts), tokenizer(texts))


@pytest.mark.parametrize("shared", [1, 4, 6])
def test_prompts_that_begin_alike_are_encoded_as_each_alone(backbone: Backbone, shared: int) -> None:
    ids = backbone.tokens(["a photo of red cup", "a photo of old bus", "a photo of wet bus"])[:, :7]
    backbone = deepcopy(backbone).double()
    embeddings = backbone.embed_tokens(ids).detach()
    if shared == 6:
        embeddings[:, :6] = embeddings[0, :6]
    embeddings.requires_grad_(True)
    together = backbone.encode_alike(embeddings, shared)
    alone = backbone.encode_prompts(embeddings, torch.full((3,), 6))
    assert_close(together, alone)
    weights = torch.randn(alone.shape, generator=torch.Generator().manual_seed(0))
    found, expected = (torch.autograd.grad((texts * weights).sum(), embeddings)[0] for texts in (together, alone))
    assert_close(found[:, shared:], expected[:, shared:])
    assert_close(found[:, :shared].sum(dim=0), expected[:, :shared].sum(dim=0))


def test_image_tokens_are_each_block_s_output_in_the_order_asked_for(backbone: Backbone, pixels: Tensor) -> None:
    outputs: list[Tensor] = []
    backbone = deepcopy(backbone)
    for block in backbone.model.visual.transformer.resblocks:
        block.register_forward_hook(lambda _module, _inputs, output: outputs.append(output))
    asked = [3, 0, 2]
    for layer, found in zip(asked, backbone.image_tokens(pixels, asked), strict=True):
        assert_close(found, outputs[layer])


def test_tokens_reach_the_joint_space_as_the_class_token_does(backbone: Backbone, pixels: Tensor) -> None:
    visual = backbone.model.visual
    for layer, found in zip([2, 3], backbone.joint_tokens(pixels, [2, 3]), strict=True):
        (tokens,) = backbone.image_tokens(pixels, [layer])
        assert found.shape == (5, 1 + 16, 64)
        for place in (0, 1, 16):
            assert_close(found[:, place], visual.ln_post(tokens[:, place]) @ visual.proj)
    assert_close(found[:, 0], backbone.encode_image(pixels))


@torch.no_grad()
def test_a_convolutional_tower_is_encoded_as_open_clip_does_and_has_no_blocks(pixels: Tensor) -> None:
    convolutional = random_clip(architecture="shapes-resnet")
    assert (convolutional.depth, len(convolutional.image_blocks)) == (0, 0)
    assert (convolutional.width, convolutional.text_width, convolutional.image_size) == (64, 128, (32, 32))
    assert torch.equal(convolutional.encode_image(pixels), convolutional.model.visual(pixels))
    ids = convolutional.tokens(TEXTS)
    assert_close(convolutional.encode_text(ids), convolutional.model.encode_text(ids))
    with raises(ArgumentError, place="layers"):
        convolutional.image_tokens(pixels, [0])


def test_the_activation_is_the_one_asked_for(backbone: Backbone, pixels: Tensor) -> None:
    quick = build("shapes-clip", "quick_gelu").eval()
    quick.load_state_dict(backbone.state_dict())
    torch.manual_seed(2)
    assert not torch.allclose(quick.encode_image(pixels), backbone.encode_image(pixels), atol=1e-5)
    mlp = quick.model.visual.transformer.resblocks[0].mlp
    x = torch.linspace(-3, 3, 7)
    assert_close(mlp.gelu(x), x * torch.sigmoid(1.702 * x))
