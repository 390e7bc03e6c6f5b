"""Embeddings of pixels and of texts, normalised, in 32 bits."""

from collections.abc import Callable, Sequence

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import normalize

from recompose.backbones.arrays import StoredArray
from recompose.backbones.clip import Backbone
from recompose.backbones.pixels import check_size
from recompose.progress import bar
from recompose.tracks.vlc.building import Tokenizer

BLOCK = 256  # images or texts in one pass through a tower
TOKENISED = 8192  # texts at a time


def image_embeddings(
    backbone: Backbone, pixels: np.ndarray | StoredArray, device: torch.device, title: str
) -> np.ndarray:
    """Return the embeddings [images, E] of pixels [images, 3, height, width] as bytes.

    Raises:
        DataError: the images' size is not the image tower's.
    """
    check_size(pixels.shape[2:], backbone.image_size)

    def encode(block: slice) -> Tensor:
        return backbone.encode_image(backbone.from_bytes(torch.from_numpy(np.array(pixels[block])).to(device)))

    return _embeddings(encode, len(pixels), backbone.width, f"{title}, images")


def text_embeddings(backbone: Backbone, texts: Sequence[str], device: torch.device, title: str) -> np.ndarray:
    """Return the embeddings [texts, E]; texts of similar length share a pass, and padding is skipped."""
    ids, order = longest_first(backbone.tokens, texts)

    def encode(block: slice) -> Tensor:
        return backbone.encode_text(ids[block].long().to(device))

    ordered = _embeddings(encode, len(texts), backbone.width, f"{title}, texts")
    embeddings = np.empty_like(ordered)
    embeddings[order.numpy()] = ordered
    return embeddings


def longest_first(tokenizer: Tokenizer, texts: Sequence[str]) -> tuple[Tensor, Tensor]:
    """Tokenise texts, and sort them by length, the longest first.

    A causal tower computes a pass up to its longest text, and a pass that does not fit into memory fails first.

    Args:
        tokenizer: of texts, to ids padded with zeros.
        texts: at least one.

    Returns:
        Token ids [texts, context] in 32 bits, equally long ones in the order of the texts; and the place [texts] of
        each in ``texts``.

    Example:
        >>> numbers = {"a": [5, 9, 0], "b c": [5, 6, 9], "d": [7, 9, 0]}
        >>> ids, order = longest_first(lambda texts: torch.tensor([numbers[text] for text in texts]), ["a", "b c", "d"])
        >>> ids.tolist(), order.tolist()
        ([[5, 6, 9], [5, 9, 0], [7, 9, 0]], [1, 0, 2])
    """
    parts = [tokenizer(list(texts[start : start + TOKENISED])).cpu().int() for start in range(0, len(texts), TOKENISED)]
    ids = torch.cat(parts)
    order = (ids != 0).sum(dim=1).argsort(descending=True, stable=True)
    return ids[order], order


def normalized(embeddings: Tensor) -> np.ndarray:
    """Return embeddings [rows, E] in 32 bits, each of length 1."""
    return normalize(embeddings.float(), dim=-1).cpu().numpy()


@torch.no_grad()
def _embeddings(encode: Callable[[slice], Tensor], count: int, width: int, title: str) -> np.ndarray:
    embeddings = np.empty((count, width), dtype=np.float32)
    for start in bar(range(0, count, BLOCK), title, "block"):
        block = slice(start, min(start + BLOCK, count))
        embeddings[block] = normalized(encode(block))
    return embeddings
