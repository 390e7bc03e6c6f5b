"""The three paths against loops over images, prompts, states and objects."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods import base as blocks
from recompose.tracks.czsl.methods import prompts as slots
from recompose.tracks.czsl.methods import three_path
from recompose.tracks.czsl.methods.attention import CrossAttention
from recompose.tracks.czsl.methods.disentangler import Disentangler
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.three_path import CSO, ThreePath
from recompose.tracks.czsl.methods.troika import Troika
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    PAIRS,
    build_method,
    method_of,
    plain_disentangled,
    plain_fused,
    plain_loss,
    plain_mean,
    plain_paths,
    random_images,
    settings_of,
    small_backbone,
    unsettle,
    words,
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


def dense(method: ThreePath, images: Tensor, blocks: list[Tensor], world: str) -> Tensor:
    """The scores of all blocks of a world, side by side."""
    with torch.no_grad():
        return torch.cat(list(method.scores(images, method.encode_texts(blocks), world)), dim=1)


# prompts


def test_prompts_begin_as_the_template_s_and_the_names_embeddings(either: Backbone) -> None:
    prompts = build(either, new=True).prompts
    context = either.embed_tokens(torch.tensor(words(either, "a photo of")))
    assert set(prompts.contexts) == {"pair", "state", "object"}
    for learned in prompts.contexts.values():
        assert torch.equal(learned, context)
    names = ["red", "faux leather", "striped", "circle", "boots mid-calf"]
    torch.testing.assert_close(prompts.primitives, torch.stack([plain_mean(either, name) for name in names]))


def test_where_names_are_single_tokens_texts_begin_as_those_of_clip(either: Backbone) -> None:
    method = method_of(CSO, either, ["red", "striped"], ["circle", "moon"], **settings_of("c-s-o")).eval()
    (block,) = method.encode_texts([torch.tensor([[0, 0], [1, 1], [1, 0]])])
    for actual, names in (
        (block.pairs, ["red circle", "striped moon", "striped circle"]),
        (block.states, ["red", "striped"]),
        (block.objects, ["circle", "moon"]),
    ):
        texts = either.tokens([f"a photo of {name}" for name in names])
        torch.testing.assert_close(actual, either.model.encode_text(texts), atol=1e-5, rtol=1e-4)


def test_one_mask_drops_elements_of_states_and_objects_in_all_prompts(backbone: Backbone) -> None:
    method = build(backbone, attribute_dropout=0.5).train()
    seen: list[tuple[Tensor, ...]] = []
    hook = method.prompts.prompt.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[1:]))
    method.encode_texts(BLOCKS)
    hook.remove()
    (states,), (objects,) = (contents for contents in seen if len(contents) == 1)
    in_pairs = [contents for contents in seen if len(contents) == 2]
    assert len(in_pairs) == len(BLOCKS)
    for (of_states, of_objects), index in zip(in_pairs, BLOCKS, strict=True):
        assert torch.equal(of_states, torch.stack([states[state] for state in index[:, 0]]))
        assert torch.equal(of_objects, torch.stack([objects[name] for name in index[:, 1]]))
    vectors = torch.cat([states, objects])
    assert 0.4 < float((vectors == 0).float().mean()) < 0.6
    remains = vectors != 0
    torch.testing.assert_close(vectors[remains], 2 * method.prompts.primitives[remains])


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


@pytest.mark.parametrize("training", [False, True])
@pytest.mark.parametrize("layers", [1, 2])
def test_a_disentangler_that_begins_at_zero_begins_as_its_input_and_learns(layers: int, training: bool) -> None:
    torch.manual_seed(0)
    head = Disentangler(6, layers, 0.5, end="linear", start="residual-zero").train(training)
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


@torch.no_grad()
@pytest.mark.parametrize("name", METHODS)
def test_with_heads_that_begin_at_zero_each_path_begins_as_clip_sees_the_image(
    backbone: Backbone, images: Tensor, name: str
) -> None:
    own = {"pair_head": True} if name == "msci" else {}
    heads = {"disentangler_layers": 2, "disentangler_end": "linear", "disentangler_start": "residual-zero"}
    views = build(backbone, name, new=True, **heads, **own).encode_images(images)
    expected = backbone.joint_tokens(backbone.from_bytes(images), [3])[0][:, 0]
    for view in (views.pair, views.state, views.object):
        assert torch.equal(view, expected)
    random = build(backbone, name, new=True, **own).encode_images(images)
    assert not torch.allclose(random.state, expected, atol=1e-2)


def test_a_disentangler_drops_what_it_returns() -> None:
    torch.manual_seed(0)
    head = Disentangler(6, 1, 0.5).train()
    unsettle(head, size=0.5)
    x = torch.randn(5, 6)
    torch.manual_seed(1)
    expected = plain_disentangled(head, x, True) * dropout(torch.ones(5, 6), 0.5)
    torch.manual_seed(1)
    torch.testing.assert_close(head(x), expected, atol=1e-5, rtol=1e-4)


# what is tuned


def test_fixed_prompts_say_the_template_and_the_names_and_learn_nothing(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone, prompts="fixed", attribute_dropout=0.5).train()
    (actual,), (expected,) = (of.encode_texts([torch.tensor(PAIRS)]) for of in (method, build(backbone, new=True)))
    for name in ("pairs", "states", "objects"):
        torch.testing.assert_close(getattr(actual, name), getattr(expected, name))
    method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).backward()
    fixed = [p for name, p in method.named_parameters() if name.startswith("prompts.")]
    assert len(fixed) == 4
    assert not any(p.requires_grad or p.grad is not None for p in fixed)


@pytest.mark.parametrize("image_tower", ["adapters", "lora", "frozen"])
def test_a_tower_is_tuned_as_asked_and_only_while_it_computes(
    backbone: Backbone, images: Tensor, image_tower: str
) -> None:
    method = build(backbone, image_tower=image_tower)
    pixels = backbone.from_bytes(images)
    frozen = backbone.encode_image(pixels)
    with method.adapters.attach(backbone.image_blocks):
        expected = backbone.encode_image(pixels)
    seen: list[Tensor] = []
    hook = method.of_state.register_forward_hook(lambda _module, inputs, _output: seen.append(inputs[0]))
    method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).backward()
    hook.remove()
    torch.testing.assert_close(seen[0], expected, atol=1e-5, rtol=1e-4)
    assert torch.allclose(expected, frozen, atol=1e-3) == (image_tower == "frozen")
    assert torch.equal(backbone.encode_image(pixels), frozen)
    learned = [p for name, p in method.named_parameters() if name.startswith("adapters.")]
    assert bool(learned) == (image_tower != "frozen")
    assert all(p.grad is not None and p.grad.any() for p in learned)
    assert all(p.grad is None and not p.requires_grad for p in backbone.parameters())


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


def test_the_loss_is_the_weighted_sum_of_three_cross_entropies(either: Backbone, images: Tensor) -> None:
    weights = [0.3, 2.0, 0.7]
    method = build(either, loss_weights=weights).train()
    expected = plain_loss(plain_paths(method, images, PAIRS, training=True), TARGETS, PAIRS, weights)
    assert method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS)).item() == pytest.approx(expected, rel=1e-3)


# scores


@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("fusion", ["probabilities", "logits"])
def test_scores_fuse_a_pair_as_a_whole_with_its_state_and_object(
    either: Backbone, images: Tensor, fusion: str, world: str
) -> None:
    method = build(either, fusion=fusion)
    weights = {"closed": (0.1, 0.9), "open": (0.3, 0.7)}[world]
    expected = plain_fused(plain_paths(method, images, PAIRS), PAIRS, fusion, weights)
    actual = dense(method, images, BLOCKS, world)
    torch.testing.assert_close(actual, expected, atol=1e-3, rtol=5e-3)


def test_in_a_world_of_one_block_cross_attention_is_computed_once(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone, "troika", fusion="probabilities")
    looks: list[int] = []
    hook = method.interactions[0].register_forward_hook(lambda _module, _inputs, out: looks.append(out.shape[1]))
    dense(method, images, [torch.tensor(PAIRS)], "closed")
    hook.remove()
    assert sorted(looks) == [2, 3, 5]  # objects, states, pairs


# evaluation


def test_training_takes_batch_statistics_and_remembers_them(backbone: Backbone, images: Tensor) -> None:
    method = build(backbone).train()
    before = [method.of_state[1].running_mean.clone(), method.of_object[1].running_mean.clone()]
    method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS))
    embedding = method.encode_images(images).pair
    for head, mean in zip((method.of_state, method.of_object), before, strict=True):
        batch = (embedding @ head[0].weight.T + head[0].bias).mean(dim=0)
        # two passes, each a tenth of the way
        torch.testing.assert_close(head[1].running_mean, 0.81 * mean + 0.19 * batch, atol=1e-5, rtol=1e-4)


# blocks of computation


def learned_from(method: ThreePath, images: Tensor) -> tuple[Tensor, dict[str, Tensor]]:
    """A loss and its gradients, with the same randomness each time."""
    method.train().zero_grad()
    torch.manual_seed(11)
    loss = method.loss(images, torch.tensor(TARGETS), torch.tensor(PAIRS))
    loss.backward()
    return loss.detach(), {name: p.grad.clone() for name, p in method.named_parameters() if p.grad is not None}


def assert_same_learning(one: tuple[Tensor, dict[str, Tensor]], other: tuple[Tensor, dict[str, Tensor]]) -> None:
    torch.testing.assert_close(one[0], other[0], atol=1e-5, rtol=1e-5)
    assert one[1].keys() == other[1].keys()
    for name, gradient in one[1].items():
        torch.testing.assert_close(gradient, other[1][name], atol=1e-5, rtol=1e-3, msg=name)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "texts", "looks"), [("c-s-o", 2, 1), ("troika", 1, 9), ("msci", 2, 1)])
def test_texts_in_blocks_of_any_size_teach_and_score_the_same(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch, name: str, texts: int, looks: int
) -> None:
    method = build(backbone, name, attribute_dropout=0.5, disentangler_dropout=0.5, adapter_dropout=0.5)
    learned = learned_from(method, images)
    scores = dense(method.eval(), images, BLOCKS, "open")
    monkeypatch.setattr(slots, "TEXTS", texts)
    monkeypatch.setattr(three_path, "TEXT_IMAGE_PAIRS", looks)
    encoded: list[int] = []
    looked: list[int] = []
    hooks = [method.prompts.prompt.register_forward_hook(lambda _module, _inputs, out: encoded.append(len(out)))]
    hooks += [
        part.register_forward_hook(lambda _module, _inputs, out: looked.append(out.shape[1]))
        for part in method.modules()
        if isinstance(part, CrossAttention)
    ]
    torch.testing.assert_close(dense(method.eval(), images, BLOCKS, "open"), scores, atol=1e-5, rtol=1e-4)
    assert_same_learning(learned_from(method, images), learned)
    for hook in hooks:
        hook.remove()
    assert max(encoded) == texts
    assert name == "c-s-o" or max(looked) == max(1, looks // 4)


def test_what_is_computed_again_drops_the_same_elements(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = build(backbone, "troika", traction_dropout=0.5)
    monkeypatch.setattr(slots, "TEXTS", 2)
    monkeypatch.setattr(three_path, "TEXT_IMAGE_PAIRS", 8)
    again = learned_from(method, images)
    counts: list[int] = []

    def count(function: Callable[..., Tensor], *rows: Tensor, use_reentrant: bool) -> Tensor:
        counts.append(len(rows[0]))
        return function(*rows)

    monkeypatch.setattr(blocks, "checkpoint", count)
    assert_same_learning(again, learned_from(method, images))
    assert max(counts) == 2  # texts at once, of prompts and of looks at 4 images
