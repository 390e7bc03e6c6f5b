"""Troika against texts that look at the last block's tokens one by one."""

from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.troika import Troika
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    PAIRS,
    made_method,
    plain_fused,
    plain_interaction,
    plain_norm,
    plain_paths,
    settings_of,
)

SETTINGS = settings_of("troika", fusion="logits", traction_dropout=0.3)


@pytest.fixture(scope="module")
def backbone(either: Backbone) -> Backbone:
    return either


def made(backbone: Backbone, **changed: Any) -> Troika:
    method: Troika = made_method(Troika, backbone, SETTINGS | changed)
    return method


def pulled(method: Troika) -> Any:
    """What becomes of a path's text [E] that looks at an image: t + lambda * layers(t, normed tokens of the last
    block).
    """

    def look(path: str, text: Tensor, layers: list[Tensor]) -> Tensor:
        tokens, attended = layers[-1], text
        for _ in range({"pair": 1, "state": 2, "object": 3}[path] if method.settings.token_norms == "each-path" else 1):
            tokens = plain_norm(method.norm, tokens)
        for interaction in method.interactions:
            attended = plain_interaction(interaction, attended, tokens)
        return text + method.traction * attended

    return look


@torch.no_grad()
@pytest.mark.parametrize(
    "changed", [{}, {"traction_layers": 1}, {"traction_layers": 3, "heads": 2}, {"token_norms": "once"}]
)
def test_texts_are_pulled_towards_what_the_last_block_shows(
    backbone: Backbone, images: Tensor, changed: dict[str, Any]
) -> None:
    method = made(backbone, **changed)
    assert len(method.interactions) == (SETTINGS | changed)["traction_layers"]
    views = method.encode_images(images)
    (block,) = method.encode_texts([torch.tensor(PAIRS)])
    texts = {"pair": block.pairs, "state": block.states, "object": block.objects}
    unmoved = plain_paths(method, images, PAIRS)
    for path, expected in plain_paths(method, images, PAIRS, look=pulled(method)).items():
        torch.testing.assert_close(method.logits(path, views, texts[path]), expected, atol=2e-3, rtol=1e-3)
        assert (expected - unmoved[path]).abs().max() > 0.05


@torch.no_grad()
@pytest.mark.parametrize("world", ["closed", "open"])
def test_scores_add_logits_and_the_product_of_probabilities(backbone: Backbone, images: Tensor, world: str) -> None:
    method = made(backbone)
    logits = plain_paths(method, images, PAIRS, look=pulled(method))
    expected = plain_fused(logits, PAIRS, "logits", {"closed": (0.1, 0.9), "open": (0.3, 0.7)}[world])
    actual = torch.cat(list(method.scores(images, method.encode_texts(BLOCKS), world)), dim=1)
    torch.testing.assert_close(actual, expected, atol=1e-3, rtol=5e-3)


def test_lambda_is_a_learned_vector_that_begins_at_its_setting(backbone: Backbone) -> None:
    method = made_method(Troika, backbone, SETTINGS | {"traction": 0.25}, new=True)
    assert dict(method.named_parameters())["traction"].requires_grad
    assert torch.equal(method.traction, torch.full((backbone.width,), 0.25))


def test_heads_that_cannot_share_the_width_are_an_error(backbone: Backbone) -> None:
    with raises(ArgumentError, place="heads"):
        made(backbone, heads=7)
