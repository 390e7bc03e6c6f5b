"""Computing in blocks of rows tells and teaches what computing all of them at once does."""

import pytest
import torch
from torch import Tensor
from torch.nn.functional import dropout

from recompose.tracks.czsl.methods.base import apply_blockwise

ROWS = 5
SIZES = [1, 2, 5]


class Noted:
    """A function of rows and of a weight that is learned, and the numbers of rows that it was called with."""

    def __init__(self) -> None:
        self.weight = torch.randn(3, 4, generator=torch.Generator().manual_seed(1)).requires_grad_()
        self.sizes: list[int] = []

    def __call__(self, x: Tensor, y: Tensor) -> Tensor:
        self.sizes.append(len(x))
        return (x @ self.weight).tanh() * y[:, None]


def random_rows() -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(2)
    return (
        torch.randn(ROWS, 3, generator=generator).requires_grad_(),
        torch.randn(ROWS, generator=generator).requires_grad_(),
    )


def sizes_of(size: int) -> list[int]:
    """How many rows each block has."""
    return [min(size, ROWS - start) for start in range(0, ROWS, size)]


@pytest.mark.parametrize("size", SIZES)
def test_what_lies_between_is_computed_again_only_for_gradients_of_several_blocks(size: int) -> None:
    function, rows = Noted(), random_rows()
    actual = apply_blockwise(function, *rows, size=size)
    assert function.sizes == sizes_of(size)
    actual.sum().backward()
    again = function.sizes[len(sizes_of(size)) :]
    assert sorted(again) == sorted(sizes_of(size) if size < ROWS else [])


def test_what_is_computed_again_draws_the_same() -> None:
    x = torch.rand(ROWS, 20, generator=torch.Generator().manual_seed(4)).add(1).requires_grad_()
    torch.manual_seed(5)
    actual = apply_blockwise(lambda rows: dropout(rows, 0.5) ** 2, x, size=2)
    torch.manual_seed(6)
    actual.sum().backward()
    # of what was kept, which is doubled, the square's slope is 8 x
    expected = torch.where(actual > 0, 8 * x, torch.zeros(()))
    assert x.grad is not None
    torch.testing.assert_close(x.grad, expected.detach())
    assert 0.3 < float((actual > 0).float().mean()) < 0.7
