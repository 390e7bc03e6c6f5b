"""Weights of the backbones' own architectures, drawn at random."""

from pathlib import Path

import open_clip
import torch
from safetensors.torch import save_file
from torchvision.models import get_model
from torchvision.models.resnet import BasicBlock, Bottleneck

from benchmarks.stand_ins.project import ARCHITECTURES
from recompose.backbones.clip import Activation, build
from recompose.digest import sha256_file

RESIDUAL = 0.2  # what a block adds to its input, of random weights: more, and a hundred layers overflow 16 bits


def clip_weights(architecture: str, activation: Activation, path: Path) -> None:
    """Write random weights of a CLIP in 16 bits, as large as the released ones are, where they are not there yet."""
    if not path.exists():
        torch.manual_seed(0)
        open_clip.add_model_config(ARCHITECTURES)
        state = build(architecture, activation).model.state_dict()
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".partial")
        halves = (torch.float32, torch.float64)
        save_file({name: _halved(tensor, halves) for name, tensor in state.items()}, partial)
        partial.rename(path)


def _halved(tensor: torch.Tensor, kinds: tuple[torch.dtype, ...]) -> torch.Tensor:
    return (tensor.half() if tensor.dtype in kinds else tensor).contiguous().clone()


def classifier_weights(architecture: str, folder: Path) -> str:
    """Write random weights of a network of torchvision, under a name that ends like theirs do, in the digits of its
    digest; gives the name.
    """
    folder.mkdir(parents=True, exist_ok=True)
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
