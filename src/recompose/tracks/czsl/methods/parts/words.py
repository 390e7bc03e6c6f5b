"""Vectors of words: how a backbone's text tower sees the name of a state or an object."""

import numpy as np
import torch

from recompose.backbones.clip import Backbone

BLOCK = 256  # texts in one pass through the tower


def readable(name: str) -> str:
    """Return a state or object as a prompt says it: lower case, no dots (as CSP at 660fcff does)."""
    return name.replace(".", " ").lower()


@torch.no_grad()
def text_vectors(backbone: Backbone, names: list[str], prompt: str) -> np.ndarray:
    """Return text embeddings [names, E], not normalised, of each name in a prompt such as "a photo of {name}"."""
    texts = [prompt.format(name=readable(name)) for name in names]
    blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
    return np.concatenate([backbone.encode_text(backbone.tokens(block)).float().cpu().numpy() for block in blocks])
