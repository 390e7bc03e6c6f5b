"""Optimizers, by their names in a method's section of training."""

from collections.abc import Iterable
from typing import Literal

import torch
from torch import nn


def optimizer_of(
    parameters: Iterable[nn.Parameter],
    *,
    optimizer: Literal["adam", "rmsprop", "sgd"],
    momentum: float,
    lr: float,
    weight_decay: float,
) -> torch.optim.Optimizer:
    """Return the optimizer of these parameters, at a constant rate; momentum is ignored for Adam."""
    if optimizer == "adam":
        return torch.optim.Adam(parameters, lr=lr, weight_decay=weight_decay, fused=True)
    kind = torch.optim.RMSprop if optimizer == "rmsprop" else torch.optim.SGD
    return kind(parameters, lr=lr, weight_decay=weight_decay, momentum=momentum)
