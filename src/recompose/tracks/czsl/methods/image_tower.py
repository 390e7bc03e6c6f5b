"""The tuned parts of a frozen image tower: adapters (AdaptFormer, Chen et al., 2022) or low-rank changes (LoRA, Hu et
al., 2022).
"""

from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from math import sqrt
from typing import Any, Protocol

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from recompose.backbones.clip import Backbone
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


class LowRank(nn.Module):
    """Products of rank r, added to the query and value parts of a joint projection to queries, keys and values.

    They are zero at first.
    """

    def __init__(self, width: int, rank: int) -> None:
        super().__init__()
        self.down = nn.ParameterList(nn.init.kaiming_uniform_(torch.empty(rank, width), a=sqrt(5)) for _ in range(2))
        self.up = nn.ParameterList(torch.zeros(width, rank) for _ in range(2))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight [3 * width, width] with the learned products added."""
        query, value = (up @ down for up, down in zip(self.up, self.down, strict=True))
        return weight + torch.cat([query, torch.zeros_like(query), value])


class BlockLoRA(nn.Module):
    """Low-rank changes of the attention of every block, attached to a tower only during its computation."""

    def __init__(self, blocks: nn.ModuleList, width: int, *, rank: int) -> None:
        super().__init__()
        self.attention = nn.ModuleList(LowRank(width, rank) for _ in blocks)

    @contextmanager
    def attach(self, blocks: nn.ModuleList) -> Iterator[None]:
        """Let the blocks compute with their changes within this context."""
        with ExitStack() as stack:
            for block, low_rank in zip(blocks, self.attention, strict=True):
                attention = block.get_submodule("attn")
                parametrize.register_parametrization(attention, "in_proj_weight", low_rank, unsafe=True)
                stack.callback(
                    parametrize.remove_parametrizations, attention, "in_proj_weight", leave_parametrized=False
                )
            yield


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
