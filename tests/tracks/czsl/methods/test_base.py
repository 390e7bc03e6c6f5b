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


@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("size", SIZES)
def test_value_and_gradients_are_those_of_all_rows_at_once(size: int, dim: int) -> None:
    """Along the second dimension results stand side by side, as scores of images and texts do."""
    weights = torch.randn(ROWS, 4, generator=torch.Generator().manual_seed(3))
    (whole, (u, v)), (function, (x, y)) = ((Noted(), random_rows()) for _ in range(2))
    expected = whole(u, v)
    actual = apply_blockwise(lambda *rows: function(*rows) if dim == 0 else function(*rows).T, x, y, size=size, dim=dim)
    actual = actual if dim == 0 else actual.T
    torch.testing.assert_close(actual, expected)
    (expected * weights).sum().backward()
    (actual * weights).sum().backward()
    for one, other in ((function.weight, whole.weight), (x, u), (y, v)):
        torch.testing.assert_close(one.grad, other.grad)


@pytest.mark.parametrize("size", SIZES)
def test_what_lies_between_is_computed_again_only_for_gradients_of_several_blocks(size: int) -> None:
    function, rows = Noted(), random_rows()
    actual = apply_blockwise(function, *rows, size=size)
    assert function.sizes == sizes_of(size)
    actual.sum().backward()
    again = function.sizes[len(sizes_of(size)) :]
    assert sorted(again) == sorted(sizes_of(size) if size < ROWS else [])


def test_without_gradients_each_row_is_computed_once() -> None:
    size, function, rows = 2, Noted(), random_rows()
    with torch.no_grad():
        actual = apply_blockwise(function, *rows, size=size)
    assert function.sizes == sizes_of(size)
    assert not actual.requires_grad
    torch.testing.assert_close(actual, function(*rows).detach())


def test_of_several_blocks_nothing_between_is_kept() -> None:
    """What a graph keeps for the backward pass goes through a hook: of one block the results of its steps, of
    several their rows.
    """

    def stored_sizes(size: int) -> list[int]:
        sizes: list[int] = []

        def keep(tensor: Tensor) -> Tensor:
            sizes.append(tensor.numel())
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(keep, lambda tensor: tensor):
            apply_blockwise(Noted(), *random_rows(), size=size)
        return sizes

    assert ROWS * 4 in stored_sizes(ROWS)
    assert sorted(stored_sizes(2)) == sorted(count for rows in sizes_of(2) for count in (rows * 3, rows))


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


def test_no_rows_are_one_empty_block() -> None:
    function = Noted()
    actual = apply_blockwise(function, torch.zeros(0, 3), torch.zeros(0), size=2)
    assert actual.shape == (0, 4)
    assert function.sizes == [0]
