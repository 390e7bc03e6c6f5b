"""Construction of methods and restoration of a run's CLIP, shared by runs and evaluations."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TypeAlias

import pytorch_lightning as pl
import torch
from torch import Tensor, nn

from recompose.backbones import low_rank
from recompose.backbones.clip import DESCRIPTION, Activation, Backbone, load
from recompose.errors import ArgumentError
from recompose.files import read_json
from recompose.tracks.building import CHECKPOINT, Document, TypedSettings, method_class
from recompose.tracks.vlc.methods.settings import TunedSettings
from recompose.training.checkpoint import read_checkpoint

Tokenizer: TypeAlias = Callable[[list[str]], Tensor]
Gelu = Literal["own", "other"]  # the activation that a CLIP was pretrained with, or the other one
OTHER: Mapping[Activation, Activation] = {"gelu": "quick_gelu", "quick_gelu": "gelu"}


def build_method(settings: TypedSettings, backbone: Backbone) -> nn.Module:
    """Build an untrained method around a backbone, which it owns and may change.

    Args:
        settings: of a document with ``class``, ``settings`` and ``seed``, from which new weights are drawn.
        backbone: not shared with other code.
    """
    pl.seed_everything(settings.document["seed"], verbose=False)
    return method_class(settings.document)(backbone, settings.own)


@torch.no_grad()
def restore_clip(
    document: Document, needs: Mapping[str, Path], alpha: float = 1.0, activation: Gelu = "own"
) -> Backbone:
    """Return a run's CLIP, ready to encode.

    WiSE-FT (Wortsman et al., 2022): each weight is (1 - alpha) times its value before training plus alpha times its
    value after training, the logarithm of the factor on cosines included. Low-rank changes have both parts multiplied
    by alpha (as in FSC-CLIP's code at 604015d, which takes them for 0 before training), so that the change of a weight
    scales with alpha squared.

    Args:
        document: ``class`` and ``settings`` of the run.
        needs: the verified folders ``backbone`` and ``run``; without ``run``, the pretrained backbone is returned.
        alpha: the share of the trained weights.
        activation: the activation to run with, whatever the model was trained with.

    Raises:
        ArgumentError: alpha is not between 0 and 1.
        CheckpointError: the checkpoint does not fit the backbone.
    """
    if not 0 <= alpha <= 1:
        raise ArgumentError("alpha", f"is {alpha}, not a share from 0 to 1")
    description = read_json(needs["backbone"] / DESCRIPTION)
    pretrained_with: Activation = description["activation"]
    runs_with = pretrained_with if activation == "own" else OTHER[pretrained_with]
    backbone = load(description["architecture"], runs_with, needs["backbone"] / description["weights"])
    if "run" not in needs:
        return backbone
    settings = TypedSettings(document).own
    assert isinstance(settings, TunedSettings)
    initial, lora = backbone.state_dict(), settings.lora if settings.tuning == "lora" else None
    if lora:
        low_rank.attach(backbone, lora.rank, lora.alpha)
    trained = read_checkpoint(backbone, needs["run"] / CHECKPOINT, with_buffers=False)
    if lora:
        initial = {name: torch.zeros_like(tensor) for name, tensor in trained.items()}
    mixed = {name: (1 - alpha) * initial[name] + alpha * tensor for name, tensor in trained.items()}
    backbone.load_state_dict(mixed, strict=False)
    low_rank.merge(backbone)
    return backbone.requires_grad_(False).eval()
