"""CLIP, CoOp and CSP against plain loops over one prompt at a time."""

import math

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import TextMethod, cosine_logits
from recompose.tracks.czsl.methods.clip_coop_csp import CLIP, CSP, CoOp
from recompose.tracks.czsl.methods.prompts import mean_token_embeddings
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import method_of, plain_mean, plain_prompt, words

STATES = ["red", "Faux.Leather", "striped"]
OBJECTS = ["circle", "Boots.Mid-Calf"]
PROMPT = "a photo of {state} {object}"
PAIRS = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 1]])


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


def unit_prompt(backbone: Backbone, context: list[Tensor], state: Tensor, name: Tensor) -> Tensor:
    """The embedding of one prompt, of unit length."""
    text = plain_prompt(backbone, context, state, name)
    return text / text.norm()


def test_names_are_said_in_lower_case_without_dots(backbone: Backbone) -> None:
    actual = mean_token_embeddings(backbone, STATES + OBJECTS)
    expected = [plain_mean(backbone, text) for text in ("red", "faux leather", "striped", "circle", "boots mid-calf")]
    torch.testing.assert_close(actual, torch.stack(expected))


def test_clip_encodes_the_written_prompt_of_each_pair(backbone: Backbone) -> None:
    texts = [
        "a photo of red circle",
        "a photo of red boots mid-calf",
        "a photo of faux leather circle",
        "a photo of striped boots mid-calf",
    ]
    expected = backbone.model.encode_text(backbone.tokens(texts), normalize=True)
    torch.testing.assert_close(method_of(CLIP, backbone, STATES, OBJECTS, prompt=PROMPT).encode_pairs(PAIRS), expected)


def test_csp_puts_its_vectors_right_before_the_end_of_text(backbone: Backbone) -> None:
    method = method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.0)
    with torch.no_grad():
        method.primitives.add_(torch.randn(5, 128, generator=torch.Generator().manual_seed(3)))
    context = list(backbone.embed_tokens(torch.tensor(words(backbone, "a photo of"))))
    vectors = method.primitives
    expected = [unit_prompt(backbone, context, vectors[s], vectors[3 + o]) for s, o in PAIRS.tolist()]
    torch.testing.assert_close(method.encode_pairs(PAIRS), torch.stack(expected), atol=1e-5, rtol=1e-4)


def test_coop_puts_its_context_before_fixed_vectors(backbone: Backbone) -> None:
    method = method_of(CoOp, backbone, STATES, OBJECTS, prompt=PROMPT)
    with torch.no_grad():
        method.context.add_(torch.randn(3, 128, generator=torch.Generator().manual_seed(3)))
    states = [plain_mean(backbone, text) for text in ("red", "faux leather", "striped")]
    objects = [plain_mean(backbone, text) for text in ("circle", "boots mid-calf")]
    expected = [unit_prompt(backbone, list(method.context), states[s], objects[o]) for s, o in PAIRS.tolist()]
    torch.testing.assert_close(method.encode_pairs(PAIRS), torch.stack(expected), atol=1e-5, rtol=1e-4)


def test_csp_and_coop_start_from_the_same_prompts(backbone: Backbone) -> None:
    csp = method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.5).eval()
    coop = method_of(CoOp, backbone, STATES, OBJECTS, prompt=PROMPT).eval()
    torch.testing.assert_close(csp.encode_pairs(PAIRS), coop.encode_pairs(PAIRS))


def test_where_names_are_single_tokens_they_start_from_clip(backbone: Backbone) -> None:
    names = ["red", "striped"], ["circle", "moon"]
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    csp = method_of(CSP, backbone, *names, prompt=PROMPT, dropout=0.0)
    torch.testing.assert_close(
        csp.encode_pairs(pairs), method_of(CLIP, backbone, *names, prompt=PROMPT).encode_pairs(pairs)
    )


@pytest.mark.parametrize(
    ("method", "trained", "shape"),
    [
        (lambda b: method_of(CSP, b, STATES, OBJECTS, prompt=PROMPT, dropout=0.3), "primitives", (5, 128)),
        (lambda b: method_of(CoOp, b, STATES, OBJECTS, prompt=PROMPT), "context", (3, 128)),
    ],
)
def test_gradient_reaches_what_is_learned_and_nothing_else(backbone, method, trained, shape) -> None:
    model: TextMethod = method(backbone).train()
    learnable = {name: p for name, p in model.named_parameters() if p.requires_grad}
    assert {name: tuple(p.shape) for name, p in learnable.items()} == {trained: shape}
    images = torch.randn(6, backbone.width, generator=torch.Generator().manual_seed(4))
    model.loss(images, torch.tensor([0, 1, 2, 3, 0, 1]), PAIRS).backward()
    assert (learnable[trained].grad.abs().sum(dim=1) > 0).all()
    assert all(p.grad is None for name, p in model.named_parameters() if name != trained)


def test_the_loss_is_the_mean_negative_log_probability_of_the_true_pair(backbone: Backbone) -> None:
    method = method_of(CLIP, backbone, STATES, OBJECTS, prompt=PROMPT)
    images = torch.randn(3, backbone.width, generator=torch.Generator().manual_seed(4))
    targets, scale = [2, 0, 3], float(backbone.model.logit_scale.exp())
    texts = method.encode_pairs(PAIRS)
    expected = 0.0
    for image, target in zip(images, targets, strict=True):
        logits = [scale * float(image @ text) / float(image.norm()) for text in texts]
        expected += math.log(sum(math.exp(logit) for logit in logits)) - logits[target]
    assert method.loss(images, torch.tensor(targets), PAIRS).item() == pytest.approx(expected / 3, rel=1e-4)


def test_each_block_of_a_world_is_scored_in_turn(backbone: Backbone) -> None:
    method = method_of(CLIP, backbone, STATES, OBJECTS, prompt=PROMPT)
    images = torch.randn(3, backbone.width, generator=torch.Generator().manual_seed(4))
    scale, texts = float(backbone.model.logit_scale.exp()), method.encode_pairs(PAIRS)
    expected = [[scale * float(image @ text) / float(image.norm()) for text in texts] for image in images]
    scores = list(method.scores(images, method.encode_texts([PAIRS[:1], PAIRS[1:]]), "open"))
    assert [tuple(block.shape) for block in scores] == [(3, 1), (3, 3)]
    torch.testing.assert_close(torch.cat(scores, dim=1), torch.tensor(expected), atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("own", [False, True])
def test_cosines_are_of_each_image_with_each_text_or_with_its_own_texts(own: bool) -> None:
    generator = torch.Generator().manual_seed(5)
    images = torch.randn(3, 8, generator=generator) * 4
    texts = torch.randn(3, 5, 8, generator=generator) if own else torch.randn(5, 8, generator=generator)
    expected = []
    for number, image in enumerate(images.tolist()):
        row = []
        for text in (texts[number] if own else texts).tolist():
            product = sum(a * b for a, b in zip(image, text, strict=True))
            row.append(20 * product / math.hypot(*image) / math.hypot(*text))
        expected.append(row)
    torch.testing.assert_close(cosine_logits(torch.tensor(20.0), images, texts), torch.tensor(expected))


def test_cosines_are_in_32_bits_where_towers_compute_in_fewer() -> None:
    images, texts = torch.ones(1, 64), torch.ones(2, 64)
    texts[1, 0] += 2**-4  # in 16 bits both cosines would be 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        (row,) = cosine_logits(torch.tensor(100.0), images, texts)
    assert row.dtype == torch.float32
    assert row[0] > row[1]


def test_csp_drops_the_same_elements_of_a_state_in_all_its_pairs(backbone: Backbone) -> None:
    method = method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.5).train()
    seen: list[Tensor] = []
    hook = method.prompt.register_forward_hook(lambda _module, inputs, _output: seen.extend(inputs[1:]))
    method.encode_pairs(PAIRS)
    hook.remove()
    states, objects = seen
    assert torch.equal(states[0], states[1])
    assert torch.equal(objects[0], objects[2])
    dropped = float((states == 0).float().mean())
    assert 0.3 < dropped < 0.7
    remains = states[0] != 0
    torch.testing.assert_close(states[0][remains], 2 * method.primitives[0][remains])


def test_nothing_is_dropped_in_evaluation(backbone: Backbone) -> None:
    method = method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.5).eval()
    assert torch.equal(method.encode_pairs(PAIRS), method.encode_pairs(PAIRS))


def test_training_leaves_the_towers_in_evaluation_mode(backbone: Backbone) -> None:
    method = method_of(CSP, backbone, STATES, OBJECTS, prompt=PROMPT, dropout=0.5).train()
    assert method.training
    assert not any(module.training for module in backbone.modules())
