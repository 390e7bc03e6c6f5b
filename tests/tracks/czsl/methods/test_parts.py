"""The parts of methods: blocks, prompts, cosines, towers, disentanglers and interactions, against plain loops."""

from copy import deepcopy
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import Interaction
from recompose.tracks.czsl.methods.base import apply_blockwise, cosine_logits
from recompose.tracks.czsl.methods.clip_coop_csp import CLIP, CSP
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.image_tower import image_tuning
from recompose.tracks.czsl.methods.settings import ImageTower
from recompose.tracks.czsl.methods.three_path import CSO, ThreePath
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import assert_close, default_dtype
from tests.tracks.czsl.methods.derivations import (
    OBJECTS,
    PAIRS,
    STATES,
    build_method,
    dense,
    method_of,
    settings_of,
    unsettle,
)
from tests.tracks.czsl.methods.test_parity import METHODS

pytestmark = pytest.mark.usefixtures("in_64_bits")

ROWS = 5


@pytest.mark.parametrize(("size", "blocks"), [(2, [2, 2, 1]), (5, [5])])
def test_what_lies_between_is_computed_again_only_for_gradients_of_several_blocks(size: int, blocks: list[int]) -> None:
    sizes: list[int] = []

    def function(x: Tensor) -> Tensor:
        sizes.append(len(x))
        return x.tanh()

    actual = apply_blockwise(function, torch.ones(ROWS, 3, requires_grad=True), size=size)
    assert sizes == blocks
    actual.sum().backward()
    assert sorted(sizes[len(blocks) :]) == (sorted(blocks) if len(blocks) > 1 else [])


def test_what_is_computed_again_draws_the_same() -> None:
    x = torch.rand(ROWS, 20, generator=torch.Generator().manual_seed(4)).add(1).requires_grad_()
    torch.manual_seed(5)
    actual = apply_blockwise(lambda rows: dropout(rows, 0.5) ** 2, x, size=2)
    torch.manual_seed(6)
    actual.sum().backward()
    # of what was kept, which is doubled, the square's slope is 8 x
    expected = torch.where(actual > 0, 8 * x, torch.zeros(()))
    assert x.grad is not None
    assert_close(x.grad, expected.detach())
    assert 0.3 < float((actual > 0).float().mean()) < 0.7


PROMPT = "a photo of {state} {object}"
OWN = {"prompt": PROMPT, "dropout": 0.0}
FOUR = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 1]])


def test_clip_encodes_the_written_prompt_of_each_pair(backbone: Backbone) -> None:
    texts = [
        "a photo of red circle",
        "a photo of red boots mid-calf",
        "a photo of faux leather circle",
        "a photo of striped boots mid-calf",
    ]
    expected = backbone.model.encode_text(backbone.tokens(texts), normalize=True)
    assert_close(method_of(CLIP, backbone, STATES, OBJECTS, prompt=PROMPT).encode_pairs(FOUR), expected)


def test_where_names_are_single_tokens_csp_starts_from_clip(backbone: Backbone) -> None:
    names = ["red", "striped"], ["circle", "moon"]
    csp, clip = method_of(CSP, backbone, *names, **OWN), method_of(CLIP, backbone, *names, prompt=PROMPT)
    assert_close(csp.encode_pairs(FOUR[:2]), clip.encode_pairs(FOUR[:2]))


@default_dtype(torch.float32)
def test_cosines_are_in_32_bits_where_towers_compute_in_fewer() -> None:
    images, texts = torch.ones(1, 64), torch.ones(2, 64)
    texts[1, 0] += 2**-4  # in 16 bits both cosines would be 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (row,) = cosine_logits(torch.tensor(100.0), images, texts)
    assert row.dtype == torch.float32
    assert row[0] > row[1]


EVERYTHING = [[state, name] for state in range(3) for name in range(2)]
TARGETS = [0, 3, 4, 2]


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
        assert_close(actual, backbone.model.encode_text(texts))


# images


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
        assert_close(getattr(actual, name), getattr(expected, name))
    method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).backward()
    fixed = [p for name, p in method.named_parameters() if name.startswith("prompts.")]
    assert len(fixed) == 4
    assert not any(p.requires_grad or p.grad is not None for p in fixed)


@torch.no_grad()
def test_a_convolutional_tower_can_be_used_frozen_alone(images: Tensor) -> None:
    convolutional = random_clip(architecture="shapes-resnet")
    method = build(convolutional, image_tower="frozen")
    expected = convolutional.encode_image(convolutional.from_bytes(images))
    assert_close(method.encode_images(images).pair, expected)
    scores = dense(method, images, [torch.tensor(EVERYTHING)], "closed")
    assert_close(scores.sum(dim=1), torch.ones(4))
    for image_tower in ("adapters", "lora"):
        with raises(ArgumentError, code="no-blocks", place="image_tower"):
            build(convolutional, image_tower=image_tower)


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
    assert_close(interaction.train()(texts, tokens), expected)


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


# in the tower


@pytest.mark.parametrize("kind", ["adapters", "lora", "frozen"])
def test_a_tower_with_new_parts_equals_the_frozen_one(backbone: Backbone, pixels: Tensor, kind: ImageTower) -> None:
    frozen = backbone.encode_image(pixels)
    parts = tuning(kind, backbone, new=True)
    with torch.no_grad(), parts.attach(backbone.image_blocks):
        assert torch.equal(backbone.encode_image(pixels), frozen)
    widths = {size for p in parts.parameters() if p.dim() == 2 for size in p.shape}
    assert widths == (set() if kind == "frozen" else {3, backbone.image_width})


def test_a_tower_with_factors_is_one_whose_weights_were_changed_by_hand(backbone: Backbone, pixels: Tensor) -> None:
    """With dW the gradient of a projection, that of its factors is dW down' and up' dW."""
    lora, width = tuning("lora", backbone), backbone.image_width
    by_hand = changed_by_hand(backbone, lora)
    with torch.no_grad(), lora.attach(backbone.image_blocks):
        tokens = backbone.image_tokens(pixels, EVERY)
    others = (each.image_tokens(pixels, EVERY) for each in (by_hand, backbone))
    for tuned, plain, before in zip(tokens, *others, strict=True):
        assert_close(tuned, plain)
        assert (tuned - before).abs().mean() > 0.01
    weights = [weight.requires_grad_() for weight in projections(by_hand)]
    of_weights = torch.autograd.grad(by_hand.encode_image(pixels).square().sum(), weights)
    with lora.attach(backbone.image_blocks):
        backbone.encode_image(pixels).square().sum().backward()
    for low_rank, whole in zip(lora.attention, of_weights, strict=True):
        for part, up, down in zip((0, 2), low_rank.up, low_rank.down, strict=True):
            gradient = whole[part * width : (part + 1) * width]
            assert_close(up.grad, gradient @ down.T)
            assert_close(down.grad, up.T @ gradient)


@pytest.mark.parametrize("kind", ["adapters", "lora"])
def test_the_tower_is_restored_bit_by_bit_after_an_exception(
    backbone: Backbone, pixels: Tensor, kind: ImageTower
) -> None:
    """The attention of the third block raises: its adapter has computed, and nothing has taken that yet."""

    def fail(*_: object) -> None:
        raise MemoryError

    parts, embedding = tuning(kind, backbone), backbone.encode_image(pixels)
    weights = {name: parameter.clone() for name, parameter in backbone.named_parameters()}
    block: Any = backbone.image_blocks[2]
    failing = block.attn.register_forward_pre_hook(fail)
    with pytest.raises(MemoryError), parts.attach(backbone.image_blocks):
        backbone.encode_image(pixels)
    failing.remove()
    assert all(torch.equal(parameter, weights[name]) for name, parameter in backbone.named_parameters())
    assert torch.equal(backbone.encode_image(pixels), embedding)
