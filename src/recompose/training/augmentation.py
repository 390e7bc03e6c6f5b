"""Augmentation of images in training: each image gets random numbers of its own, on the device that trains."""

import torch
from torch import Tensor, nn


class Augmentation(nn.Module):
    """Random flips of half of the images, perspective on half of them, and a rotation of each by up to 5 degrees (as
    CSP at 660fcff and its successors do).

    Perspective interpolates bilinearly and rotation takes the nearest pixel; these are torchvision's defaults, which
    the released code uses. The input is images at the tower's size; the released code augments before a last rounding
    to bytes, too.

    Always in 32 bits: positions of pixels in 16 bits would be off by up to half a pixel.
    """

    def __init__(self) -> None:
        super().__init__()
        from kornia.augmentation import RandomHorizontalFlip, RandomPerspective, RandomRotation

        self.steps = nn.Sequential(
            RandomHorizontalFlip(p=0.5), RandomPerspective(0.5, p=0.5), RandomRotation(5.0, resample="nearest", p=1.0)
        )

    @torch.no_grad()
    def forward(self, images: Tensor) -> Tensor:
        """Return images [images, 3, height, width] as numbers from 0 to 255, from images as bytes; pixels from beyond
        the edges are 0.
        """
        with torch.autocast(images.device.type, enabled=False):
            return self.steps(images.float())
