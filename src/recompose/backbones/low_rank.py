"""Low-rank adaptation of a CLIP (LoRA, Hu et al., 2022), as two released codes apply it.

FSC-CLIP's code at 604015d changes a whole CLIP for good, by ``attach``: both towers' convolutions, linear layers and
joint projections to queries, keys and values compute with W + alpha / rank * B A, and A and B are all that trains:
projections into the joint space, embeddings, norms, biases and the factor of cosines stay as they are. B begins as
zero, but that of a joint projection is drawn, so that a model with new changes is not quite the model before.

MSCI's and Troika's code change the attention of a tower only while it computes, by ``BlockLoRA``, so that methods can
share a frozen tower.
"""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from math import sqrt

import torch
from torch import Tensor, nn
from torch.nn.utils import parametrize

from recompose.errors import ArgumentError

JOINT_PROJECTION = "in_proj_weight"


class LowRankChange(nn.Module):
    """What is added to a weight: alpha / rank * B A.

    Args:
        shape: of the weight: [out, in], or [out, in, k, k] of a convolution, where A is [rank * k, in * k] and B
            [out * k, rank * k], and their product is read row by row as the weight is.
        rank: of the change, times k of a convolution's.
        alpha: the change counts alpha / rank.
        drawn: whether B is drawn, too (both by Xavier); otherwise A is drawn as a linear layer's weight is, and B is 0.

    Raises:
        ArgumentError: a convolution's kernel is not square.

    Example:
        >>> change = LowRankChange((6, 5), 2, 1.0, drawn=False)
        >>> change.A.shape, change.B.shape, change(torch.ones(6, 5)).unique()
        (torch.Size([2, 5]), torch.Size([6, 2]), tensor([1.], grad_fn=<Unique2Backward0>))
    """

    def __init__(self, shape: tuple[int, ...], rank: int, alpha: float, *, drawn: bool) -> None:
        super().__init__()
        out, into, *kernel = shape
        if len(set(kernel)) > 1:
            fault = f"is of a kernel of {' x '.join(map(str, kernel))}; changes of low rank are for square ones"
            raise ArgumentError("shape", fault)
        k = kernel[0] if kernel else 1
        self.scaling = alpha / rank
        self.A = nn.Parameter(torch.empty(rank * k, into * k))
        self.B = nn.Parameter(torch.zeros(out * k, rank * k))
        if drawn:
            nn.init.xavier_uniform_(self.A)
            nn.init.xavier_uniform_(self.B)
        else:
            nn.init.kaiming_uniform_(self.A, a=sqrt(5))

    def forward(self, weight: Tensor) -> Tensor:
        """Return the weight with its change."""
        return weight + self.scaling * (self.B @ self.A).view(weight.shape)


def attach(model: nn.Module, rank: int, alpha: float = 1.0) -> None:
    """Freeze a CLIP, and let its weights be changed at low rank; the changes train, and go with its state."""
    model.requires_grad_(False)
    for layer, name in list(_changed(model)):
        weight = getattr(layer, name)
        change = LowRankChange(tuple(weight.shape), rank, alpha, drawn=name == JOINT_PROJECTION).to(weight)
        parametrize.register_parametrization(layer, name, change, unsafe=True)


@torch.no_grad()
def merge(model: nn.Module) -> None:
    """Make changes a part of the weights that they change, under whose names these stand again."""
    for layer in list(model.modules()):
        if parametrize.is_parametrized(layer):
            for name in list(layer.parametrizations):  # type: ignore[arg-type]
                parametrize.remove_parametrizations(layer, name, leave_parametrized=True)


def _changed(model: nn.Module) -> Iterator[tuple[nn.Module, str]]:
    """Yield the layers whose weights are changed, and the names of these."""
    for layer in model.modules():
        if isinstance(layer, nn.Linear | nn.Conv2d):
            yield layer, "weight"
        elif isinstance(getattr(layer, JOINT_PROJECTION, None), nn.Parameter):
            yield layer, JOINT_PROJECTION


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
                parametrize.register_parametrization(attention, JOINT_PROJECTION, low_rank, unsafe=True)
                stack.callback(
                    parametrize.remove_parametrizations, attention, JOINT_PROJECTION, leave_parametrized=False
                )
            yield
