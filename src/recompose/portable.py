"""The kernels of torch on CPU that portable arithmetic replaces by NumPy's: products of matrices, and square roots.

Products of MKL's path for all processors use no FMA: those of OpenBLAS by Haswell's kernels take 0.4 of their time. The
order of their sums depends on shapes alone, as the sizes of blocks are constants of these kernels.

Square roots of MKL begin with an estimate by RSQRTPS, of which Intel and AMD have different tables, and leave one in
five of 32 bits in its last digit apart. NumPy rounds them as IEEE 754 says. Optimizers take square roots, unless their
steps are fused.
"""

from functools import cache

import numpy as np
import torch
from torch import Tensor

HALVES = (torch.float16, torch.bfloat16)  # computed in 32 bits, and rounded once


@cache
def take_kernels() -> None:
    """Replace the kernels, in this process."""
    for name, kernel in {
        "mm": product,
        "mm.out": lambda first, second, *, out: product(first, second, out),
        "bmm": product,
        "bmm.out": lambda first, second, *, out: product(first, second, out),
        "addmm": sum_with_product,
        "sqrt": root,
        "sqrt_": lambda values: values.copy_(root(values)),
        "sqrt.out": lambda values, *, out: out.resize_(values.shape).copy_(root(values)),
    }.items():
        _LIBRARY.impl(name, kernel, "CPU")


_LIBRARY = torch.library.Library("aten", "IMPL")  # deleted, it would take its kernels back


def product(first: Tensor, second: Tensor, out: Tensor | None = None) -> Tensor:
    """Return the product of matrices [m, k] and [k, n], or of [b, m, k] and [b, k, n].

    Raises:
        RuntimeError: the shapes or the kinds do not fit, as of torch's kernel.
    """
    _check(first, second)
    shape = *first.shape[:-1], second.shape[-1]
    target = torch.empty(shape, dtype=_wide(first.dtype), device="cpu")  # aligned, as NumPy's may not be
    np.matmul(_array(first), _array(second), out=target.numpy())
    return target.to(first.dtype) if out is None else out.resize_(target.shape).copy_(target)


def sum_with_product(added: Tensor, first: Tensor, second: Tensor, *, beta: float = 1.0, alpha: float = 1.0) -> Tensor:
    """Return beta * added + alpha * first @ second; ``added`` is broadcast to [m, n], and is not read if beta is 0."""
    whole = product(first.to(_wide(first.dtype)), second.to(_wide(second.dtype)))
    if alpha != 1:
        whole *= alpha
    if beta != 0:
        whole += added if beta == 1 else beta * added
    return whole.to(first.dtype)


def root(values: Tensor) -> Tensor:
    """Return the square roots of values [any shape], each the nearest number; of whole numbers, those of floats."""
    kind = values.dtype if values.is_floating_point() or values.is_complex() else torch.get_default_dtype()
    with np.errstate(invalid="ignore"):
        return torch.from_numpy(np.asarray(np.sqrt(_array(values.to(_wide(kind)))))).to(kind)


def _wide(kind: torch.dtype) -> torch.dtype:
    return torch.float32 if kind in HALVES else kind


def _array(values: Tensor) -> np.ndarray:
    return values.to(_wide(values.dtype)).numpy(force=True)


def _check(first: Tensor, second: Tensor) -> None:
    fits = first.dim() == second.dim() in (2, 3) and first.shape[:-2] == second.shape[:-2]
    if not fits or first.shape[-1] != second.shape[-2] or first.dtype != second.dtype:
        shapes = f"{[*first.shape]} of {first.dtype} and {[*second.shape]} of {second.dtype}"
        raise RuntimeError(f"matrices of shapes {shapes} cannot be multiplied")
