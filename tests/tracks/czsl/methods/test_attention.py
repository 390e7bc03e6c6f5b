"""Cross-attention and interaction against loops over images, heads, queries and tokens."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.attention import CrossAttention, Interaction
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import unsettle

WIDTH, QUERIES, TOKENS = 6, 3, 4


def random_rows(count: int, seed: int) -> Tensor:
    return torch.randn(2, count, WIDTH, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


@pytest.fixture
def texts() -> Tensor:
    return random_rows(QUERIES, 1)


@pytest.fixture
def tokens() -> Tensor:
    return random_rows(TOKENS, 2)


def times(matrix: list[list[float]], vector: list[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def looped_attention(attention: CrossAttention, queries: Tensor, tokens: Tensor) -> Tensor:
    weights = {name: parameter.tolist() for name, parameter in attention.named_parameters()}
    size = WIDTH // attention.heads
    actual = torch.zeros_like(queries)
    for image in range(len(queries)):
        keys = [times(weights["key.weight"], token) for token in tokens[image].tolist()]
        values = [times(weights["value.weight"], token) for token in tokens[image].tolist()]
        for query in range(queries.shape[1]):
            asked = times(weights["query.weight"], queries[image, query].tolist())
            gathered = []
            for head in range(attention.heads):
                own = range(head * size, head * size + size)
                powers = [math.exp(sum(asked[i] * key[i] for i in own) / math.sqrt(size)) for key in keys]
                gathered += [
                    sum(p * value[i] for p, value in zip(powers, values, strict=True)) / sum(powers) for i in own
                ]
            out = times(weights["out.weight"], gathered)
            actual[image, query] = torch.tensor([a + b for a, b in zip(out, weights["out.bias"], strict=True)])
    return actual


def looped_feed_forward(interaction: Interaction, texts: Tensor) -> Tensor:
    norm, up, _, _, down, _ = interaction.feed_forward
    scale, shift = norm.weight.tolist(), norm.bias.tolist()
    actual = torch.zeros_like(texts)
    for image in range(len(texts)):
        for number in range(texts.shape[1]):
            row = texts[image, number].tolist()
            mean = sum(row) / WIDTH
            deviation = math.sqrt(sum((x - mean) ** 2 for x in row) / WIDTH + 1e-5)
            normed = [(x - mean) / deviation * a + b for x, a, b in zip(row, scale, shift, strict=True)]
            hidden = [x + b for x, b in zip(times(up.weight.tolist(), normed), up.bias.tolist(), strict=True)]
            hidden = [x / (1 + math.exp(-1.702 * x)) for x in hidden]
            out = times(down.weight.tolist(), hidden)
            actual[image, number] = torch.tensor([x + b for x, b in zip(out, down.bias.tolist(), strict=True)])
    return actual


@pytest.mark.parametrize("heads", [1, 2, 3, 6])
def test_each_head_of_each_query_weighs_its_image_s_tokens(texts: Tensor, tokens: Tensor, heads: int) -> None:
    torch.manual_seed(0)
    attention = CrossAttention(WIDTH, heads, 0.0).double()
    unsettle(attention, size=0.5)
    expected = looped_attention(attention, texts, tokens)
    assert attention.heads == heads
    torch.testing.assert_close(attention(texts, tokens), expected)
    assert not torch.allclose(attention(texts, tokens.flip(0)), expected)


def test_there_is_no_bias_before_attention_and_one_after_it() -> None:
    shapes = {name: tuple(parameter.shape) for name, parameter in CrossAttention(WIDTH, 2, 0.0).named_parameters()}
    square = (WIDTH, WIDTH)
    names = ("query.weight", "key.weight", "value.weight", "out.weight")
    assert shapes == {**dict.fromkeys(names, square), "out.bias": (WIDTH,)}


@pytest.mark.parametrize("heads", [4, 5, 12])
def test_heads_that_cannot_share_the_width_are_an_error(heads: int) -> None:
    with raises(ArgumentError, place="heads"):
        CrossAttention(WIDTH, heads, 0.0)


def test_texts_that_all_images_share_need_not_be_repeated(texts: Tensor, tokens: Tensor) -> None:
    torch.manual_seed(0)
    interaction = Interaction(WIDTH, 2, 0.0).double()
    unsettle(interaction, size=0.5)
    repeated = texts[0].expand(len(tokens), -1, -1)
    torch.testing.assert_close(interaction(texts[0], tokens), interaction(repeated, tokens))


@pytest.mark.parametrize("heads", [1, 3])
def test_an_interaction_adds_attention_then_a_feed_forward_network(texts: Tensor, tokens: Tensor, heads: int) -> None:
    torch.manual_seed(0)
    interaction = Interaction(WIDTH, heads, 0.3).double().eval()
    unsettle(interaction, size=0.5)
    between = texts + looped_attention(interaction.attention, texts, tokens)
    torch.testing.assert_close(interaction(texts, tokens), between + looped_feed_forward(interaction, between))
    assert interaction.feed_forward[1].weight.shape == (4 * WIDTH, WIDTH)


def test_training_drops_projected_hidden_and_returned_elements(texts: Tensor, tokens: Tensor) -> None:
    torch.manual_seed(0)
    interaction = Interaction(WIDTH, 2, 0.5).double().train()
    unsettle(interaction, size=0.5)
    torch.manual_seed(1)
    projected, hidden, returned = (
        dropout(torch.ones(2, QUERIES, size, dtype=torch.float64), 0.5) for size in (WIDTH, 4 * WIDTH, WIDTH)
    )
    norm, up, _, _, down, _ = interaction.feed_forward
    between = texts + looped_attention(interaction.attention, texts, tokens) * projected
    wide = up(norm(between))
    expected = between + down(wide * torch.sigmoid(1.702 * wide) * hidden) * returned
    torch.manual_seed(1)
    torch.testing.assert_close(interaction(texts, tokens), expected)


def test_gradient_reaches_texts_tokens_and_every_weight(texts: Tensor, tokens: Tensor) -> None:
    torch.manual_seed(0)
    interaction = Interaction(WIDTH, 2, 0.0).double()
    texts.requires_grad_()
    tokens.requires_grad_()
    interaction(texts, tokens).square().sum().backward()
    for tensor in (texts, tokens, *interaction.parameters()):
        assert tensor.grad is not None
        assert tensor.grad.abs().sum() > 0
