"""Attribution beside loops, hooks and finite differences, in 64 bits on a tiny model."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, build, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.vlc.attribution import methods
from recompose.tracks.vlc.attribution.methods import attention
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.loops import cosine
from tests.tracks.vlc.tiny import backbone_of

TEXTS = ["a red circle above a square", "two stars", "a plain blue ring"]
STEP = 1e-4  # of differences of fourth order, whose error is its fourth power
Matrix = list[list[float]]


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    """Attention and gradients that are far from even, and not so far that little else shows."""
    backbone = backbone_of(1).double()
    with torch.no_grad():
        for block in (*backbone.model.transformer.resblocks, *backbone.image_blocks):
            block.attn.in_proj_weight.mul_(2)
        backbone.model.token_embedding.weight.mul_(40)
        backbone.model.logit_scale.fill_(1.0)
    return backbone


@pytest.fixture(scope="module")
def ids(backbone: Backbone) -> Tensor:
    return backbone.tokens(TEXTS)


@pytest.fixture(scope="module")
def pixels() -> Tensor:
    return torch.randn(len(TEXTS), 3, 32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(2))


@pytest.fixture(scope="module")
def perturbed(backbone: Backbone, ids: Tensor) -> tuple[Tensor, Tensor]:
    """Perturbations: three of the first text, none of the second, one of the third."""
    others = [
        ["a green circle above a square", "a red triangle above a square", "a red motorcyclist above a square"],
        ["", "", ""],
        ["", "a plain blue star", ""],
    ]
    changed = torch.zeros(3, 3, ids.shape[1], dtype=torch.bool)
    changed[0, 0, 2] = changed[0, 1, 3] = changed[0, 2, 3] = True
    changed[2, 1, 3:5] = True
    return torch.stack([backbone.tokens(each) for each in others]), changed


# the towers


def test_towers_block_by_block_are_the_backbones(backbone: Backbone, ids: Tensor, pixels: Tensor) -> None:
    tokens = methods.embed_texts(backbone, ids)
    texts, images = methods.read_texts(backbone, tokens), methods.read_images(backbone, pixels)
    torch.testing.assert_close(texts.features, backbone.encode_text(ids), rtol=0, atol=1e-12)
    torch.testing.assert_close(images.features, backbone.encode_image(pixels), rtol=0, atol=1e-12)
    for each in (*texts.attention, *images.attention):
        assert_close(each.sum(dim=-1), torch.ones_like(each[..., 0]))
        assert each.std(dim=-1).max() > 0.1
    assert all(each.triu(1).count_nonzero() == 0 for each in texts.attention)


# slow computations


class Slow:
    """Attention computed head by head with loops, to be set in place of a backbone's; it keeps probabilities and adds
    something to them if asked.
    """

    def __init__(self) -> None:
        self.seen: list[Tensor] = []
        self.added: dict[int, Tensor] = {}  # to the probabilities of a layer

    def attend(
        self, out: torch.nn.Module, queries: Tensor, keys: Tensor, values: Tensor, mask: Tensor | None = None
    ) -> Tensor:
        count, heads, length, width = queries.shape
        probabilities = torch.zeros(count, heads, length, length, dtype=queries.dtype)
        for head in range(heads):
            for query in range(length):
                allowed = query + 1 if mask is not None else length
                dots = (keys[:, head, :allowed] * queries[:, head, query, None]).sum(dim=2) / math.sqrt(width)
                powers = dots.exp()
                probabilities[:, head, query, :allowed] = powers / powers.sum(dim=1, keepdim=True)
        layer = len(self.seen)
        self.seen.append(probabilities)
        used = probabilities + self.added.get(layer, 0)
        heads_out = [used[:, head] @ values[:, head] for head in range(heads)]
        attended: Tensor = out(torch.cat(heads_out, dim=2))
        return attended


@pytest.fixture
def slow(backbone: Backbone) -> Iterator[Slow]:
    slow = Slow()
    layers = [block.attn for block in (*backbone.model.transformer.resblocks, *backbone.image_blocks)]
    for layer in layers:
        layer.attend = partial(slow.attend, layer.out_proj)
    yield slow
    for layer in layers:
        del layer.attend


@torch.no_grad()
def differences(ends: list[float]) -> list[float]:
    """Return derivatives of fourth order of values after a step ahead, a step behind, two ahead and two behind."""
    values = np.array(ends).reshape(4, -1)
    return ((8 * (values[0] - values[1]) - (values[2] - values[3])) / (12 * STEP)).tolist()


def attention_and_gradients(
    slow: Slow, encode: Callable[[int], Tensor], others: Tensor, scale: float
) -> tuple[list[Tensor], list[Tensor]]:
    """The attention of each layer [heads, length, length], and what the similarity gains with each entry of it, by
    differences; entries are rows of a batch.
    """
    slow.seen, slow.added = [], {}
    encode(1)
    attention = [each[0] for each in slow.seen]
    gradients = []
    for layer, probabilities in enumerate(attention):
        size = probabilities.numel()
        moves = STEP * torch.eye(size, dtype=torch.float64).view(size, *probabilities.shape)
        slow.seen, slow.added = [], {layer: torch.cat([moves, -moves, 2 * moves, -2 * moves])}
        ends = [scale * cosine(row, others.tolist()) for row in encode(4 * size).tolist()]
        gradients.append(torch.tensor(differences(ends), dtype=torch.float64).view(probabilities.shape))
    return attention, gradients


def relevance(attention: list[Tensor], gradients: list[Tensor], heads: str, clamp: str, layers: str) -> Matrix:
    """R by loops over its entries, all rows of it."""
    length = attention[0].shape[-1]
    r = [[float(row == column) for column in range(length)] for row in range(length)]
    for a, g in list(zip(attention, gradients, strict=True))[0 if layers == "all" else -1 :]:
        e = [[0.0] * length for _ in range(length)]
        for row in range(length):
            for column in range(length):
                products = [float(a[head, row, column] * g[head, row, column]) for head in range(len(a))]
                if clamp == "each":
                    products = [max(product, 0.0) for product in products]
                e[row][column] = sum(products) / (len(a) if heads == "mean" else 1)
                if clamp == "joined":
                    e[row][column] = max(e[row][column], 0.0)
        product = [[sum(e[i][k] * r[k][j] for k in range(length)) for j in range(length)] for i in range(length)]
        r = [[r[i][j] + product[i][j] for j in range(length)] for i in range(length)]
    return r


CONVENTIONS = [("mean", "each", "all"), ("sum", "each", "all"), ("mean", "joined", "all"), ("mean", "none", "last")]


def test_gradcam_is_the_rule_carried_out_slowly(backbone: Backbone, ids: Tensor, pixels: Tensor, slow: Slow) -> None:
    images = backbone.encode_image(pixels).detach()
    computed = {each: methods.gradcam(backbone, images, ids, **settings(*each)) for each in CONVENTIONS}
    assert all(scores[:, 1:7].max() > 1e-2 for scores in computed.values())
    for text, end in enumerate(end_of_text(ids).tolist()):
        encode = partial(repeated_text, backbone, ids[text : text + 1])
        measured = attention_and_gradients(slow, encode, images[text], backbone.logit_scale.item())
        for convention in CONVENTIONS:
            expected = relevance(*measured, *convention)[end]
            assert computed[convention][text, : end + 1].tolist() == pytest.approx(expected, abs=1e-9)
            assert computed[convention][text, end + 1 :].count_nonzero() == 0


@pytest.mark.slow
def test_patches_are_the_rule_carried_out_slowly(backbone: Backbone, ids: Tensor, pixels: Tensor, slow: Slow) -> None:
    texts = backbone.encode_text(ids).detach()

    def encode(count: int) -> Tensor:
        return backbone.encode_image(pixels[:1].expand(count, -1, -1, -1))

    measured = attention_and_gradients(slow, encode, texts[0], backbone.logit_scale.item())
    for convention in CONVENTIONS[:2]:
        computed = methods.patches(backbone, pixels, ids, **settings(*convention))
        assert computed.shape == (len(ids), backbone.image_length - 1)
        expected = relevance(*measured, *convention)[0][1:]
        assert computed[0].tolist() == pytest.approx(expected, abs=1e-9)
        assert max(expected) > 1e-4


def settings(heads: str, clamp: str, layers: str) -> dict[str, Any]:
    return {"heads": heads, "clamp": clamp, "layers": layers}


def repeated_text(backbone: Backbone, ids: Tensor, count: int) -> Tensor:
    return backbone.encode_text(ids.expand(count, -1))


@pytest.mark.parametrize("row", ["eot", "last"])
@pytest.mark.parametrize("layers", ["mean", "last"])
@pytest.mark.parametrize("heads", ["mean", "sum"])
@torch.no_grad()
def test_attention_is_what_a_hook_sees(
    backbone: Backbone, ids: Tensor, pixels: Tensor, slow: Slow, row: str, layers: str, heads: str
) -> None:
    computed = attention(backbone, pixels, ids, row=row, layers=layers, heads=heads)  # type: ignore[arg-type]
    slow.seen = []
    backbone.prompt_tokens(backbone.embed_tokens(ids))  # all positions of the context
    for text, end in enumerate(end_of_text(ids).tolist()):
        place = end if row == "eot" else ids.shape[1] - 1
        for token in range(ids.shape[1]):
            of_layers = []
            for layer in slow.seen if layers == "mean" else slow.seen[-1:]:
                of_heads = [float(layer[text, head, place, token]) for head in range(layer.shape[1])]
                of_layers.append(sum(of_heads) / (len(of_heads) if heads == "mean" else 1))
            assert float(computed[text, token]) == pytest.approx(sum(of_layers) / len(of_layers), abs=1e-12)


@torch.no_grad()
def test_gradients_are_differences_of_similarity(backbone: Backbone, ids: Tensor, pixels: Tensor) -> None:
    scale, images = backbone.logit_scale.item(), backbone.encode_image(pixels)
    of_text, of_context = (methods.gradient(backbone, pixels, ids, support=support) for support in ("text", "context"))
    of_cosine = methods.gradient(backbone, pixels, ids, derived="cosine")
    for text, end in enumerate(end_of_text(ids).tolist()):
        embeddings = backbone.embed_tokens(ids[text])
        moves = STEP * torch.eye(embeddings.numel(), dtype=torch.float64).view(-1, *embeddings.shape)
        steps = torch.cat([moves, -moves, 2 * moves, -2 * moves])
        moved = backbone.encode_prompts(embeddings + steps, torch.full((len(steps),), end)).tolist()
        similar = [scale * cosine(row, images[text].tolist()) for row in moved]
        slopes = differences(similar)
        width = embeddings.shape[1]
        sizes = [sum(map(abs, slopes[token * width : (token + 1) * width])) for token in range(len(embeddings))]
        assert sizes[end + 1 :] == [0.0] * (len(sizes) - end - 1)
        powers = [math.exp(size) for size in sizes]
        inside = [power / sum(powers[: end + 1]) for power in powers[: end + 1]]
        assert of_text[text].tolist() == pytest.approx(inside + [0.0] * (len(sizes) - end - 1), abs=1e-9)
        assert of_context[text].tolist() == pytest.approx([power / sum(powers) for power in powers], abs=1e-9)
        gentle = [math.exp(size / scale) for size in sizes[: end + 1]]  # slopes of the cosine alone
        assert of_cosine[text, : end + 1].tolist() == pytest.approx([power / sum(gentle) for power in gentle], abs=1e-9)


@torch.no_grad()
def test_perturbation_is_the_mean_drop(
    backbone: Backbone, ids: Tensor, pixels: Tensor, perturbed: tuple[Tensor, Tensor]
) -> None:
    others, changed = perturbed
    images, scale = backbone.encode_image(pixels).tolist(), backbone.logit_scale.item()
    drops: dict[tuple[int, int], list[float]] = {}
    for text in range(len(ids)):
        whole = scale * cosine(images[text], backbone.encode_text(ids[text : text + 1])[0].tolist())
        for number in range(others.shape[1]):
            other = scale * cosine(images[text], backbone.encode_text(others[text, number][None])[0].tolist())
            for token in changed[text, number].nonzero()[:, 0].tolist():
                drops.setdefault((text, token), []).append(whole - other)
    computed = methods.perturbation(backbone, pixels, ids, others, changed)
    assert len(drops) == 4
    for text in range(len(ids)):
        for token in range(ids.shape[1]):
            result = drops.get((text, token), [0.0])
            assert float(computed[text, token]) == pytest.approx(sum(result) / len(result), abs=1e-10)


# what holds of all


@pytest.mark.parametrize("function", [methods.gradcam, methods.gradient, methods.patches])
def test_looking_leaves_no_graph_and_needs_nothing_that_trains(
    function: Any, backbone: Backbone, ids: Tensor, pixels: Tensor
) -> None:
    trained = function(backbone, pixels, ids, create_graph=True)
    assert trained.requires_grad
    seen = [function(backbone, pixels, ids)]
    with torch.no_grad():
        seen.append(function(backbone, pixels, ids))
    backbone.requires_grad_(False)
    seen.append(function(backbone, pixels, ids))
    backbone.requires_grad_(True)
    for each in seen:
        assert not each.requires_grad
        torch.testing.assert_close(each, trained.detach(), rtol=1e-12, atol=1e-12)
    assert all(parameter.grad is None for parameter in backbone.parameters())


# what is refused


def test_what_does_not_fit_is_refused(
    backbone: Backbone, ids: Tensor, pixels: Tensor, perturbed: tuple[Tensor, Tensor]
) -> None:
    others, changed = perturbed
    with raises(ArgumentError, place="images"):
        methods.gradcam(backbone, pixels[:2], ids)
    with raises(ArgumentError, place="pixels"):
        methods.patches(backbone, backbone.encode_image(pixels), ids)
    with raises(ArgumentError, place="perturbed"):
        methods.perturbation(backbone, pixels, ids, others[:2], changed)
    with raises(ArgumentError, place="changed"):
        methods.perturbation(backbone, pixels, ids, others, changed.float())


def test_patches_are_of_transformers(ids: Tensor) -> None:
    resnet = build("shapes-resnet", "gelu").eval()
    with raises(ArgumentError, "no-patches", place="backbone"):
        methods.patches(resnet, torch.randn(3, 3, 32, 32), ids)
    assert methods.gradcam(resnet, torch.randn(3, 3, 32, 32), ids).shape == ids.shape
