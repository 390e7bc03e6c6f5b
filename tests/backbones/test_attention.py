"""Self-attention of the towers against the module that it replaces."""

import pytest
import torch
from torch import nn

from recompose.backbones.attention import SelfAttention
from tests.precision import assert_close

pytestmark = pytest.mark.usefixtures("in_64_bits")

WIDTH, HEADS, LENGTH = 12, 3, 5


@pytest.fixture
def replaced() -> nn.MultiheadAttention:
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True)
    nn.init.normal_(attention.in_proj_bias)
    nn.init.normal_(attention.out_proj.bias)
    return attention


@pytest.mark.parametrize("causal", [False, True])
def test_outputs_and_gradients_are_those_of_the_replaced_module(replaced: nn.MultiheadAttention, causal: bool) -> None:
    x = torch.randn(4, LENGTH, WIDTH, requires_grad=True)
    mask = torch.full((LENGTH, LENGTH), -torch.inf).triu(1) if causal else None
    expected, _ = replaced(x, x, x, need_weights=False, attn_mask=mask)
    found, _ = SelfAttention(replaced)(x, x, x, need_weights=False, attn_mask=mask)
    assert_close(found, expected)
    parameters = [x, *replaced.parameters()]
    ours, theirs = (torch.autograd.grad(output.square().sum(), parameters) for output in (found, expected))
    assert_close(ours, theirs)
