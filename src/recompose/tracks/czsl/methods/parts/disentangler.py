"""Disentanglers: what of an image's embedding tells its state, and what its object."""

from torch import nn


class Disentangler(nn.Sequential):
    """Layers of a linear map, batch normalisation, ReLU and dropout; width in, width out.

    One layer in Troika at 1f3c546 and MSCI at 04cea14, two in Duplex's text.
    """

    def __init__(self, width: int, layers: int, dropout: float) -> None:
        steps = (
            (nn.Linear(width, width), nn.BatchNorm1d(width), nn.ReLU(), nn.Dropout(dropout)) for _ in range(layers)
        )
        super().__init__(*(step for layer in steps for step in layer))
