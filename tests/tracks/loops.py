"""What plain loops over lists of rows need, the gradients of what they compute by finite differences, and what is the
same, part by part.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

Rows = list[list[float]]
STEP = 1e-4  # of differences of fourth order, whose error is its fourth power


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng(seed).normal(size=shape)


def dot(a: Sequence[float], b: Sequence[float]) -> float:
    return math.fsum(x * y for x, y in zip(a, b, strict=True))


def cosine(a: Sequence[float], b: Sequence[float]) -> float:
    return dot(a, b) / math.sqrt(dot(a, a) * dot(b, b))


def softmax(row: Sequence[float]) -> list[float]:
    total = sum(math.exp(one) for one in row)
    return [math.exp(one) / total for one in row]


def assert_value_and_gradients(
    function: Callable[..., Tensor], loop: Callable[..., float], matrices: Sequence[np.ndarray]
) -> None:
    """Make sure that a function of tensors has the value, and the gradient to each, of a loop over lists of rows."""
    tensors = [torch.tensor(matrix, dtype=torch.float64, requires_grad=True) for matrix in matrices]
    value = function(*tensors)
    assert value.item() == pytest.approx(loop(*(matrix.tolist() for matrix in matrices)), rel=1e-9, abs=1e-12)
    value.backward()
    for place, tensor in enumerate(tensors):
        expected = np.zeros_like(matrices[place])
        for entry in np.ndindex(matrices[place].shape):
            ends = []
            for step in (STEP, -STEP, 2 * STEP, -2 * STEP):
                moved = [matrix.copy() for matrix in matrices]
                moved[place][entry] += step
                ends.append(loop(*(matrix.tolist() for matrix in moved)))
            expected[entry] = (8 * (ends[0] - ends[1]) - (ends[2] - ends[3])) / (12 * STEP)
        assert tensor.grad is not None
        np.testing.assert_allclose(tensor.grad.numpy(), expected, rtol=1e-9, atol=1e-9)


def assert_same(one: Any, other: Any, place: str = "") -> None:
    """Make sure that two values are one, part by part: dataclasses, mappings, and arrays with their types."""
    assert type(one) is type(other), place
    if is_dataclass(one):
        one, other = ({field.name: getattr(each, field.name) for field in fields(each)} for each in (one, other))
    if isinstance(one, Mapping):
        assert one.keys() == other.keys(), place
        for name in one:
            assert_same(one[name], other[name], f"{place} {name}")
    elif isinstance(one, np.ndarray):
        np.testing.assert_array_equal(one, other, err_msg=place, strict=True)
    else:
        assert one == other, place
