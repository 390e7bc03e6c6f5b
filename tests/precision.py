"""Comparisons that no processor's rounding decides: computed in 64 bits, and to nine digits."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor

DIGITS = 1e-9  # what tests in 64 bits allow, seven digits more than rounding needs
ROUNDING = 2**-24  # the relative rounding of a number to 32 bits
WIDEN = {torch.float32: Tensor.float, torch.float64: Tensor.double}


def cosine_error(width: int) -> float:
    """Return what a cosine of two vectors of this width can be off in 32 bits on any processor, by the bound on the
    error of a scalar product, with the rounding of its two vectors and its own.
    """
    return (width + 3) * ROUNDING


@contextmanager
def default_dtype(dtype: torch.dtype) -> Iterator[None]:
    """Make tensors and modules of this type, and widen to it where code says ``.float()``, which widens 16 bits."""
    before = torch.get_default_dtype()
    try:
        torch.set_default_dtype(dtype)
        Tensor.float = WIDEN[dtype]  # type: ignore[method-assign]
        yield
    finally:
        torch.set_default_dtype(before)
        Tensor.float = WIDEN[before]  # type: ignore[method-assign]


def assert_close(actual: Any, expected: Any, **options: Any) -> None:
    """Assert that tensors, or sequences of them, are equal to nine digits, and were computed in 64 bits."""
    torch.testing.assert_close(actual, expected, rtol=DIGITS, atol=DIGITS, **options)
    for tensor in [actual] if isinstance(actual, Tensor) else actual:
        assert tensor.dtype == torch.float64 or not tensor.is_floating_point()
