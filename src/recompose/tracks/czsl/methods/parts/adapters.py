"""Adapters: small trained side paths in the blocks of a frozen image tower (AdaptFormer, Chen et al., 2022)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import sqrt
from typing import Any

from torch import Tensor, nn

from recompose.backbones.linear import Linear

SCALE = 0.1


class Adapter(nn.Module):
    """A bottleneck beside a sub-layer: down, ReLU, dropout, up, scaled.

    It begins as zero, so that training begins at the frozen tower.
    """

    def __init__(self, width: int, bottleneck: int, dropout: float) -> None:
        super().__init__()
        self.down, self.up = Linear(width, bottleneck), Linear(bottleneck, width)
        self.dropout = nn.Dropout(dropout)
        nn.init.kaiming_uniform_(self.down.weight, a=sqrt(5))
        for zero in (self.down.bias, self.up.weight, self.up.bias):
            nn.init.zeros_(zero)

    def forward(self, x: Tensor) -> Tensor:
        """What is added [..., width] to a sub-layer's output, from the input [..., width] of the residual branch
        around it.
        """
        return SCALE * self.up(self.dropout(self.down(x).relu()))


class BlockAdapters(nn.Module):
    """An adapter beside the attention and one beside the feed-forward network of every block, as in Troika at 1f3c546.

    They are attached to a tower only while it computes, so that methods can share a frozen tower.
    """

    def __init__(self, blocks: nn.ModuleList, width: int, *, bottleneck: int, dropout: float) -> None:
        super().__init__()
        self.attention = nn.ModuleList(Adapter(width, bottleneck, dropout) for _ in blocks)
        self.feed_forward = nn.ModuleList(Adapter(width, bottleneck, dropout) for _ in blocks)

    @contextmanager
    def attached(self, blocks: nn.ModuleList) -> Iterator[None]:
        """Within this context the blocks compute with their adapters."""
        with ExitStack() as stack:
            block: Any
            for block, attention, feed_forward in zip(blocks, self.attention, self.feed_forward, strict=True):
                _beside(stack, attention, block.ln_1, block.ls_1)
                _beside(stack, feed_forward, block.ln_2, block.ls_2)
            yield


def _beside(stack: ExitStack, adapter: nn.Module, first: Any, last: Any) -> None:
    """Add an adapter of the first module's input to the last module's output: these two enclose a sub-layer."""
    added: list[Tensor] = []
    before = first.register_forward_pre_hook(lambda _, inputs: added.append(adapter(inputs[0])))
    after = last.register_forward_hook(lambda _, __, output: output + added.pop())
    stack.callback(before.remove)
    stack.callback(after.remove)
