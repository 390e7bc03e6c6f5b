"""What the processes of a training have between them: each represents its part of a batch.

FSC-CLIP's code at 604015d gathers for the contrast of images with captions only, without the gradients of what others
have, so that on n devices, which train by the mean of their gradients, this loss counts 1 / n of what it does on one.
Here the number of devices changes nothing.
"""

from typing import Any

import torch
from torch import Tensor, distributed

from recompose.tracks.vlc.methods.parts.caption_method import Representations


def gathered(mine: Tensor) -> Tensor:
    """What all processes have [processes * n, ...] of what this one has [n, ...], by rank.

    Made for losses that all processes compute alike, of the whole batch: the gradient of such a loss to what this
    process has counts as often as there are processes, whose mean is taken.
    """
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return mine
    whole: Tensor = _Gathering.apply(mine)
    return whole


def gathered_with_negatives(mine: Representations, valid: Tensor) -> tuple[Representations, Tensor]:
    """The same of images, captions and negatives, and which of these there are; processes may have a different number
    of negatives.
    """
    images, texts, whole = gathered(mine.images), gathered(mine.texts), gathered(valid)
    if whole is valid:
        return mine, valid
    filled = mine.negatives.new_zeros(*valid.shape, mine.images.shape[1])
    filled = filled.masked_scatter(valid[..., None], mine.negatives)
    return Representations(images, texts, gathered(filled)[whole]), whole


class _Gathering(torch.autograd.Function):
    """What all processes have, with the gradient to what this one has."""

    @staticmethod
    def forward(ctx: Any, mine: Tensor) -> Tensor:
        parts = [torch.empty_like(mine) for _ in range(distributed.get_world_size())]
        distributed.all_gather(parts, mine.contiguous())
        return torch.cat(parts)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> Tensor:
        world = distributed.get_world_size()
        return gradients[0].chunk(world)[distributed.get_rank()] * world
