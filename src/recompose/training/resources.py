"""The resources that a method needs: parameters, memory, seconds.

Torch is imported only to ask a GPU for its memory.
"""

import ctypes
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recompose.files import write_json

if TYPE_CHECKING:
    import torch
    from torch import nn

CLEAR_REFS, STATUS = Path("/proc/self/clear_refs"), Path("/proc/self/status")


def trainable(module: "nn.Module") -> int:
    """Return the number of trainable parameters."""
    return sum(parameter.numel() for parameter in module.parameters() if parameter.requires_grad)


class EvaluationCosts:
    """The costs of evaluations that share one pass over the images (mostly there is one), from before scoring to after
    it.

    Seconds are those that each evaluation would take alone: the shared work and its own work.

    Args:
        trainable_parameters: of the method.
        device: where it computes; None for a method that needs no torch.
        evaluations: their number.
    """

    def __init__(self, trainable_parameters: int, device: "torch.device | None", evaluations: int = 1) -> None:
        self._parameters, self._peak = trainable_parameters, Peak(device)
        self._waits_for = device if evaluations > 1 and device is not None and device.type == "cuda" else None
        self._pass_seconds, self._separate_seconds = 0.0, 0.0
        self._own_seconds = [0.0] * evaluations

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Time the work in this context as scoring."""
        began = time.perf_counter()
        yield
        self._pass_seconds = time.perf_counter() - began

    @contextmanager
    def time_separately(self, *positions: int) -> Iterator[None]:
        """Time the work in this context, within scoring, as that of the evaluations at these positions alone."""
        began = self._now()
        yield
        seconds = self._now() - began
        self._separate_seconds += seconds
        for position in positions:
            self._own_seconds[position] += seconds

    def _now(self) -> float:
        """Return the time after a GPU has finished its work."""
        if self._waits_for is not None:
            import torch

            torch.cuda.synchronize(self._waits_for)
        return time.perf_counter()

    def write(self, path: Path, position: int = 0) -> None:
        """Write parameters, seconds of scoring, and peak memory in bytes. Where several evaluations share the pass,
        also write their number and the pass's seconds; the peak is the pass's.
        """
        costs: dict[str, float | None] = {
            "trainable_parameters": self._parameters,
            "test_seconds": self._pass_seconds - self._separate_seconds + self._own_seconds[position],
            "peak_memory_bytes": self._peak.bytes,
        }
        if len(self._own_seconds) > 1:
            costs |= {"pass_evaluations": len(self._own_seconds), "pass_seconds": self._pass_seconds}
        write_json(path, costs)


class Peak:
    """The peak memory since this object was created: of tensors on a GPU, else of this process above its memory at the
    start.

    Unknown on a CPU without Linux, and in a container that does not let a process ask for it.
    """

    def __init__(self, device: "torch.device | None") -> None:
        self._before: int | None = None
        self._cuda = device if device is not None and device.type == "cuda" else None
        if self._cuda is not None:
            import torch

            torch.cuda.reset_peak_memory_stats(self._cuda)
        elif CLEAR_REFS.exists():
            _give_back()
            with suppress(OSError):  # as in a container with a /proc that is only read
                CLEAR_REFS.write_text("5")  # Linux resets the peak
                self._before = _status("VmRSS")

    @property
    def bytes(self) -> int | None:
        """The peak in bytes; None if unknown."""
        if self._cuda is not None:
            import torch

            return int(torch.cuda.max_memory_allocated(self._cuda))
        highest = None if self._before is None else _status("VmHWM")
        return None if self._before is None or highest is None else highest - self._before


def _status(name: str) -> int | None:
    """Return an amount of memory in bytes that Linux reports for this process; None if it reports none."""
    try:
        lines = dict(line.split(":", 1) for line in STATUS.read_text().splitlines())
        return int(lines[name].split()[0]) * 1024
    except (OSError, KeyError):
        return None


def _give_back() -> None:
    """Return freed memory to the system, where the C library can; otherwise the memory of earlier runs hides that of
    this one.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim:
        trim(0)
