"""What parity with released code does not show of MSCI and Troika: dropout, beginnings, and work that is done once."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods import three_path
from recompose.tracks.czsl.methods.attention import Interaction
from recompose.tracks.czsl.methods.msci import MSCI, Aggregator
from recompose.tracks.czsl.methods.troika import Troika
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import BLOCKS, build_method, settings_of, unsettle


def test_an_aggregator_drops_elements_of_its_output_in_training_alone() -> None:
    torch.manual_seed(0)
    aggregator = Aggregator(2, 4, 0.5)
    layers = [torch.randn(2, 5, 4) for _ in range(2)]
    whole = aggregator.eval()(layers)
    torch.manual_seed(1)
    mask = dropout(torch.ones(2, 5, 4), 0.5)
    torch.manual_seed(1)
    torch.testing.assert_close(aggregator.train()(layers), whole * mask)


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
    ("kind", "name", "settings", "place"),
    [(Troika, "troika", {"heads": 7}, "heads"), (MSCI, "msci", {"aggregated": 5}, "aggregated")],
)
def test_heads_and_blocks_that_the_tower_does_not_have_are_errors(
    backbone: Backbone, kind: type, name: str, settings: dict[str, int], place: str
) -> None:
    with raises(ArgumentError, place=place):
        build_method(kind, backbone, settings_of(name, **settings))


def test_shares_are_learned_vectors_that_begin_at_their_setting(backbone: Backbone) -> None:
    msci = build_method(MSCI, backbone, settings_of("msci", share=0.25), new=True)
    troika = build_method(Troika, backbone, settings_of("troika", traction=0.25), new=True)
    assert set(msci.shares) == {"low", "high"}
    for share in (*msci.shares.values(), troika.traction):
        assert share.requires_grad
        assert torch.equal(share, torch.full((backbone.width,), 0.25))


@torch.no_grad()
def test_tokens_are_projected_once_for_all_paths_and_blocks_of_texts(
    backbone: Backbone, images: Tensor, monkeypatch: pytest.MonkeyPatch
) -> None:
    method = build_method(MSCI, backbone, settings_of("msci"))
    world = method.encode_texts(BLOCKS)
    whole = list(method.scores(images, world, "closed"))
    projections: list[int] = []
    for interaction in method.interactions.values():
        interaction.attention.key.register_forward_hook(lambda _module, _inputs, out: projections.append(len(out)))
    monkeypatch.setattr(three_path, "TEXT_IMAGE_PAIRS", len(images))  # a text at a time
    for scores, expected in zip(method.scores(images, world, "closed"), whole, strict=True):
        torch.testing.assert_close(scores, expected, atol=1e-5, rtol=1e-4)
    assert projections == [len(images)] * 2
