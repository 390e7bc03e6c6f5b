"""Texts of words: the embeddings of the names of states and objects by a backbone's text tower."""

import numpy as np
import torch

from recompose.backbones.clip import Backbone

BLOCK = 256  # texts in one pass through the tower


def prompt_words(name: str) -> str:
    """Return a state or object as words of a prompt: lower case, no dots (as CSP at 660fcff does)."""
    return name.replace(".", " ").lower()


@torch.no_grad()
def text_vectors(backbone: Backbone, names: list[str], prompt: str) -> np.ndarray:
    """Return text embeddings [names, E], not normalised, of each name in a prompt such as "a photo of {name}"."""
    texts = [prompt.format(name=prompt_words(name)) for name in names]
    blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
    return np.concatenate([backbone.encode_text(backbone.tokens(block)).float().cpu().numpy() for block in blocks])
