"""CLIP, CoOp and CSP against plain loops over one prompt at a time."""

import math

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import cosine_logits
from recompose.tracks.czsl.methods.clip_coop_csp import CLIP, CSP
from recompose.tracks.czsl.methods.prompts import mean_token_embeddings
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import method_of, plain_mean

STATES = ["red", "Faux.Leather", "striped"]
OBJECTS = ["circle", "Boots.Mid-Calf"]
PROMPT = "a photo of {state} {object}"
PAIRS = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 1]])


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


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


def test_where_names_are_single_tokens_they_start_from_clip(backbone: Backbone) -> None:
    names = ["red", "striped"], ["circle", "moon"]
    pairs = torch.tensor([[0, 0], [0, 1], [1, 0], [1, 1]])
    csp = method_of(CSP, backbone, *names, prompt=PROMPT, dropout=0.0)
    torch.testing.assert_close(
        csp.encode_pairs(pairs), method_of(CLIP, backbone, *names, prompt=PROMPT).encode_pairs(pairs)
    )


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
