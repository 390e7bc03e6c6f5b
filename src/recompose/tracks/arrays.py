"""Arrays of any library: their shapes, and NumPy's ones for metrics."""

from typing import Any

import numpy as np

from recompose.errors import ArgumentError


def to_host(array: Any) -> np.ndarray:
    """Return a NumPy array of a tensor on any device, or of anything like an array; 16-bit numbers become 32-bit ones,
    since NumPy knows no bfloat16.
    """
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() and array.element_size() < 4 else array
    return np.asarray(array)


def check_shape(name: str, array: Any, fits: Any, expected: str) -> None:
    """Raise an ArgumentError for an argument whose type of numbers or whose shape does not fit.

    Example:
        >>> check_shape("scores", np.zeros(3), fits=False, expected="[items, 2]")
        Traceback (most recent call last):
        recompose.errors.ArgumentError: scores are float64 of shape (3,), not [items, 2]
    """
    if not fits:
        raise ArgumentError(
            name, f"are {array.dtype} of shape {tuple(array.shape)}, not {expected}", code="wrong-shape"
        )
