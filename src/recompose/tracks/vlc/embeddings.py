"""Embeddings of pixels and of texts, each of length 1, in 32 bits."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from recompose.backbones.arrays import Stack
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import check_size
from recompose.progress import bar

BLOCK = 256  # images or texts in one pass through a tower


def image_embeddings(backbone: Backbone, pixels: np.ndarray | Stack, device: torch.device, title: str) -> np.ndarray:
    """Embeddings [images, E] of pixels [images, 3, height, width] as bytes.

    Raises:
        DataError: they are of another size than the image tower takes.
    """
    check_size(pixels.shape[2:], backbone.image_size)

    def encode(block: slice) -> Tensor:
        return backbone.encode_image(backbone.from_bytes(torch.from_numpy(np.array(pixels[block])).to(device)))

    return _embeddings(encode, len(pixels), backbone.width, f"{title}, images")


def text_embeddings(backbone: Backbone, texts: Sequence[str], device: torch.device, title: str) -> np.ndarray:
    """Embeddings [texts, E]: those of like length in one pass, whose padding is not computed."""
    ids = torch.cat([backbone.tokens(texts[start : start + BLOCK]).cpu() for start in range(0, len(texts), BLOCK)])
    order = (ids != 0).sum(dim=1).argsort(stable=True)

    def encode(block: slice) -> Tensor:
        return backbone.encode_text(ids[order[block]].to(device))

    made = _embeddings(encode, len(texts), backbone.width, f"{title}, texts")
    embeddings = np.empty_like(made)
    embeddings[order.numpy()] = made
    return embeddings


@torch.no_grad()
def _embeddings(encode: Callable[[slice], Tensor], count: int, width: int, title: str) -> np.ndarray:
    embeddings = np.empty((count, width), dtype=np.float32)
    for start in bar(range(0, count, BLOCK), title, "block"):
        block = slice(start, min(start + BLOCK, count))
        embeddings[block] = normalize(encode(block).float(), dim=-1).cpu().numpy()
    return embeddings
