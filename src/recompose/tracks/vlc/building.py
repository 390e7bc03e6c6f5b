"""How a method is built, and how a run's CLIP is restored: what a run and an evaluation of it have in common."""

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, TypeAlias

import open_clip
import pytorch_lightning as pl
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from recompose.backbones.clip import ARCHITECTURES, DESCRIPTION, Activation, Backbone, load
from recompose.files import read_json
from recompose.tracks.vlc.methods.parts import tower_lora

CHECKPOINT = "checkpoint.safetensors"  # of the backbone, what training changed, under the backbone's names
COSTS = "costs.json"
Tokenizer: TypeAlias = Callable[[list[str]], Tensor]
Gelu = Literal["own", "other"]  # what a CLIP runs with: the activation that it was pretrained with, or the other one
OTHER: Mapping[Activation, Activation] = {"gelu": "quick_gelu", "quick_gelu": "gelu"}
SECTIONS = ("training", "scoring")  # of a method's settings: all others are its own


def build_method(document: Mapping[str, Any], backbone: Backbone) -> nn.Module:
    """A method before training: of a backbone that it takes for its own, and may change.

    Args:
        document: ``class``, ``settings`` and ``seed``, which new weights are drawn from.
        backbone: that nobody else holds.
    """
    pl.seed_everything(document["seed"], verbose=False)
    module, name = document["class"].split(":")
    built: nn.Module = getattr(importlib.import_module(module), name)(backbone, **own_settings(document["settings"]))
    return built


def own_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The settings that a method's class takes.

    Example:
        >>> own_settings({"tuning": "full", "training": {"lr": 0.1}, "scoring": {"alpha": 1.0}})
        {'tuning': 'full'}
    """
    return {name: value for name, value in settings.items() if name not in SECTIONS}


def tokenizer_of(folder: Path) -> Tokenizer:
    """The tokenizer of a backbone's folder: ids [texts, context], wherever the backbone is."""
    open_clip.add_model_config(ARCHITECTURES)
    made: Tokenizer = open_clip.get_tokenizer(read_json(folder / DESCRIPTION)["architecture"])
    return made


@torch.no_grad()
def restored(
    document: Mapping[str, Any], needs: Mapping[str, Path], alpha: float = 1.0, activation: Gelu = "own"
) -> Backbone:
    """The CLIP that a run left, ready to encode.

    WiSE-FT (Wortsman et al., 2022): ``alpha`` 1 is what training left, 0 what it began with, and between them each
    weight is (1 - alpha) of the one and alpha of the other, the logarithm of the factor on cosines included. Of
    low-rank changes both parts are taken alpha times (as FSC-CLIP's code at 604015d does, which takes them for 0
    before training), so that what they change goes with alpha squared.

    Args:
        document: ``settings`` of the run.
        needs: the verified folders ``backbone`` and ``run``; without ``run`` it is the backbone as it was pretrained.
        alpha: the share of what training left.
        activation: what it runs with, whatever it was trained with.

    Raises:
        ValueError: alpha is no share.
        RuntimeError: the checkpoint does not fit the backbone.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha is {alpha}, not a share from 0 to 1")
    backbone = _pretrained(needs["backbone"], activation)
    if "run" not in needs:
        return backbone
    settings, left = document["settings"], load_file(needs["run"] / CHECKPOINT)
    if settings["tuning"] == "lora":
        tower_lora.attach(backbone, settings["lora"]["rank"], settings["lora"]["alpha"])
        begun = {name: torch.zeros_like(tensor) for name, tensor in left.items()}
    else:
        begun = backbone.state_dict()
    _load(backbone, {name: (1 - alpha) * begun[name] + alpha * tensor for name, tensor in left.items()})
    tower_lora.merge(backbone)
    return backbone.requires_grad_(False).eval()


def _pretrained(folder: Path, activation: Gelu) -> Backbone:
    """The backbone of a folder, with its own activation or with the other one."""
    description = read_json(folder / DESCRIPTION)
    own: Activation = description["activation"]
    runs_with = own if activation == "own" else OTHER[own]
    return load(description["architecture"], runs_with, folder / description["weights"])


def trained_names(backbone: Backbone) -> set[str]:
    """The names of a backbone's weights that train."""
    return {name for name, parameter in backbone.named_parameters() if parameter.requires_grad}


def _load(backbone: Backbone, state: Mapping[str, Tensor]) -> None:
    """Load all weights that were trained, and nothing else.

    Raises:
        RuntimeError: there are others, or fewer.
    """
    if trained_names(backbone) != set(state):
        raise RuntimeError(f"a checkpoint has {len(state)} weights, not the {len(trained_names(backbone))} that train")
    backbone.load_state_dict(dict(state), strict=False)
