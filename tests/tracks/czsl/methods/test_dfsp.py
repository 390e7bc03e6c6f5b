"""DFSP against loops over pairs, names, tokens and images, one text and one image at a time."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.clip_coop_csp import CoOp
from recompose.tracks.czsl.methods.dfsp import DFSP
from tests.tracks.czsl.methods.derivations import (
    BLOCKS,
    OBJECTS,
    PAIRS,
    STATES,
    dense,
    method_of,
    plain_joint,
    plain_linear,
    plain_logits,
    plain_norm,
    plain_tower,
    unsettle,
)
from tests.tracks.czsl.methods.released import residual_block, tensors_of

SETTINGS: dict[str, Any] = {
    "prompt": "a photo of {state} {object}",
    "dropout": 0.0,
    "fusion": "t2i",
    "fusion_dropout": 0.0,
    "share": 0.3,
    "primitive_weight": 0.5,
    "prompt_weight": 0.7,
}
FUSIONS = ["t2i", "i2t", "BiF"]
TARGETS = [3, 0, 2]
FEWER = [[0, 0], [2, 1], [0, 1]]  # without the state 1
NAMES = len(STATES) + len(OBJECTS)


def build(backbone: Backbone, *, new: bool = False, **changed: Any) -> Any:
    """A method in evaluation mode; unless it is to be new, nothing in it stands where it begins."""
    torch.manual_seed(5)
    method = method_of(DFSP, backbone, STATES, OBJECTS, **(SETTINGS | changed)).eval()
    if not new:
        unsettle(method)
    return method


def loss_of(method: Any, images: Tensor, pairs: list[list[int]] = PAIRS, targets: list[int] = TARGETS) -> Tensor:
    return method.loss(images, torch.tensor(targets), torch.tensor(pairs))


def learned(method: Any) -> dict[str, Tensor]:
    return {name: parameter for name, parameter in method.named_parameters() if parameter.requires_grad}


# what DFSP computes, written out


def plain_block(method: Any, name: str, x: Tensor, other: Tensor | None = None) -> Tensor:
    """A block's tokens [n, W] of one text or image, which look at themselves or at another [m, W]."""
    return residual_block(tensors_of(method), name, x[None], None if other is None else other[None])[0]


def plain_end(backbone: Backbone, token: Tensor) -> Tensor:
    """The joint space's [E] of a text's last token [D]."""
    return plain_norm(backbone.model.ln_final, token) @ backbone.model.text_projection


def plain_tokens(method: Any, pair: list[int]) -> Tensor:
    """The tokens [length, D] that the text tower makes of a pair's prompt: learned context, then learned words."""
    backbone, (state, name) = method.backbone, pair
    start, end = backbone.embed_tokens(torch.tensor([49406, 49407]))
    x = torch.stack([start, *method.context, method.words[state], method.words[len(STATES) + name], end])
    mask = torch.full((len(x), len(x)), -math.inf).triu(1)
    x = x + backbone.model.positional_embedding[: len(x)]
    return backbone.model.transformer(x.unsqueeze(0), attn_mask=mask)[0]


def has(pair: list[int], name: int) -> bool:
    """Whether a pair has a state, or an object, whose names come after all states'."""
    return name in (pair[0], len(STATES) + pair[1])


def plain_decomposed(texts: list[Tensor], pairs: list[list[int]]) -> list[Tensor]:
    """For each name the mean [length, D] of the texts of its pairs, token by token; zero where there are none."""
    actual = []
    for name in range(NAMES):
        mine = [text for text, pair in zip(texts, pairs, strict=True) if has(pair, name)]
        actual.append(sum(mine, torch.zeros_like(texts[0])) / max(1, len(mine)))
    return actual


def plain_summary(method: Any, decomposed: list[Tensor]) -> Tensor:
    """Texts as an image's tokens [1 + patches, W]: each a weighted sum of all names' first tokens, then their
    second, and so on.
    """
    widen, fold = method.text_to_image
    rows = [plain_linear(widen, text[token]) for token in range(len(decomposed[0])) for text in decomposed]
    return torch.stack(
        [
            sum((weight * row for weight, row in zip(weights, rows, strict=True)), bias)
            for weights, bias in zip(fold.weight, fold.bias, strict=True)
        ]
    )


def plain_primitives(method: Any, tokens: Tensor, decomposed: list[Tensor]) -> list[Tensor]:
    """The last token [D] of each name's text after it looked at what the tokens [1 + patches, W] of one image give
    it.
    """
    narrow, unfold = method.image_to_text
    rows = [plain_linear(narrow, token) for token in tokens]
    given = [
        sum((weight * row for weight, row in zip(weights, rows, strict=True)), bias)
        for weights, bias in zip(unfold.weight, unfold.bias, strict=True)
    ]
    actual = []
    for name, text in enumerate(decomposed):
        mine = torch.stack([given[token * NAMES + name] for token in range(len(text))])
        actual.append(plain_block(method, "text_attention", plain_block(method, "text_looks", text, mine))[-1])
    return actual


def mixed(plain: Tensor, fused: Tensor, share: float) -> Tensor:
    return (1 - share) * plain + share * fused


class Written:
    """All that a loss and scores are made of, from a method's weights, images as bytes and the pairs of a world."""

    def __init__(self, method: Any, images: Tensor, pairs: list[list[int]], fusion: str, share: float) -> None:
        self.method, self.fusion, self.share = method, fusion, share
        self.pairs = pairs
        self.texts = [plain_tokens(method, pair) for pair in pairs]
        self.decomposed = plain_decomposed(self.texts, pairs)
        self.tokens = plain_tower(method.backbone, images)[-1]
        self.plain_images = plain_joint(method.backbone, self.tokens)[:, 0]
        self.plain_texts = torch.stack([plain_end(method.backbone, text[-1]) for text in self.texts])

    def prompt_logits(self) -> Tensor:
        """Logits [images, pairs] before fusion."""
        return plain_logits(self.method.backbone, self.plain_images, self.plain_texts)

    def logits(self) -> Tensor:
        """Logits [images, pairs] after fusion."""
        actual = [self.image(number) for number in range(len(self.tokens))]
        texts = torch.stack([self.texts_of(number) for number in range(len(self.tokens))])
        return plain_logits(self.method.backbone, torch.stack(actual), texts)

    def image(self, number: int) -> Tensor:
        """The embedding of one image after fusion."""
        tokens = self.tokens[number]
        if self.fusion != "i2t":
            tokens = plain_block(self.method, "image_looks", tokens, plain_summary(self.method, self.decomposed))
        tokens = plain_block(self.method, "image_attention", tokens)
        fused = plain_joint(self.method.backbone, tokens.unsqueeze(0))[0, 0]
        return mixed(self.plain_images[number], fused, self.share)

    def texts_of(self, number: int) -> Tensor:
        """The texts [pairs, E] that one image is compared with."""
        if self.fusion == "t2i":
            ends = [plain_block(self.method, "text_attention", text)[-1] for text in self.texts]
        else:
            names = plain_primitives(self.method, self.tokens[number], self.decomposed)
            products = (names[state] * names[len(STATES) + name] for state, name in self.pairs)
            ends = [plain_linear(self.method.composed, product) for product in products]
        fused = torch.stack([plain_end(self.method.backbone, end) for end in ends])
        return mixed(self.plain_texts, fused, self.share)

    def by_name(self) -> list[list[float]]:
        """For each image the mean logit before fusion over the pairs of each name; minus infinity where it has none."""
        actual = []
        for row in self.prompt_logits().tolist():
            mine = [
                [logit for logit, pair in zip(row, self.pairs, strict=True) if has(pair, name)] for name in range(NAMES)
            ]
            actual.append([sum(logits) / len(logits) if logits else -math.inf for logits in mine])
        return actual

    def loss(self, targets: list[int], primitive_weight: float, prompt_weight: float) -> float:
        """CE after fusion, and, weighted, of states, of objects and of pairs before it."""
        states = [row[: len(STATES)] for row in self.by_name()]
        objects = [row[len(STATES) :] for row in self.by_name()]
        return (
            plain_entropy(self.logits().tolist(), targets)
            + primitive_weight * plain_entropy(states, [self.pairs[target][0] for target in targets])
            + primitive_weight * plain_entropy(objects, [self.pairs[target][1] for target in targets])
            + prompt_weight * plain_entropy(self.prompt_logits().tolist(), targets)
        )


def plain_entropy(rows: list[list[float]], targets: list[int]) -> float:
    """The mean over images of the negative logarithm of the true one's share."""
    costs = [
        math.log(sum(math.exp(logit) for logit in row)) - row[target] for row, target in zip(rows, targets, strict=True)
    ]
    return sum(costs) / len(costs)


# where it begins


@torch.no_grad()
def test_without_fusion_it_begins_as_coop_begins(backbone: Backbone, images: Tensor) -> None:
    coop = method_of(CoOp, backbone, STATES, OBJECTS, prompt=SETTINGS["prompt"]).eval()
    embeddings = backbone.encode_image(backbone.from_bytes(images))
    expected = coop.logits(embeddings, coop.encode_pairs(torch.tensor(PAIRS)))
    actual = dense(build(backbone, new=True, share=0.0), images, BLOCKS)
    torch.testing.assert_close(actual, expected, atol=1e-4, rtol=1e-4)


# scores


@torch.no_grad()
@pytest.mark.parametrize("fusion", FUSIONS)
def test_scores_and_loss_are_those_of_loops(backbone: Backbone, images: Tensor, fusion: str) -> None:
    method = build(backbone, fusion=fusion)
    actual = dense(method, images, [torch.tensor(PAIRS)])
    written = Written(method, images, PAIRS, fusion, 0.3)
    torch.testing.assert_close(actual, written.logits(), atol=2e-3, rtol=1e-3)
    assert (actual - written.prompt_logits()).abs().mean() > 0.02
    assert float(loss_of(method.train(), images)) == pytest.approx(written.loss(TARGETS, 0.5, 0.7), rel=1e-3)


@pytest.mark.parametrize("fusion", FUSIONS)
def test_a_name_that_training_never_shows_is_no_answer_and_spoils_no_gradient(
    backbone: Backbone, images: Tensor, fusion: str
) -> None:
    method = build(backbone, fusion=fusion).train()
    with torch.no_grad():
        expected = Written(method, images, FEWER, fusion, 0.3).loss([2, 0, 1], 0.5, 0.7)
    loss = loss_of(method, images, FEWER, [2, 0, 1])
    assert loss.item() == pytest.approx(expected, rel=1e-3)
    loss.backward()
    for name, parameter in learned(method).items():
        assert parameter.grad is not None and bool(parameter.grad.isfinite().all()), name
        assert parameter.grad.any(), name
    assert method.words.grad is not None
    assert method.words.grad.any(dim=1).tolist() == [True, False, True, True, True]
