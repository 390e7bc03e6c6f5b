"""A small CLIP with random weights."""

import torch

from recompose.backbones.clip import Backbone, build


def random_clip(seed: int = 0) -> Backbone:
    """Return a CLIP for drawn shapes, in evaluation mode."""
    torch.manual_seed(seed)
    return build("shapes-clip", "gelu").eval()
