"""The relative positions of the regions of a square grid (TransZero at 7c10cdb)."""

import math

import torch
from torch import Tensor

from recompose.errors import ArgumentError

WIDTH = 64
WAVE_LENGTH = 1000
NEAREST = 1e-3  # minimal distance, whose logarithm is taken


def side_of(regions: int) -> int:
    """Return the number of regions along a side of a square grid.

    Raises:
        ArgumentError: the number of regions is not a square.
    """
    side = math.isqrt(regions)
    if side * side != regions:
        raise ArgumentError("regions", f"are {regions}, not a square grid; geometry needs one, or set geometry: false")
    return side


def relations(side: int) -> Tensor:
    """Return sines, then cosines, of the relative positions of all regions [regions, regions, 64], in 64 bits.

    They are of four quantities at eight frequencies each: the logarithms of the distances along rows and along columns,
    in units of the grid and divided by a region's size plus one, as released; and of the ratios of heights and of
    widths, which are zero, as all regions have one size.
    """
    centres = (torch.arange(side, dtype=torch.float64) + 0.5) / side
    row, column = centres.repeat_interleave(side), centres.repeat(side)
    size = 1 / side + 1
    logs = [((at[:, None] - at).abs() / size).clamp(min=NEAREST).log() for at in (row, column)]
    frequencies = WAVE_LENGTH ** -(torch.arange(WIDTH // 8, dtype=torch.float64) / (WIDTH // 8))
    zero = torch.zeros_like(logs[0])
    angles = (100 * torch.stack([*logs, zero, zero], dim=-1)[..., None] * frequencies).flatten(2)
    return torch.cat([angles.sin(), angles.cos()], dim=-1)
