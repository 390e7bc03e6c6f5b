"""Processes of tests that compute together, as devices do."""

import multiprocessing
from collections.abc import Callable
from typing import Any

import torch.multiprocessing

IMPORTED = ["torch", "open_clip", "pytorch_lightning", "torch.testing", "recompose.tracks.vlc.training"]


def in_two_processes(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function with a rank and these arguments in two new processes, and raise what one of them raises.

    They are forked from one that has imported what takes long, and computed nothing: autograd cannot be forked.
    """
    multiprocessing.set_forkserver_preload(IMPORTED)
    torch.multiprocessing.start_processes(function, arguments, nprocs=2, start_method="forkserver")
