"""Methods: what each represents and what its loss is made of, in parts as at once, on any number of devices."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.building import TypedSettings
from recompose.tracks.vlc import losses
from recompose.tracks.vlc.building import build_method
from recompose.tracks.vlc.methods.base import CaptionMethod, Representations, represent_in_chunks
from tests.clips import random_clip
from tests.errors import raises
from tests.tracks.vlc.tiny import CE_CLIP, CLIP_FT, FSC_CLIP, FULL, LORA, METHODS, NEGCLIP, backbone_of, document

BATCH = 5
THERE = torch.tensor(
    [[True, False, True], [False, False, False], [True, True, True], [False, True, False], [True, True, False]]
)
WORDS = ["a red circle", "two green stars above a ring", "a square", "a dotted blue cross", "stars"]
CHANGED = ["a circle red", "a red ring", "square a", "a ring", "cube", "a dotted cross blue", "stars two", "one star"]


def method_of(name: str, settings: dict[str, Any] = FULL, backbone: Backbone | None = None) -> Any:
    built = build_method(TypedSettings(document(name, settings)), backbone or backbone_of()).train()
    for parameter_name, parameter in built.named_parameters():
        if parameter_name.endswith(".0.B"):  # away from 0
            torch.manual_seed(1)
            parameter.data = 0.1 * torch.randn_like(parameter)
    return built


def batch_of(method: CaptionMethod) -> tuple[Tensor, Tensor, Tensor]:
    valid = THERE[:, : len(method.negatives)]
    ids = method.backbone.tokens(WORDS + CHANGED[: int(valid.sum())])
    ids = ids[:, : int(end_of_text(ids).max()) + 1]
    pixels = torch.randn(BATCH, 3, 32, 32, generator=torch.Generator().manual_seed(2))
    return pixels, ids, valid


def gradients(method: Any, chunk: int | None) -> tuple[Tensor, dict[str, Tensor]]:
    """The loss of a batch in 64 bits, and what it gives each weight."""
    method = deepcopy(method).double()
    pixels, ids, valid = batch_of(method)
    loss = method.loss(represent_in_chunks(method, pixels.double(), ids, valid, chunk), valid)
    loss.backward()
    trained = {name: parameter for name, parameter in method.named_parameters() if parameter.requires_grad}
    assert all(parameter.grad is not None for parameter in trained.values())
    return loss.detach(), {name: parameter.grad for name, parameter in trained.items() if parameter.grad is not None}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "settings"),
    [
        *(pytest.param(name, FULL, id=f"{name}-full") for name in METHODS),
        pytest.param(METHODS[-1], LORA, id=f"{METHODS[-1]}-lora"),
    ],
)
def test_cached_gradients_are_those_of_one_large_batch(name: str, settings: dict[str, Any]) -> None:
    method = method_of(name, settings)
    loss, whole = gradients(method, None)
    if settings is FULL:
        assert "backbone.model.logit_scale" in whole
    for chunk in (2, 3):
        again, parts = gradients(method, chunk)
        torch.testing.assert_close(again, loss, rtol=1e-10, atol=0)
        assert parts.keys() == whole.keys()
        for each, gradient in whole.items():
            difference = (parts[each] - gradient).norm()
            assert difference <= 1e-10 * gradient.norm(), each


@pytest.mark.parametrize("name", METHODS)
def test_representations_are_those_of_the_towers(name: str) -> None:
    method = method_of(name)
    pixels, ids, valid = batch_of(method)
    with torch.no_grad():
        result = method.represent(pixels, ids)
        torch.testing.assert_close(result.images, method.backbone.encode_image(pixels), atol=1e-5, rtol=1e-4)
        texts = method.backbone.encode_text(ids)
    torch.testing.assert_close(result.texts, texts[:BATCH], atol=1e-5, rtol=1e-4)
    torch.testing.assert_close(result.negatives, texts[BATCH:], atol=1e-5, rtol=1e-4)
    assert len(result.negatives) == valid.sum()
    assert bool(result.local) == (name == FSC_CLIP)


def test_patches_and_tokens_are_the_released_ones() -> None:
    """Class token, start of text and padding are no part of them; the end of text is. Neither is normalised."""
    method = method_of(FSC_CLIP)
    model = method.backbone.model
    pixels, ids, _ = batch_of(method)
    with torch.no_grad():
        result = method.represent(pixels, ids).local
        outputs: dict[str, Tensor] = {}
        hooks = [
            model.visual.transformer.register_forward_hook(lambda *args: outputs.update(image=args[2])),
            model.transformer.register_forward_hook(lambda *args: outputs.update(text=args[2])),
        ]
        model.encode_image(pixels)
        model.encode_text(torch.nn.functional.pad(ids, (0, 24 - ids.shape[1])))
        for hook in hooks:
            hook.remove()
        patches = model.visual.ln_post(outputs["image"])[:, 1:] @ model.visual.proj
        tokens = (model.ln_final(outputs["text"]) @ model.text_projection)[:, : ids.shape[1]]
    torch.testing.assert_close(result.patches, patches, atol=1e-5, rtol=1e-4)
    mask = torch.cat([result.mask, result.negative_mask])
    for row, text in enumerate(ids.tolist()):
        used = [place for place, token in enumerate(text) if place and token]
        assert text[used[-1]] == 49407
        assert mask[row].nonzero().flatten().tolist() == used
    torch.testing.assert_close(
        torch.cat([result.tokens, result.negative_tokens])[mask], tokens[mask], atol=1e-5, rtol=1e-4
    )


def features(seed: int = 0) -> Representations:
    generator = torch.Generator().manual_seed(seed)
    return Representations(*(torch.randn(rows, 64, generator=generator) for rows in (BATCH, BATCH, 8)))


@torch.no_grad()
def test_losses_are_what_methods_say() -> None:
    batch, scale = features(), backbone_of().logit_scale
    assert method_of(CLIP_FT).loss(batch, THERE[:, :0]) == losses.contrastive_loss(batch.images, batch.texts, scale)
    one = THERE[:, :1]
    fewer = replace(batch, negatives=batch.negatives[: int(one.sum())])
    assert method_of(NEGCLIP).loss(fewer, one) == losses.contrastive_loss_with_negatives(*fewer.embeddings, one, scale)
    method = method_of(FSC_CLIP)
    pixels, ids, valid = batch_of(method)
    result = method.represent(pixels, ids)
    part = result.local
    expected = losses.contrastive_loss(result.images, result.texts, scale)
    expected += 0.5 * losses.hard_negative_loss(*result.embeddings, valid, scale, 2.0, 0.02)
    local = (part.patches, part.tokens, part.mask, part.negative_tokens, part.negative_mask)
    expected += 0.2 * losses.local_hard_negative_loss(*local, valid, scale, 2.0, 0.02, "minmax")
    torch.testing.assert_close(method.loss(result, valid), expected)


def test_thresholds_of_ce_clip_are_those_of_the_step_before_and_are_forgotten_by_epochs() -> None:
    """As released: a step's loss is under what the step before measured, each epoch begins at 0."""
    method = method_of(CE_CLIP)
    valid, scale = THERE[:, :2], method.logit_scale.detach()
    first, second = (
        replace(each, negatives=each.negatives[: int(THERE[:, :2].sum())]) for each in (features(1), features(2))
    )
    before = torch.zeros(2)
    for batch in (first, second):
        images, texts, negatives = (torch.nn.functional.normalize(each, dim=1) for each in batch.embeddings)
        expected = losses.contrastive_loss_with_negatives(*batch.embeddings, valid, scale, missing="excluded")
        expected = expected + 0.2 * losses.cross_modal_rank_loss(*batch.embeddings, valid, scale, before)
        expected = expected + 0.3 * losses.intra_modal_loss(*batch.embeddings, valid, scale, "first")
        torch.testing.assert_close(method.loss(batch, valid).detach(), expected)
        own, places = scale * (images * texts).sum(dim=1), valid.nonzero().tolist()
        leads: list[list[Tensor]] = [[], []]
        for (image, kind), negative in zip(places, negatives, strict=True):
            leads[kind].append(own.mean() - scale * images[image] @ negative)
        before = torch.stack([torch.stack(each).mean() for each in leads]).clamp(0, 10)
        torch.testing.assert_close(method.thresholds, before)
    assert "thresholds" in method.state_dict()
    method.begin_epoch()
    assert not method.thresholds.any()


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_without_any_negative_trains(name: str) -> None:
    method = method_of(name)
    pixels, ids, valid = batch_of(method)
    none = torch.zeros_like(valid)
    loss = method.loss(method.represent(pixels, ids[:BATCH]), none)
    loss.backward()
    assert loss.isfinite()
    assert method.backbone.model.text_projection.grad.isfinite().all()


@pytest.mark.slow
def test_a_convolutional_tower_has_no_local_loss_and_no_lora() -> None:
    convolutional = random_clip(architecture="shapes-resnet")
    with raises(ArgumentError, place="local_weight"):
        method_of(FSC_CLIP, backbone=convolutional)
    with raises(ArgumentError, place="tuning"):
        method_of(CLIP_FT, LORA, backbone=convolutional)
    method = method_of(FSC_CLIP, FULL | {"local_weight": 0.0}, convolutional)
    pixels, ids, valid = batch_of(method)
    method.loss(method.represent(pixels, ids), valid).backward()
