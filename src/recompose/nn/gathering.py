"""What the processes of a training have between them: each represents its part of a batch, and losses that compare the
samples of a batch compare all of it, so that the number of devices changes nothing.
"""

from typing import Any

import torch
from torch import Tensor, distributed


def gathered(mine: Tensor) -> Tensor:
    """What all processes have [processes * n, ...] of what this one has [n, ...], by rank.

    The gradient to what this process has is that of the sum of all processes' losses; of the gradients of parameters,
    which come of it, processes then take the mean, as of any.
    """
    if _processes() == 1:
        return mine
    whole: Tensor = _Gathering.apply(mine)
    return whole


def own_part(whole: Tensor) -> Tensor:
    """The part [n, ...] of this process, of what all have [processes * n, ...]."""
    count = _processes()
    return whole if count == 1 else whole.chunk(count)[distributed.get_rank()]


def _processes() -> int:
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1


class _Gathering(torch.autograd.Function):
    """What all processes have, with the gradient to what this one has."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> Tensor:
        parts = [torch.empty_like(mine) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, mine.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        summed = gradients[0].contiguous().clone()
        distributed.all_reduce(summed)
        return own_part(summed)
