"""CLIP-CAE's two losses: beside loops, in parts as at once, in 16 bits, on several devices, and in training."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.tracks.building import TypedSettings
from recompose.tracks.vlc.attribution.labels import TokenLabeller
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, perturbation
from recompose.tracks.vlc.batches import Batch, CaptionRows
from recompose.tracks.vlc.building import build_method
from recompose.tracks.vlc.methods.base import represent_in_chunks
from recompose.tracks.vlc.methods.clip_cae import ClipCae
from tests.processes import in_two_processes
from tests.tracks.documents import document
from tests.tracks.vlc import tiny
from tests.tracks.vlc.marked import docs, lexicon, tokenizer
from tests.tracks.vlc.test_losses import attribution_by_loop
from tests.tracks.vlc.tiny import CE_CLIP, CLIP_FT, FULL, LORA, NEGCLIP

SCORES = {"attention": attention, "gradcam": gradcam, "gradient": gradient}
CAE: dict[str, Any] = {
    "attribution": "attention",
    "attention": {"row": "eot", "layers": "mean", "heads": "mean"},
    "gradcam": {"heads": "mean", "clamp": "each", "layers": "all"},
    "gradient": {"support": "text", "derived": "logit"},
    "perturbation": {"count": 2, "objects": 4, "attributes": 3, "relations": 3},
    "attribution_weights": {"attention": 3.0, "gradcam": 3.0, "gradient": 3.0, "perturbation": 3.0},
    "margin": 0.5,
    "itc_weight": 1.0,
    "determiners": "none",
    "negatives": [],
    "negative_source": "rules",
    "negative_loss": "negclip",
    "ce_clip": {"rank_weight": 0.2, "contrast_weight": 0.3, "threshold": 10.0, "intra_modal_target": "first"},
}
KINDS = ["attention", "gradcam", "gradient", "perturbation"]
ROWS = [2, 3, 0, 4]  # the second has no composition


def method_of(tuning: Mapping[str, Any] = FULL, **settings: Any) -> ClipCae:
    """With attention that is far from even, so that what is wrong shows."""
    own = {**tuning, **CAE, **settings, "training": tiny.RATES}
    built = build_method(TypedSettings(document(ClipCae, own)), tiny.backbone_of()).train()
    assert isinstance(built, ClipCae)
    with torch.no_grad():
        for block in built.backbone.model.transformer.resblocks:
            block.attn.in_proj_weight.mul_(4)
        built.backbone.model.token_embedding.weight.mul_(20)
        for name, parameter in built.named_parameters():
            if name.endswith(".0.B"):  # away from 0
                torch.manual_seed(1)
                parameter.copy_(0.1 * torch.randn_like(parameter))
    return built


def batch_of(method: ClipCae, rows: list[int] = ROWS) -> Batch:
    texts, labeller = [doc.text for doc in docs()], None
    if method.label_request is not None:
        labeller = TokenLabeller(method.label_request, docs(), lexicon(), tokenizer)
    makers = [tiny.of_rows(tiny.swapped, docs()) for _ in method.negatives]
    pictures = tiny.images(len(texts))
    return CaptionRows(pictures, np.arange(len(texts)), texts, makers, tokenizer, 0, labeller)[rows]


def pixels_of(method: ClipCae, batch: Batch) -> Tensor:
    return method.backbone.from_bytes(batch.pixels).to(method.logit_scale)


def loss_of(method: ClipCae, batch: Batch, chunk: int | None = None) -> Tensor:
    whole = represent_in_chunks(method, pixels_of(method, batch), batch.ids, batch.valid, chunk)
    return method.loss(replace(whole, labels=batch.labels, changed=batch.changed), batch.valid)


def gradients_of(method: ClipCae, batch: Batch, chunk: int | None = None) -> tuple[Tensor, dict[str, Tensor]]:
    method.zero_grad()
    loss = loss_of(method, batch, chunk)
    loss.backward()
    return loss.detach(), {
        name: parameter.grad.clone() for name, parameter in method.named_parameters() if parameter.grad is not None
    }


# the method


def attribution_scores(method: ClipCae, batch: Batch) -> Tensor:
    """What tokens count for, as ``attribution`` tells of pixels and ids."""
    pixels, captions = pixels_of(method, batch), batch.ids[: len(batch.pixels)]
    name = method.settings.attribution
    if name != "perturbation":
        function: Any = SCORES[name]
        return function(method.backbone, pixels, captions, **CAE[name])
    assert batch.changed is not None
    exists, kinds = batch.changed.any(dim=2), len(method.negatives)
    perturbed, built = torch.zeros(*exists.shape, captions.shape[1], dtype=torch.long), iter(batch.ids[len(captions) :])
    for row, flags in enumerate(batch.valid.tolist()):
        for column, flag in enumerate(flags):
            if flag:
                text = next(built)
                if column >= kinds:
                    perturbed[row, column - kinds] = text
    return perturbation(method.backbone, pixels, captions, perturbed, batch.changed)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("negatives", [[], ["negclip"]], ids=["alone", "negatives"])
def test_both_losses_are_added(kind: str, negatives: list[str]) -> None:
    method = method_of(attribution=kind, negatives=negatives).double()
    batch = batch_of(method)
    assert batch.labels is not None
    scores, masks = attribution_scores(method, batch), [mask.tolist() for mask in batch.labels]
    expected = attribution_by_loop(scores.tolist(), *masks, margin=0.5)
    assert expected > 0
    alone = method_of(attribution=kind, negatives=negatives, itc_weight=0.0).double()
    assert loss_of(alone, batch).item() == pytest.approx(3 * expected)
    without = method_of(attribution="none", negatives=negatives).double()
    assert without.label_request is None
    both = loss_of(without, batch_of(without)).item() + 3 * expected
    assert loss_of(method, batch).item() == pytest.approx(both)


@pytest.mark.parametrize(
    ("other", "negatives", "loss"),
    [
        (CLIP_FT, [], "negclip"),
        (NEGCLIP, ["negclip"], "negclip"),
        (CE_CLIP, ["negclip", "replace"], "ce-clip"),
    ],
)
@pytest.mark.parametrize(("kind", "weight"), [("attention", 0.0), ("attention", 1e-30), ("perturbation", 1e-30)])
def test_without_attribution_it_is_the_method_that_it_adds_to(
    kind: str, weight: float, other: str, negatives: list[str], loss: str
) -> None:
    weights = CAE["attribution_weights"] | {kind: weight}
    method = method_of(attribution=kind, negatives=negatives, negative_loss=loss, attribution_weights=weights)
    batch = batch_of(method)
    settings = FULL | tiny.OWN[other] | {"negatives": negatives} if loss == "ce-clip" else FULL
    other_document = {"class": f"recompose.tracks.vlc.methods.{other}", "settings": settings, "seed": 0}
    plain: Any = build_method(TypedSettings(other_document), deepcopy(method.backbone))
    texts = batch_of(method_of(negatives=negatives))
    for _ in range(2):  # CE-CLIP's thresholds are those of the step before
        result, gradients = gradients_of(method, batch)
        plain.zero_grad()
        expected = plain.loss(plain.represent(pixels_of(method, texts), texts.ids), texts.valid)
        expected.backward()
        torch.testing.assert_close(result, expected.detach())
        for name, parameter in plain.named_parameters():
            torch.testing.assert_close(gradients[name], parameter.grad, atol=1e-5, rtol=1e-4)
    if loss == "ce-clip":
        torch.testing.assert_close(method.thresholds, plain.thresholds)
        assert method.thresholds.any()
    method.begin_epoch()
    assert not method.thresholds.any()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    """Of the loss of attribution alone, through the derivatives that it is made of, in a random direction."""
    method = method_of(attribution=kind, itc_weight=0.0).double()
    batch = batch_of(method)
    _, gradients = gradients_of(method, batch)
    generator = torch.Generator().manual_seed(5)
    parameters = dict(method.named_parameters())
    steps = {name: torch.randn(each.shape, generator=generator, dtype=each.dtype) for name, each in parameters.items()}
    if kind == "perturbation":  # the image takes no gradients (Eq. 9)
        of_images = [name for name in steps if ".visual." in name]
        assert not any(gradients.pop(name).any() for name in of_images)
        steps = {name: step for name, step in steps.items() if name not in of_images}
    expected = sum(float((gradients[name] * step).sum()) for name, step in steps.items() if name in gradients)
    sides = []
    for size in (1e-6, -2e-6):  # one step ahead, and from there to one behind
        with torch.no_grad():
            for name, step in steps.items():
                parameters[name].add_(size * step)
        sides.append(loss_of(method, batch).item())
    assert abs(expected) > 1e-3
    assert (sides[0] - sides[1]) / 2e-6 == pytest.approx(expected, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tuning", [FULL, LORA], ids=["full", "lora"])
def test_gradients_in_parts_are_those_of_one_large_batch(kind: str, tuning: dict[str, Any]) -> None:
    method = method_of(tuning, attribution=kind, negatives=["negclip"]).double()
    batch = batch_of(method)
    loss, whole = gradients_of(method, batch)
    for chunk in (1, 3):
        again, parts = gradients_of(method, batch, chunk)
        torch.testing.assert_close(again, loss, rtol=1e-10, atol=0)
        assert parts.keys() == whole.keys()
        for name, expected in whole.items():
            assert (parts[name] - expected).norm() <= 1e-10 * expected.norm(), name


@pytest.mark.parametrize("kind", KINDS)
def test_in_16_bits_attribution_is_computed_in_32(kind: str) -> None:
    method = method_of(attribution=kind)
    batch = batch_of(method)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = method.represent(pixels_of(method, batch), batch.ids)
    assert result.images.dtype == torch.bfloat16
    with torch.no_grad():
        if kind == "perturbation":
            texts = torch.cat([result.texts, result.negatives])
            torch.testing.assert_close(texts, method.backbone.encode_text(batch.ids))
        else:
            function: Any = SCORES[kind]
            expected = function(method.backbone, result.images.float(), batch.ids[: len(ROWS)], **CAE[kind])
            torch.testing.assert_close(result.scores, expected)
    labelled = replace(result.in_32_bits(), labels=batch.labels, changed=batch.changed)
    loss = method.loss(labelled, batch.valid)
    assert loss.dtype == torch.float32


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_without_a_marked_caption_trains_by_the_contrast_alone(kind: str) -> None:
    method, rows = method_of(attribution=kind), [3, 3]
    loss, gradients = gradients_of(method, batch_of(method, rows))
    plain = method_of(attribution="none")
    expected, others = gradients_of(plain, batch_of(plain, rows))
    torch.testing.assert_close(loss, expected)
    for name, value in others.items():
        torch.testing.assert_close(gradients[name], value, atol=1e-5, rtol=1e-4)


# several devices

PARTS = [[3, 0], [2, 4]]  # the first device has a caption that is not marked, and longer ones
RANKED = {"negatives": ["negclip", "replace"], "negative_loss": "ce-clip"}
ON_DEVICES: dict[str, dict[str, Any]] = {
    "none": {"attribution": "none", "negatives": []},
    "ce-clip": {"attribution": "none", **RANKED},
    **{kind: {"attribution": kind, "negatives": ["negclip"]} for kind in KINDS},
}


def _of_one_process(rank: int, folder: str) -> None:
    """Store what a process of two gives of its part of a batch, which DDP would average."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    results = {}
    for name, settings in ON_DEVICES.items():
        method = method_of(**settings).double()
        results[name] = gradients_of(method, batch_of(method, PARTS[rank]))
    torch.save(results, f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_devices_together_give_what_one_gives(tmp_path: Path) -> None:
    in_two_processes(_of_one_process, str(tmp_path))
    parts = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]
    for name, settings in ON_DEVICES.items():
        method = method_of(**settings).double()
        loss, gradients = gradients_of(method, batch_of(method, PARTS[0] + PARTS[1]))
        for part in parts:
            torch.testing.assert_close(part[name][0], loss)
        for weight, value in gradients.items():
            mean = (parts[0][name][1][weight] + parts[1][name][1][weight]) / 2
            torch.testing.assert_close(mean, value, atol=1e-9, rtol=1e-7)
