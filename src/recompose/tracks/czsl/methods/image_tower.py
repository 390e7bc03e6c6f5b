"""The tuned parts of a frozen image tower: adapters (AdaptFormer, Chen et al., 2022) or low-rank changes (LoRA, Hu et
al., 2022).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from math import sqrt
from typing import Any

from torch import Tensor, nn

from recompose.backbones.clip import Backbone
from recompose.backbones.low_rank import BlockLoRA
from recompose.errors import ArgumentError
from recompose.tracks.czsl.methods.settings import ImageTower

SCALE = 0.1


class Adapter(nn.Module):
    """A bottleneck beside a sub-layer: down, ReLU, dropout, up, scaled.

    Its output is zero at first, so that training begins at the frozen tower.
    """

    def __init__(self, width: int, bottleneck: int, dropout: float) -> None:
        super().__init__()
        self.down, self.up = nn.Linear(width, bottleneck), nn.Linear(bottleneck, width)
        self.dropout = nn.Dropout(dropout)
        nn.init.kaiming_uniform_(self.down.weight, a=sqrt(5))
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, x: Tensor) -> Tensor:
        """Return the addition [..., width] to a sub-layer's output, from its residual branch's input [..., width]."""
        return SCALE * self.up(self.dropout(self.down(x).relu()))


class BlockAdapters(nn.Module):
    """An adapter beside the attention and one beside the feed-forward network of every block, as in Troika at 1f3c546.

    They are attached to a tower only during its computation, so that methods can share a frozen tower.
    """

    def __init__(self, blocks: nn.ModuleList, width: int, *, bottleneck: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.ModuleList(Adapter(width, bottleneck, dropout) for _ in blocks)
        self.feed_forward = nn.ModuleList(Adapter(width, bottleneck, dropout) for _ in blocks)

    @contextmanager
    def attach(self, blocks: nn.ModuleList) -> Iterator[None]:
        """Let the blocks compute with their adapters within this context."""
        with ExitStack() as stack:
            block: Any
            for block, attention, feed_forward in zip(blocks, self.attention, self.feed_forward, strict=True):
                _register(stack, attention, block.ln_1, block.ls_1)
                _register(stack, feed_forward, block.ln_2, block.ls_2)
            yield


def _register(stack: ExitStack, adapter: nn.Module, first: Any, last: Any) -> None:
    """Add an adapter of the first module's input to the last module's output; the two modules enclose a sub-layer."""
    additions: list[Tensor] = []
    before = first.register_forward_pre_hook(lambda _, inputs: additions.append(adapter(inputs[0])))
    after = last.register_forward_hook(lambda _, __, output: output + additions.pop())
    stack.callback(before.remove)
    stack.callback(after.remove)


class Untouched(nn.Module):
    """A frozen tower without learned parts."""

    def attach(self, blocks: nn.ModuleList) -> AbstractContextManager[None]:
        """Return a context that changes nothing."""
        return nullcontext()


def image_tuning(
    kind: ImageTower, backbone: Backbone, *, bottleneck: int, dropout: float
) -> BlockAdapters | BlockLoRA | Untouched:
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
