"""What the processes of a training have between them: each represents its part of a batch.

FSC-CLIP's code at 604015d gathers for the contrast of images with captions only, without the gradients of what others
have, so that on n devices this loss counts 1 / n of what it does on one. Here gradients go through, so that the number
of devices changes nothing.
"""

import torch
from torch import Tensor, distributed
from torch.distributed.nn.functional import all_gather

from recompose.tracks.vlc.methods.parts.caption_method import Representations


def gathered(mine: Tensor) -> Tensor:
    """What all processes have [processes * n, ...] of what this one has [n, ...], by rank, with gradients."""
    if not distributed.is_available() or not distributed.is_initialized() or distributed.get_world_size() == 1:
        return mine
    return torch.cat(all_gather(mine))


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
