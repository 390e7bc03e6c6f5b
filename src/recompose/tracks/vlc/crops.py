"""Random crops of images for fine-tuning.

FSC-CLIP's code at 604015d crops nine tenths or more of an image's area on disk, at an aspect ratio between 3 / 4 and
4 / 3, and resizes the crop to the tower's square (torchvision's RandomResizedCrop, bicubic). Here the crop is taken
from the square, which is made once, so that the parts outside the centre crop are never used.
"""

from math import log

import torch
from torch import Tensor

AREA = (0.9, 1.0)  # of a crop, as a share of the image
RATIO = (3 / 4, 4 / 3)  # of its width to its height
ATTEMPTS = 10  # at a crop that fits; the whole image after that
CUBIC = -0.5  # the coefficient of the released kernel, Pillow's


@torch.no_grad()
def random_crops(images: Tensor) -> Tensor:
    """Crop each of the images [images, 3, size, size], bytes, at random, and resize it back; values are 0 to 255.

    Never in 16 bits, in which positions of pixels would be off by up to half a pixel.
    """
    y, x, height, width = random_boxes(len(images), images.shape[-1], images.device)
    with torch.autocast(images.device.type, enabled=False):
        rows, columns = (_resampling(*part, images.shape[-1]) for part in ((y, height), (x, width)))
        resized = rows[:, None] @ images.to(rows.dtype) @ columns[:, None].transpose(-1, -2)
    return resized.clamp_(0, 255)


def random_boxes(count: int, size: int, device: torch.device) -> Tensor:
    """Draw top, left, height and width of crops of squares, [4, count] integers, as torchvision does."""
    area = size * size * torch.empty(ATTEMPTS, count, device=device).uniform_(*AREA)
    ratio = torch.empty(ATTEMPTS, count, device=device).uniform_(log(RATIO[0]), log(RATIO[1])).exp()
    sides = torch.stack([(area / ratio).sqrt(), (area * ratio).sqrt()]).round().long()
    fits = ((sides > 0) & (sides <= size)).all(dim=0)
    first = fits.int().argmax(dim=0)  # 0 where none fits
    chosen = sides[:, first, torch.arange(count, device=device)].masked_fill(~fits.any(dim=0), size)
    free = size - chosen + 1
    corners = (torch.rand(2, count, device=device) * free).long().minimum(free - 1)
    return torch.cat([corners, chosen])


def _resampling(start: Tensor, length: Tensor, size: int) -> Tensor:
    """Return the weights [count, size, size] of an image's rows in each row of its crop, resized to ``size`` rows."""
    places = torch.arange(size, device=start.device) + 0.5
    start, length = start[:, None, None], length[:, None, None]
    distances = (places - (start + places[:, None] * length / size)).abs()
    near = ((CUBIC + 2) * distances - (CUBIC + 3)) * distances**2 + 1
    far = CUBIC * (((distances - 5) * distances + 8) * distances - 4)
    weights = torch.where(distances < 1, near, torch.where(distances < 2, far, 0))
    weights = weights * ((places > start) & (places < start + length))
    return weights / weights.sum(dim=2, keepdim=True)
