"""What a method takes of a machine: parameters, memory, seconds.

Nothing here imports torch unless a GPU is asked for its memory.
"""

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.files import write_json

if TYPE_CHECKING:
    import torch
    from torch import nn

CLEAR_REFS, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def trainable(module: "nn.Module") -> int:
    """The number of trainable parameters."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


class EvaluationCosts:
    """What an evaluation costs, from before its scoring to after it.

    Args:
        trainable_parameters: of the method that is evaluated.
        device: where it computes; None for a method that needs no torch.
    """

    def __init__(self, trainable_parameters: int, device: "torch.device | None") -> None:
        self._parameters, self._peak = trainable_parameters, Peak(device)
        self._seconds = 0.0

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Count what is done in this context as scoring."""
        began = time.perf_counter()
        yield
        self._seconds = time.perf_counter() - began

    def write(self, path: Path) -> None:
        """Write parameters, seconds of scoring, and the peak of memory in bytes."""
        costs = {
            "trainable_parameters": self._parameters,
            "test_seconds": self._seconds,
            "peak_memory_bytes": self._peak.bytes,
        }
        write_json(path, costs)


class Peak:
    """The most memory taken since it was made: tensors on the GPU where there is one, else what this process took on
    top of what it held.

    Nothing is known of it on CPU but on Linux.
    """

    def __init__(self, device: "torch.device | None") -> None:
        self._cuda = device if device is not None and device.type == "cuda" else None
        if self._cuda is not None:
            import torch

            torch.cuda.reset_peak_memory_stats(self._cuda)
        elif CLEAR_REFS.exists():
            _give_back()
            CLEAR_REFS.write_text("5")  # Linux forgets the peak so far
            self._before = _status("VmRSS")

    @property
    def bytes(self) -> int | None:
        """The peak, in bytes."""
        if self._cuda is not None:
            import torch

            return int(torch.cuda.max_memory_allocated(self._cuda))
        return _status("VmHWM") - self._before if CLEAR_REFS.exists() else None


def _status(name: str) -> int:
    """A number of bytes that Linux reports of this process."""
    lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
    return int(lines[name].split()[0]) * 1024


def _give_back() -> None:
    """Return freed memory to the system, where the C library can: what earlier runs took would hide what this one
    takes.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
