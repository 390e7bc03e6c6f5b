"""Where and in which precision things are computed. Torch is imported only where a device is asked for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Hardware:
    """Where and in which precision Lightning trains."""

    precision: str
    accelerator: str
    devices: str | int

    @property
    def strategy(self) -> str:
        """How Lightning trains: on several devices each has the whole model and a part of each batch, and parameters
        may have no share in a loss.
        """
        return "auto" if self._count == 1 else "ddp_find_unused_parameters_true"

    @property
    def _count(self) -> int:
        """The devices that Lightning takes."""
        if self.devices != "auto":
            return int(self.devices)
        import torch

        return max(torch.cuda.device_count(), 1) if self.accelerator != "cpu" else 1

    @property
    def device(self) -> "torch.device":
        """Where a single process computes outside training."""
        import torch

        return torch.device("cpu" if self.accelerator == "cpu" or not torch.cuda.is_available() else "cuda")
