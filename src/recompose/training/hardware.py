"""The device and the precision of computations. Torch is imported only by the properties that need it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    import torch


@dataclass(frozen=True)
class Hardware:
    """The device and the precision that Lightning trains with."""

    precision: str
    accelerator: str
    devices: str | int

    @classmethod
    def of(cls, trainer: Mapping[str, Any]) -> Self:
        """Return the hardware by a recipe's settings of it; by default one processor, and 32 bits."""
        precision, devices = trainer.get("precision", "32-true"), trainer.get("devices", 1)
        return cls(precision, trainer.get("accelerator", "cpu"), devices)

    @property
    def strategy(self) -> str:
        """The strategy of Lightning: on several devices each process has the whole model and a part of each batch, and
        a parameter may have no share in a loss.
        """
        return "auto" if self._count == 1 else "ddp_find_unused_parameters_true"

    @property
    def _count(self) -> int:
        """The number of devices that Lightning uses."""
        if self.devices != "auto":
            return int(self.devices)
        import torch

        return max(torch.cuda.device_count(), 1) if self.accelerator != "cpu" else 1

    @property
    def device(self) -> "torch.device":
        """The device of a single process outside training."""
        import torch

        return torch.device("cpu" if self.accelerator == "cpu" or not torch.cuda.is_available() else "cuda")
