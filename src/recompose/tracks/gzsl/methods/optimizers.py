"""Optimizers, by their names in a method's section of training."""

from collections.abc import Iterable

import torch
from torch import nn

from recompose.tracks.gzsl.methods.settings import ClassTrainingSettings


def optimizer_of(parameters: Iterable[nn.Parameter], settings: ClassTrainingSettings) -> torch.optim.Optimizer:
    """Return the optimizer of these parameters, at a constant rate; momentum is ignored for Adam."""
    lr, weight_decay = settings.lr, settings.weight_decay
    if settings.optimizer == "adam":
        return torch.optim.Adam(parameters, lr=lr, weight_decay=weight_decay, fused=True)
    kind = torch.optim.RMSprop if settings.optimizer == "rmsprop" else torch.optim.SGD
    return kind(parameters, lr=lr, weight_decay=weight_decay, momentum=settings.momentum)
