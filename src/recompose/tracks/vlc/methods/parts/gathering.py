"""What the processes of a training have of captions that have negatives.

FSC-CLIP's code at 604015d gathers for the contrast of images with captions only, without the gradients of what others
have, so that on n devices, which train by the mean of their gradients, this loss counts 1 / n of what it does on one.
Here the number of devices changes nothing.
"""

from torch import Tensor

from recompose.nn.gathering import gather_batch
from recompose.tracks.vlc.methods.parts.caption_method import Representations


def gathered_with_negatives(mine: Representations, valid: Tensor) -> tuple[Representations, Tensor]:
    """What all processes have of images, captions and negatives, and which of these there are; processes may have a
    different number of negatives.
    """
    images, texts, whole = gather_batch(mine.images), gather_batch(mine.texts), gather_batch(valid)
    if whole is valid:
        return mine, valid
    filled = mine.negatives.new_zeros(*valid.shape, mine.images.shape[1])
    filled = filled.masked_scatter(valid[..., None], mine.negatives)
    return Representations(images, texts, gather_batch(filled)[whole]), whole
