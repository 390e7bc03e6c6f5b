"""Computing in blocks of rows, so that memory grows with a block and not with all of them."""

from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor
from torch.utils.checkpoint import checkpoint

TEXTS = 512  # that go through the tower at once
LOOKS = 8_192  # of one text at one image, at once


def in_blocks(function: Callable[..., Tensor], *rows: Tensor, size: int, dim: int = 0) -> Tensor:
    """Return a function of rows, in blocks of so many, joined along ``dim``.

    Where there are several, what lies between is computed again for the backward pass in place of being kept.
    """
    blocks = list(zip(*(each.split(size) for each in rows), strict=True))
    if len(blocks) > 1 and torch.is_grad_enabled():
        function = partial(checkpoint, function, use_reentrant=False)
    return torch.cat([function(*block) for block in blocks], dim=dim)
