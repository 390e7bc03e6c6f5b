"""What lives at a time is counted."""

import torch
from torch import nn

from benchmarks.memory import Living, fused, without_contents
from recompose.backbones import attention


def test_bytes_are_counted_for_as_long_as_tensors_live() -> None:
    living = Living()
    with living:
        first = torch.zeros(1000, device="meta")  # 4,000 bytes
        view = first.view(10, 100).T
        doubled = view * 2
        assert living.now == 8000
        del doubled
        assert (living.now, living.peak) == (4000, 8000)
        del first
        assert living.now == 4000  # the view still needs it
        del view
    assert (living.now, living.peak) == (0, 8000)


def test_a_step_counts_what_the_backward_pass_needs() -> None:
    """A map of 100 rows from 50 to 20: of the forward pass stays what comes out, of the backward pass gradients."""
    layer, rows = nn.Linear(50, 20, bias=False, device="meta"), torch.empty(100, 50, device="meta", requires_grad=True)
    living = Living()
    for given in (layer.weight, rows):
        living.add(given)
    held = 4 * (20 * 50 + 100 * 50)
    with living:
        made = layer(rows).relu()
        assert living.now == held + 4 * 100 * 20
        made.sum().backward()
        del made
    assert living.now == 2 * held


def test_attention_without_contents_is_torch_s() -> None:
    queries, keys, values = (torch.randn(2, 3, 5, 8) for _ in range(3))
    mask = torch.full((5, 5), float("-inf")).triu(1)
    expected = attention.scaled_dot_product_attention(queries, keys, values, attn_mask=mask)
    torch.testing.assert_close(fused(queries, keys, values, mask), expected)
    before = torch.autocast
    with without_contents():
        assert attention.scaled_dot_product_attention is fused
    assert attention.scaled_dot_product_attention is not fused
    assert torch.autocast is before
