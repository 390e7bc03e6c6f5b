"""The tuned parts of the image tower."""

from contextlib import AbstractContextManager, nullcontext
from typing import Protocol

from torch import nn

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.parts.adapters import BlockAdapters
from recompose.tracks.czsl.methods.parts.lora import BlockLoRA
from recompose.tracks.czsl.methods.parts.settings import ImageTower


class Tuning(Protocol):
    """The learned parts beside a frozen tower."""

    def attach(self, blocks: nn.ModuleList) -> AbstractContextManager[None]:
        """Let the blocks compute with the learned parts within this context."""


class Untouched(nn.Module):
    """A frozen tower without learned parts."""

    def attach(self, blocks: nn.ModuleList) -> AbstractContextManager[None]:
        """Return a context that changes nothing."""
        return nullcontext()


def image_tuning(kind: ImageTower, backbone: Backbone, *, bottleneck: int, dropout: float) -> Tuning:
    """Return the tuned parts of the image tower: adapters in every block; LoRA, whose rank is the bottleneck; or none.

    Raises:
        ArgumentError: the tower has no transformer blocks to tune.
    """
    if kind == "frozen":
        return Untouched()
    if not backbone.depth:
        raise ArgumentError(
            "image_tower", f"is {kind}, but this tower has no transformer blocks; set it to frozen", code="no-blocks"
        )
    blocks, width = backbone.image_blocks, backbone.image_width
    if kind == "lora":
        return BlockLoRA(blocks, width, rank=bottleneck)
    return BlockAdapters(blocks, width, bottleneck=bottleneck, dropout=dropout)
