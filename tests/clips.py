"""Small CLIPs with random weights."""

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import open_clip
import torch
from safetensors.torch import save_file

from recompose.backbones.clip import DESCRIPTION, Activation, Backbone, build
from recompose.files import write_json
from tests.precision import default_dtype


def random_clip(
    seed: int = 0, architecture: str = "shapes-clip", activation: Activation = "gelu", config: Any = None
) -> Backbone:
    """Return a CLIP in evaluation mode, of an architecture that is known, or that has this configuration.

    Its weights are the same in 32 and in 64 bits.
    """
    if config and architecture not in open_clip.list_models():
        with TemporaryDirectory() as folder:
            write_json(Path(folder) / f"{architecture}.json", config)
            open_clip.add_model_config(folder)
    torch.manual_seed(seed)
    with default_dtype(torch.float32):
        clip = build(architecture, activation).eval()
    return clip.to(torch.get_default_dtype())


def write_backbone(clip: Backbone, folder: Path, architecture: str = "shapes-clip") -> None:
    """Write a CLIP and its description into a folder, as the workflow does, in 32 bits."""
    weights = "weights.safetensors"
    state = {name: tensor.to(torch.float32) for name, tensor in clip.model.state_dict().items()}
    save_file(state, folder / weights)
    write_json(folder / DESCRIPTION, {"architecture": architecture, "activation": "gelu", "weights": weights})
