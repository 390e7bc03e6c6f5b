"""Prompts of states, objects and pairs, with slots for learned vectors."""

import numpy as np
import torch
from torch import Tensor, nn

from recompose.backbones.clip import Backbone, end_of_text
from recompose.tracks.czsl.methods.base import TEXTS, apply_blockwise

BLOCK = 256  # texts of names in one pass through the tower


def prompt_words(name: str) -> str:
    """Return a state or object as words of a prompt: lower case, no dots (as CSP at 660fcff does)."""
    return name.replace(".", " ").lower()


@torch.no_grad()
def mean_token_embeddings(backbone: Backbone, names: list[str]) -> Tensor:
    """Return the mean of the token embeddings [names, D] of each name, without start and end of text."""
    ids = backbone.tokens([prompt_words(name) for name in names])
    end = ids.argmax(dim=-1)
    return torch.stack([backbone.embed_tokens(row[1:stop]).mean(dim=0) for row, stop in zip(ids, end, strict=True)])


@torch.no_grad()
def text_vectors(backbone: Backbone, names: list[str], prompt: str) -> np.ndarray:
    """Return text embeddings [names, E], not normalised, of each name in a prompt such as "a photo of {name}"."""
    texts = [prompt.format(name=prompt_words(name)) for name in names]
    blocks = (texts[start : start + BLOCK] for start in range(0, len(texts), BLOCK))
    return np.concatenate([backbone.encode_text(backbone.tokens(block)).float().cpu().numpy() for block in blocks])


class SlottedPrompt(nn.Module):
    """The token embeddings of a template such as "a photo of {state} {object}".

    The slots are right before the end of text, as in CSP at 660fcff. D is the width of the text tower.
    """

    start: Tensor
    end: Tensor
    context: Tensor

    def __init__(self, backbone: Backbone, template: str) -> None:
        super().__init__()
        ids = backbone.tokens([template.format(state="X", object="X")])[0]
        with torch.no_grad():
            embeddings = backbone.embed_tokens(ids[: int(end_of_text(ids)) + 1])
        self.register_buffer("start", embeddings[:1].clone(), persistent=False)
        self.register_buffer("end", embeddings[-1:].clone(), persistent=False)
        self.register_buffer("context", embeddings[1:-3].clone(), persistent=False)

    @property
    def length(self) -> int:
        """The number of tokens of a prompt with two words."""
        return len(self.start) + len(self.context) + 2 + len(self.end)

    def encode(self, backbone: Backbone, context: Tensor, *words: Tensor) -> Tensor:
        """Return text embeddings [texts, E], not normalised, with a context [length, D] before the contents [texts, D]
        of the slots.
        """
        return apply_blockwise(lambda *block: self._encode(backbone, context, *block), *words, size=TEXTS)

    def _encode(self, backbone: Backbone, context: Tensor, *words: Tensor) -> Tensor:
        return backbone.encode_alike(self(context, *words), len(self.start) + len(context))

    def forward(self, context: Tensor, *words: Tensor) -> Tensor:
        """Return prompts [texts, tokens, D], from the start to the end of text."""
        count = len(words[0])
        start, context, end = (part.expand(count, *part.shape) for part in (self.start, context, self.end))
        return torch.cat([start, context, *(word.unsqueeze(1) for word in words), end], dim=1)
