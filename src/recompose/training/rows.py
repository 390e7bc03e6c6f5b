"""The inputs of a method for the images of a split."""

from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.utils.data import Dataset

from recompose.backbones.arrays import StoredArray


class Rows(Dataset[Any]):
    """Rows of an array of inputs [all images, ...], and a number [images] for each; a list of positions gives a whole
    batch.
    """

    def __init__(self, inputs: np.ndarray | StoredArray, rows: np.ndarray, numbers: np.ndarray) -> None:
        self._inputs, self._rows, self._numbers = inputs, rows, numbers

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, positions: list[int]) -> list[Tensor]:
        return [torch.from_numpy(self._inputs[self._rows[positions]]), torch.from_numpy(self._numbers[positions])]
