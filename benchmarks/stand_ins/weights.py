"""Weights of the backbones' own architectures, drawn at random."""

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from torchvision.models import get_model
from torchvision.models.resnet import BasicBlock, Bottleneck

from benchmarks.stand_ins.project import Scope, stand_in
from recompose.backbones.clip import Activation, build
from recompose.digest import sha256_file
from recompose.files import write_atomically

RESIDUAL = 0.2  # what a block adds to its input, of random weights: more, and a hundred layers overflow 16 bits


def add_weights(params: dict[str, Any], scope: Scope, folder: Path) -> None:
    """Write weights of the backbones that the scope's tracks name where they are not there yet, and name them in the
    backbones' sections.
    """
    folder.mkdir(parents=True, exist_ok=True)
    choices = [params["profiles"]["paper"][track] for track in scope.datasets]
    roles = ("backbone", "other_backbone", "other_pretraining")
    for name in {choice[role] for choice in choices for role in roles if choice.get(role)}:
        section = params["backbones"][name]
        if "activation" in section:
            section["architecture"] = scope.clip or section["architecture"]
            file = _clip_weights(section["architecture"], section["activation"], folder)
        else:
            section["architecture"] = scope.classifier or section["architecture"]
            file = _classifier_weights(section["architecture"], folder)
        section["weights"] = stand_in(file)


def _clip_weights(architecture: str, activation: Activation, folder: Path) -> str:
    """Write random weights of a CLIP in 16 bits, as large as the released ones are; return the file's name."""
    path = folder / f"{architecture}-random.safetensors"
    if not path.exists():
        torch.manual_seed(0)
        halves = {name: _halved(tensor) for name, tensor in build(architecture, activation).model.state_dict().items()}
        write_atomically(path, lambda partial: save_file(halves, partial))
    return path.name


def _halved(tensor: torch.Tensor) -> torch.Tensor:
    return (tensor.half() if tensor.is_floating_point() else tensor).contiguous().clone()


def _classifier_weights(architecture: str, folder: Path) -> str:
    """Write random weights of a network of torchvision, under a name that ends like theirs do, in the digits of its
    digest; return the name.
    """
    if there := sorted(folder.glob(f"{architecture}-????????.pth")):
        return there[0].name
    torch.manual_seed(0)
    network = get_model(architecture, weights=None)
    for block in network.modules():
        if isinstance(block, Bottleneck | BasicBlock):
            last = block.bn3 if isinstance(block, Bottleneck) else block.bn2
            torch.nn.init.constant_(last.weight, RESIDUAL)
    partial = folder / f"{architecture}.partial"
    torch.save(network.state_dict(), partial)
    path = folder / f"{architecture}-{sha256_file(partial)[:8]}.pth"
    partial.rename(path)
    return path.name
