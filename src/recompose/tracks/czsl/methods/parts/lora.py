"""Low-rank adaptation of a frozen image tower (LoRA, Hu et al., 2022)."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize


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
