"""A convolutional stem in place of the patch embedding (Xiao et al., 2021): the same tokens, from patches that
overlap.
"""

from itertools import pairwise

from torch import nn

from recompose.errors import ArgumentError

GROUPS = 8  # group normalisation: unlike batch statistics, those of an image are the same in training and evaluation


def convolutional_stem(patch: int, width: int) -> nn.Sequential:
    """Return convolutions 3 x 3 with stride 2, whose channels double up to 3/2 of the width, and a projection to the
    width.

    Images [images, 3, H, W] become [images, width, H / patch, W / patch]. It replaces ``conv1`` of open_clip's
    towers.

    Raises:
        ValueError: the patch is no power of two, or the channels cannot be halved as often.

    Example:
        >>> convolutions = [layer for layer in convolutional_stem(8, 128) if isinstance(layer, nn.Conv2d)]
        >>> [(layer.stride[0], layer.out_channels) for layer in convolutions]
        [(2, 48), (2, 96), (2, 192), (1, 128)]
    """
    halvings, last = patch.bit_length() - 1, width * 3 // 2
    if patch != 2**halvings or last % (GROUPS << (halvings - 1)):
        raise ArgumentError("patch", f"is {patch} pixels in width {width}: both must halve evenly")
    layers: list[nn.Module] = []
    for channels, doubled in pairwise([3, *(last >> shift for shift in reversed(range(halvings)))]):
        layers += [
            nn.Conv2d(channels, doubled, kernel_size=3, stride=2, padding=1, bias=False),
            nn.GroupNorm(GROUPS, doubled),
            nn.GELU(),
        ]
    return nn.Sequential(*layers, nn.Conv2d(last, width, kernel_size=1, bias=False))
