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
    def device(self) -> "torch.device":
        """Where a single process computes outside training."""
        import torch

        return torch.device("cpu" if self.accelerator == "cpu" or not torch.cuda.is_available() else "cuda")
