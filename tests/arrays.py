"""Makers of arrays of each type and library that scores come in, from rows of numbers."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

Make = Callable[[Any], Any]
FLOATS: dict[str, Make] = {
    "numpy-float16": lambda rows: np.array(rows, dtype=np.float16),
    "numpy-float32": lambda rows: np.array(rows, dtype=np.float32),
    "numpy-float64": lambda rows: np.array(rows, dtype=np.float64),
    "torch-bfloat16": lambda rows: torch.tensor(rows, dtype=torch.bfloat16),
    "torch-float16": lambda rows: torch.tensor(rows, dtype=torch.float16),
    "torch-float32": lambda rows: torch.tensor(rows, dtype=torch.float32),
    "torch-float64": lambda rows: torch.tensor(rows, dtype=torch.float64),
}
# integers, too, and a tensor that requires a gradient
MAKERS = FLOATS | {
    "numpy-int64": lambda rows: np.array(rows, dtype=np.int64),
    "torch-float32": lambda rows: torch.tensor(rows, dtype=torch.float32, requires_grad=True),
}
