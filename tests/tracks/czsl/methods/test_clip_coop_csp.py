"""CLIP, CoOp and CSP against plain loops over one prompt at a time."""

import math

import pytest
import torch

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.base import cosine_logits
from recompose.tracks.czsl.methods.clip_coop_csp import CLIP, CSP
from tests.clips import random_clip
from tests.tracks.czsl.methods.derivations import method_of

STATES = ["red", "Faux.Leather", "striped"]
OBJECTS = ["circle", "Boots.Mid-Calf"]
PROMPT = "a photo of {state} {object}"
PAIRS = torch.tensor([[0, 0], [0, 1], [1, 0], [2, 1]])


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    return random_clip()


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
