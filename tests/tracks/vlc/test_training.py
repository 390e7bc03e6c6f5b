"""Runs of the track: how they step, resume, and what is restored of them."""

import json
from math import cos, log, pi
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file, save_file

from recompose.backbones.clip import load_backbone
from recompose.errors import ArgumentError, CheckpointError
from recompose.tracks.building import CHECKPOINT, COSTS
from recompose.tracks.vlc import batches, training
from recompose.tracks.vlc.building import restore_clip
from recompose.tracks.vlc.training import clamp_scale, parameter_groups, rate
from tests.calls import watch
from tests.errors import raises
from tests.precision import assert_close
from tests.tracks.documents import recipe_of
from tests.tracks.vlc.tiny import CLIP_FT, FULL, LORA, backbone_of, document, stand_ins, write

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]


@pytest.fixture(autouse=True)
def use_stand_ins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(batches, "makers", stand_ins)
    monkeypatch.setattr(training, "count_at_paper_scale", lambda _: 7)  # takes a second


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return write(tmp_path_factory.mktemp("corpus"))


def train_run(folder: Path, needs: dict[str, Path], run: dict[str, Any]) -> Path:
    """The folder of a run."""
    folder.mkdir(parents=True, exist_ok=True)
    assert training.train(recipe_of(run), needs, folder)
    return folder


@pytest.mark.parametrize("settings", [FULL, LORA], ids=["full", "lora"])
def test_alpha_goes_from_the_backbone_to_what_training_left(
    tmp_path: Path, needs: dict[str, Path], settings: dict[str, Any]
) -> None:
    run = document(CLIP_FT, settings)
    folder = train_run(tmp_path, needs, run)
    assert json.loads((folder / COSTS).read_text())["trainable_parameters_at_vit_l_14"] == 7
    left, begun = load_file(folder / CHECKPOINT), load_backbone(needs["backbone"]).state_dict()
    at = {alpha: restore_clip(run, needs | {"run": folder}, alpha).state_dict() for alpha in (0.0, 0.3, 1.0)}
    assert all(at[alpha].keys() == begun.keys() for alpha in at)
    assert all(torch.equal(at[0.0][name], tensor) for name, tensor in begun.items())
    if settings is FULL:
        assert left.keys() == begun.keys()
        assert all(torch.equal(at[1.0][name], tensor) for name, tensor in left.items())
        assert not torch.equal(left["model.logit_scale"], begun["model.logit_scale"])
        for name, tensor in at[0.3].items():
            assert_close(tensor, 0.7 * begun[name] + 0.3 * left[name])
        return
    assert all(name.endswith((".0.A", ".0.B")) for name in left)
    for name in begun:
        layer, _, weight = name.rpartition(".")
        factors = [left.get(f"{layer}.parametrizations.{weight}.0.{part}") for part in "BA"]
        for alpha in at:
            expected = begun[name]
            if factors[0] is not None and factors[1] is not None:
                change = (factors[0] @ factors[1]).view(expected.shape) / 4
                expected = expected + alpha**2 * change
            assert_close(at[alpha][name], expected)


def test_an_untrained_method_is_its_backbone_and_other_weights_are_refused(
    tmp_path: Path, needs: dict[str, Path]
) -> None:
    document_of_clip = {"class": "recompose.tracks.vlc.methods.clip:UntunedCLIP", "settings": {}}
    begun = restore_clip(document_of_clip, needs).state_dict()
    assert all(torch.equal(tensor, begun[name]) for name, tensor in backbone_of().state_dict().items())
    run = document(CLIP_FT)
    save_file({"model.logit_scale": torch.tensor(1.0)}, tmp_path / CHECKPOINT)
    with raises(CheckpointError, "other-parameters", CHECKPOINT):
        restore_clip(run, needs | {"run": tmp_path})
    with raises(ArgumentError, place="alpha"):
        restore_clip(run, needs | {"run": tmp_path}, 1.5)


def test_what_decays() -> None:
    """No gain, bias or class token, no factor of cosines: by name and by shape, as released; tables of positions do."""
    backbone = backbone_of()
    stored, decays = parameter_groups(backbone, 0.1)
    assert (stored["weight_decay"], decays["weight_decay"]) == (0.0, 0.1)
    names = {id(parameter): name for name, parameter in backbone.named_parameters()}
    spared = {names[id(parameter)] for parameter in stored["params"]}
    others = {names[id(parameter)] for parameter in decays["params"]}
    assert spared | others == set(names.values())
    assert not spared & others
    for name in spared:
        last = name.rpartition(".")[2]
        # the stem's normalisations have gains, too
        assert last in ("bias", "in_proj_bias", "class_embedding", "logit_scale") or ".ln" in name or "conv1" in name
    named = ("token_embedding.weight", "positional_embedding", "text_projection", "visual.proj")
    assert {*(f"model.{name}" for name in named), "model.visual.conv1.0.weight"} <= others
    frozen = backbone.requires_grad_(False)
    frozen.model.visual.proj.requires_grad_(True)
    assert [len(group["params"]) for group in parameter_groups(frozen, 0.1)] == [0, 1]


@pytest.mark.parametrize(("warmup", "steps"), [(2, 6), (0, 4), (5, 5)])
def test_the_rate_rises_to_the_highest_and_falls_to_0(warmup: int, steps: int) -> None:
    rising = [(step + 1) / warmup for step in range(warmup)]
    falling = [(1 + cos(pi * step / (steps - warmup))) / 2 for step in range(steps - warmup)]
    assert [rate(step, warmup, steps) for step in range(steps)] == pytest.approx(rising + falling)


def test_steps_are_taken_at_these_rates_by_adamw_with_the_released_constants(
    tmp_path: Path, needs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    seen, groups = [], []

    def see(_: Any, epoch: int, index: int, optimizer: Any, closure: Any = None) -> None:
        seen.append(optimizer.param_groups[0]["lr"])
        groups.append([(g["betas"], g["eps"], g["weight_decay"]) for g in optimizer.param_groups])

    watch(monkeypatch, training.CaptionTraining, "optimizer_step", see)
    train_run(tmp_path, needs, document(CLIP_FT))
    # 9 rows are two batches of 4; the last, of one, is left out; three epochs
    assert seen == pytest.approx([1e-3 * rate(step, 2, 6) for step in range(6)])
    assert groups[-1] == [((0.9, 0.98), 1e-6, 0.0), ((0.9, 0.98), 1e-6, 0.1)]


def test_the_factor_of_cosines_stays_between_1_and_100() -> None:
    backbone = backbone_of()
    for begun, ends in ((5.0, log(100)), (-0.5, 0.0), (3.0, 3.0)):
        backbone.model.logit_scale.data.fill_(begun)
        clamp_scale(backbone)
        assert backbone.model.logit_scale.item() == pytest.approx(ends)
    backbone.model.logit_scale.data.fill_(5.0)
    clamp_scale(backbone.requires_grad_(False))
    assert backbone.model.logit_scale.item() == 5.0


def test_the_factor_is_held_after_each_step(tmp_path: Path) -> None:
    far = write(tmp_path / "far")
    weights = far["backbone"] / "weights.safetensors"
    save_file(load_file(weights) | {"logit_scale": torch.tensor(6.0)}, weights)
    left = load_file(train_run(tmp_path / "run", far, document(CLIP_FT, epochs=1)) / CHECKPOINT)
    assert left["model.logit_scale"].item() <= log(100) + 1e-6


def test_a_loss_that_is_not_a_number_stops_with_a_remedy(
    tmp_path: Path, needs: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(training, "random_crops", lambda images: images.float() * float("nan"))
    with pytest.raises(FloatingPointError, match="lower lr"):
        train_run(tmp_path, needs, document(CLIP_FT))
