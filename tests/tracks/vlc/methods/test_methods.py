"""Methods: what each represents and what its loss is made of, in parts as at once, on any number of devices."""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from recompose.backbones.clip import Backbone, end_of_text
from recompose.errors import ArgumentError
from recompose.tracks.building import TypedSettings
from recompose.tracks.vlc import losses
from recompose.tracks.vlc.attribution.labels import TokenLabeller
from recompose.tracks.vlc.attribution.methods import attention, gradcam, gradient, perturbation
from recompose.tracks.vlc.batches import Batch, CaptionRows
from recompose.tracks.vlc.building import build_method
from recompose.tracks.vlc.methods import fsc_clip, negclip
from recompose.tracks.vlc.methods.base import CaptionMethod, Representations, represent_in_chunks
from recompose.tracks.vlc.methods.clip_cae import ClipCae
from tests.clips import random_clip
from tests.errors import raises
from tests.precision import assert_close, default_dtype
from tests.processes import in_two_processes
from tests.tracks.documents import document
from tests.tracks.vlc import tiny
from tests.tracks.vlc.marked import docs, lexicon, tokenizer
from tests.tracks.vlc.test_losses import attribution_by_loop
from tests.tracks.vlc.tiny import CE_CLIP, CLIP_FT, FSC_CLIP, FULL, LORA, METHODS, NEGCLIP, backbone_of

pytestmark = pytest.mark.usefixtures("in_64_bits")

BATCH = 5
THERE = torch.tensor(
    [[True, False, True], [False, False, False], [True, True, True], [False, True, False], [True, True, False]]
)
WORDS = ["a red circle", "two green stars above a ring", "a square", "a dotted blue cross", "stars"]
CHANGED = ["a circle red", "a red ring", "square a", "a ring", "cube", "a dotted cross blue", "stars two", "one star"]


def built(run: dict[str, Any], backbone: Backbone) -> Any:
    """A method in training, of whose low-rank changes none is 0."""
    method: Any = build_method(TypedSettings(run), backbone).train()
    for name, parameter in method.named_parameters():
        if name.endswith(".0.B"):
            torch.manual_seed(1)
            parameter.data = 0.1 * torch.randn_like(parameter)
    return method


def method_of(name: str, settings: dict[str, Any] = FULL, backbone: Backbone | None = None) -> Any:
    return built(tiny.document(name, settings), backbone or backbone_of())


def batch_of(method: CaptionMethod) -> Batch:
    valid = THERE[:, : len(method.negatives)]
    ids = method.backbone.tokens(WORDS + CHANGED[: int(valid.sum())])
    return Batch(torch.from_numpy(tiny.images(BATCH)), ids[:, : int(end_of_text(ids).max()) + 1], valid)


def pixels_of(method: CaptionMethod, batch: Batch) -> Tensor:
    return method.backbone.from_bytes(batch.pixels).to(method.logit_scale)


def loss_of(method: CaptionMethod, batch: Batch, chunk: int | None = None) -> Tensor:
    whole = represent_in_chunks(method, pixels_of(method, batch), batch.ids, batch.valid, chunk)
    return method.loss(replace(whole, labels=batch.labels, changed=batch.changed), batch.valid)


def gradients_of(method: CaptionMethod, batch: Batch, chunk: int | None = None) -> tuple[Tensor, dict[str, Tensor]]:
    method.zero_grad()
    loss = loss_of(method, batch, chunk)
    loss.backward()
    return loss.detach(), {
        name: parameter.grad.clone() for name, parameter in method.named_parameters() if parameter.grad is not None
    }


def gradients_in_any_parts(method: CaptionMethod, batch: Batch, *chunks: int) -> dict[str, Tensor]:
    """The gradients of a batch, in 64 bits, which are the same in these parts."""
    loss, whole = gradients_of(deepcopy(method), batch)
    for chunk in chunks:
        again, parts = gradients_of(deepcopy(method), batch, chunk)
        torch.testing.assert_close(again, loss, rtol=1e-10, atol=0)
        assert parts.keys() == whole.keys()
        for name, expected in whole.items():
            assert (parts[name] - expected).norm() <= 1e-10 * expected.norm(), name
    return whole


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
    trained = {name for name, parameter in method.named_parameters() if parameter.requires_grad}
    assert gradients_in_any_parts(method, batch_of(method), 2, 3).keys() == trained
    assert ("backbone.model.logit_scale" in trained) == (settings is FULL)


@pytest.mark.parametrize("name", METHODS)
def test_representations_are_those_of_the_towers(name: str) -> None:
    method = method_of(name)
    batch = batch_of(method)
    pixels = pixels_of(method, batch)
    with torch.no_grad():
        result = method.represent(pixels, batch.ids)
        assert_close(result.images, method.backbone.encode_image(pixels))
        texts = method.backbone.encode_text(batch.ids)
    assert_close(result.texts, texts[:BATCH])
    assert_close(result.negatives, texts[BATCH:])
    assert len(result.negatives) == batch.valid.sum()
    assert bool(result.local) == (name == FSC_CLIP)


def test_patches_and_tokens_are_the_released_ones() -> None:
    """Class token, start of text and padding are no part of them; the end of text is. Neither is normalised."""
    method = method_of(FSC_CLIP)
    model = method.backbone.model
    ids, pixels = batch_of(method).ids, pixels_of(method, batch_of(method))
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
    assert_close(result.patches, patches)
    mask = torch.cat([result.mask, result.negative_mask])
    for row, text in enumerate(ids.tolist()):
        used = [place for place, token in enumerate(text) if place and token]
        assert text[used[-1]] == 49407
        assert mask[row].nonzero().flatten().tolist() == used
    assert_close(torch.cat([result.tokens, result.negative_tokens])[mask], tokens[mask])


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
    whole = batch_of(method)
    result, valid = method.represent(pixels_of(method, whole), whole.ids), whole.valid
    part = result.local
    expected = losses.contrastive_loss(result.images, result.texts, scale)
    expected += 0.5 * fsc_clip.hard_negative_loss(*result.embeddings, valid, scale, 2.0, 0.02)
    local = (part.patches, part.tokens, part.mask, part.negative_tokens, part.negative_mask)
    expected += 0.2 * fsc_clip.local_hard_negative_loss(*local, valid, scale, 2.0, 0.02, "minmax")
    assert_close(method.loss(result, valid), expected)


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
        expected = expected + 0.2 * negclip.cross_modal_rank_loss(*batch.embeddings, valid, scale, before)
        expected = expected + 0.3 * negclip.intra_modal_loss(*batch.embeddings, valid, scale, "first")
        assert_close(method.loss(batch, valid).detach(), expected)
        own, places = scale * (images * texts).sum(dim=1), valid.nonzero().tolist()
        leads: list[list[Tensor]] = [[], []]
        for (image, kind), negative in zip(places, negatives, strict=True):
            leads[kind].append(own.mean() - scale * images[image] @ negative)
        before = torch.stack([torch.stack(each).mean() for each in leads]).clamp(0, 10)
        assert_close(method.thresholds, before)
    assert "thresholds" in method.state_dict()
    method.begin_epoch()
    assert not method.thresholds.any()


@pytest.mark.parametrize("name", METHODS)
def test_a_batch_without_any_negative_trains(name: str) -> None:
    method = method_of(name)
    batch = batch_of(method)
    loss = loss_of(method, batch._replace(ids=batch.ids[:BATCH], valid=torch.zeros_like(batch.valid)))
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
    loss_of(method, batch_of(method)).backward()


# CLIP-CAE's two losses: beside loops, in parts as at once, in 16 bits, on several devices


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


def cae_of(tuning: Mapping[str, Any] = FULL, **settings: Any) -> ClipCae:
    """With attention that is far from even, so that what is wrong shows."""
    own = {**tuning, **CAE, **settings, "training": tiny.RATES}
    method: ClipCae = built(document(ClipCae, own), backbone_of())
    with torch.no_grad():
        for block in method.backbone.model.transformer.resblocks:
            block.attn.in_proj_weight.mul_(4)
        method.backbone.model.token_embedding.weight.mul_(20)
    return method


def cae_batch(method: ClipCae, rows: list[int] = ROWS) -> Batch:
    texts, labeller = [doc.text for doc in docs()], None
    if method.label_request is not None:
        labeller = TokenLabeller(method.label_request, docs(), lexicon(), tokenizer)
    makers = [tiny.of_rows(tiny.swapped, docs()) for _ in method.negatives]
    pictures = tiny.images(len(texts))
    return CaptionRows(pictures, np.arange(len(texts)), texts, makers, tokenizer, 0, labeller)[rows]


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
    method = cae_of(attribution=kind, negatives=negatives)
    batch = cae_batch(method)
    assert batch.labels is not None
    scores, masks = attribution_scores(method, batch), [mask.tolist() for mask in batch.labels]
    expected = attribution_by_loop(scores.tolist(), *masks, margin=0.5)
    assert expected > 0
    alone = cae_of(attribution=kind, negatives=negatives, itc_weight=0.0)
    assert loss_of(alone, batch).item() == pytest.approx(3 * expected)
    without = cae_of(attribution="none", negatives=negatives)
    assert without.label_request is None
    both = loss_of(without, cae_batch(without)).item() + 3 * expected
    assert loss_of(method, batch).item() == pytest.approx(both)


@pytest.mark.parametrize(
    ("other", "negatives", "loss"),
    [(CLIP_FT, [], "negclip"), (NEGCLIP, ["negclip"], "negclip"), (CE_CLIP, ["negclip", "replace"], "ce-clip")],
)
@pytest.mark.parametrize(("kind", "weight"), [("attention", 0.0), ("attention", 1e-30), ("perturbation", 1e-30)])
def test_without_attribution_it_is_the_method_that_it_adds_to(
    kind: str, weight: float, other: str, negatives: list[str], loss: str
) -> None:
    weights = CAE["attribution_weights"] | {kind: weight}
    method = cae_of(attribution=kind, negatives=negatives, negative_loss=loss, attribution_weights=weights)
    batch = cae_batch(method)
    settings = FULL | tiny.OWN[other] | {"negatives": negatives} if loss == "ce-clip" else FULL
    other_document = {"class": f"recompose.tracks.vlc.methods.{other}", "settings": settings, "seed": 0}
    plain: Any = build_method(TypedSettings(other_document), deepcopy(method.backbone))
    texts = cae_batch(cae_of(negatives=negatives))
    for _ in range(2):  # CE-CLIP's thresholds are those of the step before
        result, gradients = gradients_of(method, batch)
        plain.zero_grad()
        expected = plain.loss(plain.represent(pixels_of(method, texts), texts.ids), texts.valid)
        expected.backward()
        assert_close(result, expected.detach())
        for name, parameter in plain.named_parameters():
            assert_close(gradients[name], parameter.grad)
    if loss == "ce-clip":
        assert_close(method.thresholds, plain.thresholds)
        assert method.thresholds.any()
    method.begin_epoch()
    assert not method.thresholds.any()


@pytest.mark.parametrize("kind", KINDS)
def test_gradients_are_those_of_finite_differences(kind: str) -> None:
    """Of the loss of attribution alone, through the derivatives that it is made of, in a random direction."""
    method = cae_of(attribution=kind, itc_weight=0.0)
    batch = cae_batch(method)
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
    for size in (1e-5, -2e-5, 3e-5, -4e-5):  # one step ahead, one behind, two ahead and two behind
        with torch.no_grad():
            for name, step in steps.items():
                parameters[name].add_(size * step)
        sides.append(loss_of(method, batch).item())
    assert abs(expected) > 1e-3
    found = (8 * (sides[0] - sides[1]) - (sides[2] - sides[3])) / 12e-5
    assert found == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("tuning", [FULL, LORA], ids=["full", "lora"])
def test_gradients_in_parts_are_those_of_one_large_batch(kind: str, tuning: dict[str, Any]) -> None:
    method = cae_of(tuning, attribution=kind, negatives=["negclip"])
    assert gradients_in_any_parts(method, cae_batch(method), 1, 3)


@default_dtype(torch.float32)
@pytest.mark.parametrize("kind", KINDS)
def test_in_16_bits_attribution_is_computed_in_32(kind: str) -> None:
    method = cae_of(attribution=kind)
    batch = cae_batch(method)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        result = method.represent(pixels_of(method, batch), batch.ids)
    assert result.images.dtype == torch.bfloat16
    with torch.no_grad():
        if kind == "perturbation":
            texts = torch.cat([result.texts, result.negatives])
            assert torch.equal(texts, method.backbone.encode_text(batch.ids))
        else:
            function: Any = SCORES[kind]
            expected = function(method.backbone, result.images.float(), batch.ids[: len(ROWS)], **CAE[kind])
            assert torch.equal(result.scores, expected)
    labelled = replace(result.in_32_bits(), labels=batch.labels, changed=batch.changed)
    loss = method.loss(labelled, batch.valid)
    assert loss.dtype == torch.float32


@pytest.mark.parametrize("kind", KINDS)
def test_a_batch_without_a_marked_caption_trains_by_the_contrast_alone(kind: str) -> None:
    method, rows = cae_of(attribution=kind), [3, 3]
    loss, gradients = gradients_of(method, cae_batch(method, rows))
    plain = cae_of(attribution="none")
    expected, others = gradients_of(plain, cae_batch(plain, rows))
    assert_close(loss, expected)
    for name, value in others.items():
        assert_close(gradients[name], value)


# several devices

PARTS = [[3, 0], [2, 4]]  # the first device has a caption that is not marked, and longer ones
RANKED = {"negatives": ["negclip", "replace"], "negative_loss": "ce-clip"}
ON_DEVICES: dict[str, dict[str, Any]] = {
    "none": {"attribution": "none", "negatives": []},
    "ce-clip": {"attribution": "none", **RANKED},
    **{kind: {"attribution": kind, "negatives": ["negclip"]} for kind in KINDS},
}


@default_dtype(torch.float64)
def _of_one_process(rank: int, folder: str) -> None:
    """Store what a process of two gives of its part of a batch, which DDP would average."""
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    results = {}
    for name, settings in ON_DEVICES.items():
        method = cae_of(**settings)
        results[name] = gradients_of(method, cae_batch(method, PARTS[rank]))
    torch.save(results, f"{folder}/{rank}.pt")
    torch.distributed.destroy_process_group()


@pytest.mark.slow
def test_devices_together_give_what_one_gives(tmp_path: Path) -> None:
    in_two_processes(_of_one_process, str(tmp_path))
    parts = [torch.load(tmp_path / f"{rank}.pt", weights_only=True) for rank in range(2)]
    for name, settings in ON_DEVICES.items():
        method = cae_of(**settings)
        loss, gradients = gradients_of(method, cae_batch(method, PARTS[0] + PARTS[1]))
        for part in parts:
            assert_close(part[name][0], loss)
        for weight, value in gradients.items():
            mean = (parts[0][name][1][weight] + parts[1][name][1][weight]) / 2
            assert_close(mean, value)
