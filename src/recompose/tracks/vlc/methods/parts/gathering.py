"""Gathering of representations with negatives from all processes of a training.

FSC-CLIP's code at 604015d gathers only for the contrast of images with captions, without the gradients of other
processes' representations. On n devices, which train with the mean of their gradients, this loss then weighs 1 / n of
its weight on one device. Here the number of devices does not matter.
"""

from torch import Tensor

from recompose.tracks.vlc.methods.parts.caption_method import Representations
from recompose.training.gathering import gather_batch


def gather_with_negatives(mine: Representations, valid: Tensor) -> tuple[Representations, Tensor]:
    """Gather images, captions, negatives and ``valid`` from all processes, whose numbers of negatives may differ."""
    images, texts, whole = gather_batch(mine.images), gather_batch(mine.texts), gather_batch(valid)
    if whole is valid:
        return mine, valid
    filled = mine.negatives.new_zeros(*valid.shape, mine.images.shape[1])
    filled = filled.masked_scatter(valid[..., None], mine.negatives)
    return Representations(images, texts, gather_batch(filled)[whole]), whole
