"""What of the image tower is tuned."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal, Protocol

from torch import nn

from recompose.backbones.clip import Backbone
from recompose.tracks.czsl.methods.parts.adapters import BlockAdapters
from recompose.tracks.czsl.methods.parts.lora import BlockLoRA

ImageTower = Literal["adapters", "lora", "frozen"]


class Tuning(Protocol):
    """What is learned beside a frozen tower."""

    def attached(self, blocks: nn.ModuleList) -> AbstractContextManager[None]:
        """Within this context the blocks compute with it."""


class Untouched(nn.Module):
    """Nothing is learned."""

    def attached(self, blocks: nn.ModuleList) -> AbstractContextManager[None]:
        """Return the blocks compute as they are."""
        return nullcontext()


def tuned(kind: ImageTower, backbone: Backbone, *, bottleneck: int, dropout: float) -> Tuning:
    """What is tuned in the image tower: adapters in every block; LoRA, whose rank is the bottleneck; or nothing.

    Raises:
        ValueError: the tower has no transformer blocks to tune.
    """
    if kind == "frozen":
        return Untouched()
    if not backbone.depth:
        raise ValueError(f"this image tower has no transformer blocks for {kind}: set image_tower to frozen")
    blocks, width = backbone.image_blocks, backbone.image_width
    if kind == "lora":
        return BlockLoRA(blocks, width, rank=bottleneck)
    return BlockAdapters(blocks, width, bottleneck=bottleneck, dropout=dropout)
