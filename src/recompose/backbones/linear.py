"""Linear maps that a CPU computes with oneDNN where this processor gains by it.

Torch runs ``linear`` in 32 bits with MKL, which uses no more than AVX2 on processors that are not Intel's, and
convolutions with oneDNN, which uses AVX-512 where available. A linear map is a 1 x 1 convolution: rows of features are
the pixels of images with channels last. With AVX-512 that is up to twice as fast at the shapes of ``python -m
benchmarks.linear_maps``, with AVX2 up to twice as slow: ``recompose.kernels`` holds the choice for this process.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional

from recompose.kernels import takes_onednn

# images that rows are divided into: with fewer, torch uses MKL on one thread; with more, each has too few pixels
FEWEST, MOST = 16, 128


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return ``torch.nn.functional.linear`` up to rounding: [..., out] for x [..., in] and a weight [out, in]."""
    images = _images(x, weight)
    if images is None:
        return functional.linear(x, weight, bias)
    pixels = x.reshape(images, -1, 1, x.shape[-1]).permute(0, 3, 1, 2)  # [images, in, rows / images, 1]
    mapped = functional.conv2d(pixels, weight[:, :, None, None], bias)
    return mapped.permute(0, 2, 3, 1).reshape(*x.shape[:-1], len(weight))


def _images(x: Tensor, weight: Tensor) -> int | None:
    """Return the number of images that the rows of x divide into evenly; None where there is no such number, or where
    torch's own kernel is chosen.
    """
    rows = x.shape[:-1].numel()
    if not takes_onednn(rows * weight.numel()) or x.device.type != "cpu" or torch.is_autocast_enabled("cpu"):
        return None
    if not x.dtype == weight.dtype == torch.float32 or not torch.backends.mkldnn.is_available():
        return None
    return next((images for images in range(FEWEST, MOST + 1) if rows % images == 0), None)


class Linear(nn.Linear):
    """``torch.nn.Linear``, computed by ``linear`` of this module."""

    @classmethod
    def from_linear(cls, replaced: nn.Linear) -> "Linear":
        """Return a layer with the parameters of another."""
        layer = cls(replaced.in_features, replaced.out_features, bias=replaced.bias is not None, device="meta")
        layer.weight, layer.bias = replaced.weight, replaced.bias
        return layer

    def forward(self, input: Tensor) -> Tensor:  # noqa: A002 - torch's name
        """Return [..., out] for [..., in]."""
        return linear(input, self.weight, self.bias)
