"""Augmentation of images in training, drawn for each image on the device that trains."""

import torch
from torch import Tensor, nn


class Augmentation(nn.Module):
    """Flips half of the images, puts half of them in perspective, turns each by up to 5 degrees (as CSP at 660fcff and
    its heirs do).

    Perspective interpolates bilinearly and rotation takes the nearest pixel, torchvision's defaults that the released
    code keeps. It works on images as towers see them; the released code does so before a last rounding to bytes, too.

    Always in 32 bits: positions of pixels in 16 would be off by up to half a pixel.
    """

    def __init__(self) -> None:
        super().__init__()
        from kornia.augmentation import RandomHorizontalFlip, RandomPerspective, RandomRotation

        self.steps = nn.Sequential(
            RandomHorizontalFlip(p=0.5), RandomPerspective(0.5, p=0.5), RandomRotation(5.0, resample="nearest", p=1.0)
        )

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """Images [images, 3, height, width] as numbers from 0 to 255, of images as bytes; what comes in at the edges
        is 0.
        """
        with torch.autocast(images.device.type, enabled=False):
            return self.steps(images.float())
