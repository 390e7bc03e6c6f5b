"""MSCI against its equations, written out for one text and one image at a time."""

from itertools import product
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods import three_path
from recompose.tracks.czsl.methods.msci import MSCI, Aggregator
from recompose.tracks.czsl.methods.three_path import ThreePath
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    PAIRS,
    made_method,
    plain_fused,
    plain_interaction,
    plain_layers,
    plain_linear,
    plain_loss,
    plain_norm,
    plain_paths,
    settings_of,
)

SETTINGS = settings_of("msci")
FIRST = {1: [0], 2: [0, 1], 3: [0, 1, 2], 4: [0, 1, 2, 3]}
LAST = {1: [3], 2: [2, 3], 3: [1, 2, 3], 4: [0, 1, 2, 3]}
VARIANTS: list[dict[str, Any]] = [
    {},
    {"aggregated": 1},
    {"aggregated": 3, "heads": 2},
    {"aggregated": 4},
    {"aggregation": "ends"},
    {"aggregation": "ends", "stages": "low"},
    {"aggregation": "mean"},
    {"aggregation": "mean", "aggregated": 3, "stages": "high"},
    {"stages": "low"},
    {"stages": "high"},
    {"fusion_of_stages": "last"},
    {"fusion_of_stages": "last", "stages": "low"},
    {"pair_head": False},
]


def made(backbone: Backbone, **changed: Any) -> MSCI:
    method: MSCI = made_method(MSCI, backbone, SETTINGS | changed)
    return method


def stages_of(settings: dict[str, Any]) -> list[str]:
    return ["low", "high"] if settings["stages"] == "both" else [settings["stages"]]


def plain_features(method: MSCI, stage: str, layers: list[Tensor], settings: dict[str, Any]) -> Tensor:
    """Low or high features [..., E] of every block's outputs [..., E], before they are normed for the interaction."""
    taken = [layers[number] for number in (FIRST if stage == "low" else LAST)[settings["aggregated"]]]
    if settings["aggregation"] == "ends":
        return layers[0] if stage == "low" else layers[3]
    if settings["aggregation"] == "mean":
        return sum(taken) / len(taken)
    linear, norm, _, _ = method.aggregators[stage].map
    return plain_norm(norm, plain_linear(linear, torch.cat(taken, dim=-1))).clamp(min=0)


def staged(method: MSCI, settings: dict[str, Any]) -> Any:
    """What becomes of a text [E] that looks at an image (Eqs. 5 to 9)."""

    def look(_: str, text: Tensor, layers: list[Tensor]) -> Tensor:
        actual, stage = {}, text
        for name in stages_of(settings):
            tokens = plain_norm(method.norms[name], plain_features(method, name, layers, settings))
            actual[name] = stage = plain_interaction(method.interactions[name], stage, tokens)
        if settings["fusion_of_stages"] == "last":
            actual = {name: actual[name] for name in stages_of(settings)[-1:]}
        for name, seen in actual.items():
            text = text + method.shares[name] * seen
        return text

    return look


# aggregation


def test_an_aggregator_drops_what_it_returns_in_training_alone() -> None:
    torch.manual_seed(0)
    aggregator = Aggregator(2, 4, 0.5)
    layers = [torch.randn(2, 5, 4) for _ in range(2)]
    whole = aggregator.eval()(layers)
    torch.manual_seed(1)
    mask = dropout(torch.ones(2, 5, 4), 0.5)
    torch.manual_seed(1)
    torch.testing.assert_close(aggregator.train()(layers), whole * mask)


@torch.no_grad()
@pytest.mark.parametrize("stages", ["both", "low", "high"])
@pytest.mark.parametrize("aggregation", ["learned", "ends", "mean"])
@pytest.mark.parametrize("aggregated", [1, 2, 3, 4])
def test_texts_attend_to_the_first_and_the_last_blocks(
    backbone: Backbone, images: Tensor, aggregated: int, aggregation: str, stages: str
) -> None:
    settings = SETTINGS | {"aggregated": aggregated, "aggregation": aggregation, "stages": stages}
    method = made(backbone, **settings)
    blocks = {"low": [0], "high": [3]}
    if aggregation != "ends":
        blocks = {"low": FIRST[aggregated], "high": LAST[aggregated]}
    assert method.layers() == [blocks[name] for name in stages_of(settings)]
    layers, actual = plain_layers(method, images), ThreePath.encode_images(method, images).tokens
    for name, tokens in zip(stages_of(settings), actual, strict=True):
        expected = plain_norm(method.norms[name], plain_features(method, name, layers, settings))
        assert tokens.shape == (3, 17, backbone.width)
        torch.testing.assert_close(tokens, expected, atol=1e-3, rtol=1e-3)


@pytest.mark.parametrize("aggregation", ["learned", "ends", "mean"])
def test_blocks_that_the_tower_does_not_have_are_an_error(backbone: Backbone, aggregation: str) -> None:
    with raises(ArgumentError, place="aggregated"):
        made(backbone, aggregated=5, aggregation=aggregation)


# stages


@torch.no_grad()
@pytest.mark.parametrize("changed", VARIANTS, ids=str)
def test_texts_look_stage_by_stage_and_stages_are_fused(
    either: Backbone, images: Tensor, changed: dict[str, Any]
) -> None:
    method, settings = made(either, **changed), SETTINGS | changed
    views = method.encode_images(images)
    (block,) = method.encode_texts([torch.tensor(PAIRS)])
    texts = {"pair": block.pairs, "state": block.states, "object": block.objects}
    unmoved = plain_paths(method, images, PAIRS)
    for path, expected in plain_paths(method, images, PAIRS, look=staged(method, settings)).items():
        torch.testing.assert_close(method.logits(path, views, texts[path]), expected, atol=2e-3, rtol=1e-3)
        assert (expected - unmoved[path]).abs().max() > 0.05


@torch.no_grad()
def test_tokens_are_projected_once_for_all_paths_and_blocks_of_texts(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = made(backbone)
    world = method.encode_texts(BLOCKS)
    whole = list(method.scores(images, world, "closed"))
    projections: list[int] = []
    for interaction in method.interactions.values():
        interaction.attention.key.register_forward_hook(lambda _module, _inputs, out: projections.append(len(out)))
    monkeypatch.setattr(three_path, "TEXT_IMAGE_PAIRS", len(images))  # a text at a time
    for actual, expected in zip(method.scores(images, world, "closed"), whole, strict=True):
        torch.testing.assert_close(actual, expected, atol=1e-5, rtol=1e-4)
    assert projections == [len(images)] * 2


def test_shares_are_learned_vectors_that_begin_at_their_setting(backbone: Backbone) -> None:
    method = made_method(MSCI, backbone, SETTINGS | {"share": 0.25}, new=True)
    assert set(method.shares) == {"low", "high"}
    for share in method.shares.values():
        assert share.requires_grad
        assert torch.equal(share, torch.full((backbone.width,), 0.25))


# the whole


@torch.no_grad()
@pytest.mark.parametrize("world", ["closed", "open"])
@pytest.mark.parametrize("fusion", ["probabilities", "logits"])
def test_scores_are_those_of_equation_17(either: Backbone, images: Tensor, fusion: str, world: str) -> None:
    method = made(either, fusion=fusion)
    logits = plain_paths(method, images, PAIRS, look=staged(method, SETTINGS))
    expected = plain_fused(logits, PAIRS, fusion, {"closed": (0.1, 0.9), "open": (0.3, 0.7)}[world])
    actual = torch.cat(list(method.scores(images, method.encode_texts(BLOCKS), world)), dim=1)
    torch.testing.assert_close(actual, expected, atol=1e-3, rtol=5e-3)


@torch.no_grad()
@pytest.mark.parametrize("pair_head", [True, False])
def test_the_loss_is_that_of_equation_16(either: Backbone, images: Tensor, pair_head: bool) -> None:
    method = made(either, pair_head=pair_head).train()
    logits = plain_paths(method, images, PAIRS, look=staged(method, SETTINGS), training=True)
    expected = plain_loss(logits, [3, 0, 2], PAIRS, SETTINGS["loss_weights"])
    assert method.loss(images, torch.tensor([3, 0, 2]), torch.tensor(PAIRS)).item() == pytest.approx(expected, rel=2e-3)


@torch.no_grad()
def test_without_its_head_a_pair_is_seen_in_the_image_s_embedding_itself(backbone: Backbone, images: Tensor) -> None:
    without, with_ = made(backbone, pair_head=False), made(backbone)
    embedding = plain_layers(without, images)[-1][:, 0]
    torch.testing.assert_close(without.encode_images(images).pair, embedding, atol=1e-3, rtol=1e-3)
    assert (with_.encode_images(images).pair >= 0).all()
    assert not any(name.startswith("of_pair") for name, _ in without.named_parameters())


@pytest.mark.parametrize(
    ("aggregation", "stages", "fusion_of_stages", "pair_head"),
    list(product(["learned", "ends", "mean"], ["both", "low", "high"], ["dynamic", "last"], [True, False])),
)
def test_every_variant_learns_with_all_it_has_and_has_nothing_else(
    backbone: Backbone, images: Tensor, aggregation: str, stages: str, fusion_of_stages: str, pair_head: bool
) -> None:
    settings = SETTINGS | {
        "aggregation": aggregation,
        "stages": stages,
        "fusion_of_stages": fusion_of_stages,
        "pair_head": pair_head,
    }
    method = made(backbone, **settings).train()
    used = stages_of(settings)
    assert list(method.interactions) == list(method.norms) == used
    assert list(method.aggregators) == (used if aggregation == "learned" else [])
    assert set(method.shares) == set(used if fusion_of_stages == "dynamic" else used[-1:])
    method.loss(images, torch.tensor([3, 0, 2]), torch.tensor(PAIRS)).backward()
    for name, parameter in method.named_parameters():
        if name.startswith("backbone."):
            assert parameter.grad is None, name
            continue
        assert parameter.grad is not None, name
        # batch normalisation takes away what a bias before it adds
        assert parameter.grad.any() or name.endswith(".0.bias"), name
