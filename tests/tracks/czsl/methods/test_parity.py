"""Logits, losses and gradients against forwards written from reading the released code, with what stands before and
after each formula.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.clip_coop_csp import CSP, CoOp
from recompose.tracks.czsl.methods.dfsp import DFSP
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.three_path import CSO, ThreePath
from recompose.tracks.czsl.methods.troika import Troika
from tests.clips import random_clip
from tests.precision import assert_close
from tests.tracks.czsl.methods import derivations, released
from tests.tracks.czsl.methods.derivations import BLOCKS, OBJECTS, PAIRS, STATES

pytestmark = pytest.mark.usefixtures("in_64_bits")

TINY = {
    "embed_dim": 64,
    "vision_cfg": {"image_size": 32, "patch_size": 8, "layers": 6, "width": 128, "head_width": 32},
    "text_cfg": {"context_length": 24, "vocab_size": 49408, "width": 128, "heads": 4, "layers": 3},
}
PROMPT = "a photo of {state} {object}"
SIZES = released.Sizes(states=3, image_heads=4, text_heads=4)
TARGETS = torch.tensor([3, 0, 2, 4])
WEIGHTS = [1.0, 0.1, 0.1]
DFSP_RATES = {"share": 0.2, "primitive_weight": 0.5, "prompt_weight": 0.7}
DFSP_SETTINGS: dict[str, Any] = DFSP_RATES | {"prompt": PROMPT, "dropout": 0.0, "fusion_dropout": 0.0}
HEADS = 4
METHODS = {"c-s-o": CSO, "msci": MSCI, "troika": Troika}
REFERENCES = {"c-s-o": partial(released.msci, stages=()), "msci": released.msci, "troika": released.troika}
VARIANTS: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {  # settings, and the reference's options
    "msci": ("msci", {}, {}),
    "msci, a single layer": ("msci", {"aggregated": 2, "aggregation": "ends"}, {"layers": 1}),
    "msci, three layers": ("msci", {"aggregated": 3}, {"layers": 3}),
    "msci, means of layers": ("msci", {"aggregation": "mean"}, {"mean": True}),
    "msci, low": ("msci", {"stages": "low"}, {"stages": ("low",)}),
    "msci, high": ("msci", {"stages": "high"}, {"stages": ("high",)}),
    "msci, the last stage": ("msci", {"fusion_of_stages": "last"}, {"shares": ("high",)}),
    "msci, a head for pairs": ("msci", {"pair_head": True}, {"views": released.PATHS}),
    "troika": ("troika", {}, {}),
    "troika, three layers": ("troika", {"traction_layers": 3}, {"layers": 3}),
    "c-s-o": ("c-s-o", {}, {}),
    "troika, tokens normed once": ("troika", {"token_norms": "once"}, {"norms": 1}),
}


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    """A tiny CLIP as released ones are built, with their activation and factor on cosines, and texts that are far
    from unit length, as theirs.
    """
    backbone = random_clip(architecture="parity-clip", activation="quick_gelu", config=TINY)
    with torch.no_grad():
        backbone.model.logit_scale.fill_(torch.tensor(100.0).log())
        backbone.model.text_projection.mul_(12)
    return backbone


def assert_gradients_agree(method: nn.Module, loss: Tensor, expected: Tensor) -> None:
    """Of all that is learned, and of nothing else."""
    names, learned = zip(*((name, p) for name, p in method.named_parameters() if p.requires_grad), strict=True)
    actual, wanted = (
        torch.autograd.grad(each, learned, allow_unused=True, materialize_grads=True) for each in (loss, expected)
    )
    for name, one, other in zip(names, actual, wanted, strict=True):
        assert_close(one, other, msg=name)


def three_paths(
    backbone: Backbone, name: str, own: dict[str, Any], options: dict[str, Any]
) -> tuple[ThreePath, Callable[..., dict[str, Tensor]]]:
    """A method with released settings but for its size, dropout and its own ones, away from where it begins, and its
    reference with the options that say the same.
    """
    torch.manual_seed(5)
    settings = {"fusion": "logits", "loss_weights": WEIGHTS, "closed": [0.1, 0.81]}
    settings |= {"c-s-o": {}, "msci": {"heads": HEADS, "pair_head": False}, "troika": {"heads": HEADS}}[name]
    method: ThreePath = derivations.new_method(
        METHODS[name], backbone, STATES, OBJECTS, derivations.settings_of(name, **(settings | own))
    )
    derivations.unsettle(method, size=0.05)
    return method, partial(REFERENCES[name], heads=HEADS, **options)


@pytest.mark.parametrize("variant", VARIANTS)
def test_three_paths_equal_the_released_code(backbone: Backbone, images: Tensor, variant: str) -> None:
    name, own, options = VARIANTS[variant]
    method, reference = three_paths(backbone, name, own, options)
    training = variant.endswith("three layers")
    method.train(training)
    pairs = torch.tensor(PAIRS)
    expected = reference(released.tensors_of(method), images, pairs, SIZES, training=training)
    views, (block,) = method.encode_images(images), method.encode_texts([pairs])
    for path, texts in (("pair", block.pairs), ("state", block.states), ("object", block.objects)):
        assert_close(method.logits(path, views, texts), expected[path], msg=path)
    wanted = released.three_losses(expected, TARGETS, pairs, WEIGHTS)
    loss = method.loss(images, TARGETS, pairs)
    assert_close(loss, wanted)
    assert_gradients_agree(method, loss, wanted)


@torch.no_grad()
@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("fusion", "world"), [("logits", "closed"), ("probabilities", "closed"), ("logits", "open")])
def test_scores_are_fused_as_released_or_printed(
    backbone: Backbone, images: Tensor, name: str, fusion: str, world: str
) -> None:
    """As printed, a pair has a probability, too (MSCI, Eqs. 10 to 12 and 17)."""
    method, reference = three_paths(backbone, name, {"fusion": fusion, "open": [0.3, 0.49]}, {})
    method.eval()
    pairs = torch.tensor(PAIRS)
    logits = reference(released.tensors_of(method), images, pairs, SIZES, training=False)
    if fusion == "probabilities":
        logits = logits | {"pair": logits["pair"].softmax(dim=-1)}
    expected = released.fused(logits, pairs, {"closed": [0.1, 0.9, 0.9], "open": [0.3, 0.7, 0.7]}[world])
    assert_close(derivations.dense(method, images, BLOCKS, world), expected)


@pytest.mark.parametrize("kind", [CSP, CoOp])
def test_csp_and_coop_equal_the_released_code(backbone: Backbone, kind: Any) -> None:
    own = {"dropout": 0.0} if kind is CSP else {}
    method = derivations.method_of(kind, backbone, STATES, OBJECTS, prompt=PROMPT, **own).train()
    derivations.unsettle(method)
    embeddings = torch.randn(4, backbone.width, generator=torch.Generator().manual_seed(3))
    pairs = torch.tensor(PAIRS)
    expected = released.by_text(released.tensors_of(method), embeddings, pairs, SIZES)
    assert_close(method.logits(embeddings, method.encode_pairs(pairs)), expected)
    loss, wanted = method.loss(embeddings, TARGETS, pairs), cross_entropy(expected, TARGETS)
    assert_close(loss, wanted)
    assert_gradients_agree(method, loss, wanted)


@pytest.mark.parametrize("fusion", ["t2i", "i2t", "BiF"])
@pytest.mark.parametrize("pairs", [PAIRS, PAIRS[:2] + PAIRS[3:4]], ids=["all names", "a state without pairs"])
def test_dfsp_equals_the_released_code_but_for_its_padding(
    backbone: Backbone, images: Tensor, fusion: str, pairs: list[list[int]]
) -> None:
    method = derivations.method_of(DFSP, backbone, STATES, OBJECTS, fusion=fusion, **DFSP_SETTINGS).train()
    assert torch.equal(
        method.words, derivations.method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.0).primitives
    )
    derivations.unsettle(method, size=0.05)
    index, targets = torch.tensor(pairs), TARGETS % len(pairs)
    expected = released.dfsp(released.tensors_of(method), images, index, SIZES, share=0.2, fusion=fusion, length=7)
    texts = method.encode_texts([index])
    assert_close(next(method.compare(method.encode_images(images), texts)), expected["pair"])
    wanted = released.dfsp_loss(expected, targets, index, primitives=0.5, prompt=0.7)
    loss = method.loss(images, targets, index)
    assert_close(loss, wanted)
    assert_gradients_agree(method, loss, wanted)


def test_templates_are_the_tokenizer_s(backbone: Backbone) -> None:
    for text, ids in (("a photo of x x", released.TWO_SLOTS), ("a photo of x", released.ONE_SLOT)):
        assert backbone.tokens([text])[0, : released.CONTEXT].tolist() == ids.tolist()
