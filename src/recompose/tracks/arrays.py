"""Arrays of any library, for metrics, which NumPy computes."""

from typing import Any

import numpy as np


def to_host(array: Any) -> np.ndarray:
    """Return a NumPy array of a tensor on any device, or of anything like an array; 16-bit numbers become 32-bit ones,
    since NumPy knows no bfloat16.
    """
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if array.is_floating_point() and array.element_size() < 4 else array
    return np.asarray(array)
