"""Tensors of all processes of a training. Each process computes its part of a batch; losses that compare the samples of
a batch compare all of it, so that the number of devices changes nothing.
"""

import torch
from torch import Tensor, distributed
from torch.distributed.nn.functional import all_gather


def gather_batch(mine: Tensor) -> Tensor:
    """Return the tensors [processes * n, ...] of all processes, by rank, from this process's [n, ...].

    The gradient of this process's tensor is that of the sum of all processes' losses. Processes then take the mean of
    the gradients of parameters, as they always do.
    """
    if _processes() == 1:
        return mine
    return torch.cat(all_gather(mine))


def local_part(whole: Tensor) -> Tensor:
    """Return this process's part [n, ...] of the tensors of all processes [processes * n, ...]."""
    count = _processes()
    return whole if count == 1 else whole.chunk(count)[distributed.get_rank()]


def _processes() -> int:
    return distributed.get_world_size() if distributed.is_available() and distributed.is_initialized() else 1
