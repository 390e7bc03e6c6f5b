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
    """What evaluations cost that are carried out in one pass, from before its scoring to after it; mostly it is one.

    Seconds are those that each would take alone: of all that serves several, and of what is its own.

    Args:
        trainable_parameters: of the method that is evaluated.
        device: where it computes; None for a method that needs no torch.
        evaluations: how many there are.
    """

    def __init__(self, trainable_parameters: int, device: "torch.device | None", evaluations: int = 1) -> None:
        self._parameters, self._peak = trainable_parameters, Peak(device)
        self._waits_for = device if evaluations > 1 and device is not None and device.type == "cuda" else None
        self._pass_seconds, self._not_of_all = 0.0, 0.0
        self._own = [0.0] * evaluations

    @contextmanager
    def scoring(self) -> Iterator[None]:
        """Count what is done in this context as scoring."""
        began = time.perf_counter()
        yield
        self._pass_seconds = time.perf_counter() - began

    @contextmanager
    def own(self, *places: int) -> Iterator[None]:
        """Count what is done in this context, within scoring, for the evaluations at these places alone."""
        began = self._now()
        yield
        seconds = self._now() - began
        self._not_of_all += seconds
        for place in places:
            self._own[place] += seconds

    def _now(self) -> float:
        """The time once a GPU has done what it was given."""
        if self._waits_for is not None:
            import torch

            torch.cuda.synchronize(self._waits_for)
        return time.perf_counter()

    def write(self, path: Path, place: int = 0) -> None:
        """Write parameters, seconds of scoring, and the peak of memory in bytes; where several evaluations share the
        pass, also how many, and its own seconds. The peak is the pass's.
        """
        costs: dict[str, float | None] = {
            "trainable_parameters": self._parameters,
            "test_seconds": self._pass_seconds - self._not_of_all + self._own[place],
            "peak_memory_bytes": self._peak.bytes,
        }
        if len(self._own) > 1:
            costs |= {"pass_evaluations": len(self._own), "pass_seconds": self._pass_seconds}
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
