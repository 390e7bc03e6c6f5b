"""Computations in blocks of rows, so that memory grows with a block and not with all rows."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

TEXTS = 512  # in one pass through the tower
TEXT_IMAGE_PAIRS = 8_192  # of one text and one image, in one pass


def apply_blockwise(function: Callable[..., Tensor], *rows: Tensor, size: int, dim: int = 0) -> Tensor:
    """Return a function of rows, computed in blocks of ``size`` rows and joined along ``dim``.

    With several blocks, intermediate values are computed again in the backward pass instead of being stored.
    """
    blocks = list(zip(*(array.split(size) for array in rows), strict=True))
    if len(blocks) > 1 and torch.is_grad_enabled():
        function = partial(checkpoint, function, use_reentrant=False)
    return torch.cat([function(*block) for block in blocks], dim=dim)
