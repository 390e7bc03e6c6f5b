"""Word vectors of attributes: a ``.npy`` file, or a published pickled array, of which no code is run.

The field's shared vectors of CUB, SUN and AWA2 (``w2v/<data set>_attribute.pkl`` of TransZero, 7c10cdb, the same as
DAZLE's) are called GloVe there and are sums of word2vec's vectors. One of SUN's is zero, that of attribute 88.
"""

import math
import pickle
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.foreign_files import reason_of
from recompose.errors import WordVectorsError

MOST_BYTES = 2**26  # a thousand attributes take a few megabytes
_SIZES = {"f8": 8, "f4": 4}


def read_words(path: Path) -> np.ndarray:
    """Return the vectors [attributes, width] float32 of a file, unchanged: neither normalised nor without zeros.

    Raises:
        WordVectorsError: no such file, not an array of finite numbers with two sides, or a pickle of anything else.
    """
    if not path.is_file():
        raise WordVectorsError(f"{path} is missing", code="missing-file", place=path)
    if path.stat().st_size > MOST_BYTES:
        message = f"{path} is too large for vectors of attributes: beyond {MOST_BYTES} bytes"
        raise WordVectorsError(message, code="large-file", place=path)
    try:
        array = _unpickle(path) if path.suffix == ".pkl" else np.load(path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise ValueError("it is an archive of several")
    except Exception as error:  # a damaged or hostile file can raise any exception
        code = error.code if isinstance(error, WordVectorsError) else "no-array"
        message = f"{path} is not a plain array: {reason_of(path, error)}"
        raise WordVectorsError(message, code=code, place=path) from None
    if array.ndim != 2 or array.dtype.kind != "f" or 0 in array.shape:
        sides = " x ".join(map(str, array.shape))
        message = f"{path} holds {sides or 'no'} numbers of type {array.dtype}, expected floats [attributes, width]"
        raise WordVectorsError(message, code="wrong-shape", place=path)
    with np.errstate(over="ignore"):
        words = np.array(array, dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(words).all(axis=1))
    if wrong.size:
        message = f"{path}, row {wrong[0] + 1}: holds NaN, an infinity or a number beyond float32"
        raise WordVectorsError(message, code="not-finite", place=f"{path}:{wrong[0] + 1}")
    return words


class _StandIn:
    """A component of a pickled array. NumPy never runs on a state from an untrusted file."""

    def __init__(self, *arguments: Any) -> None:
        self.arguments = arguments
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _Array(_StandIn):
    """A replacement of an array."""


class _Type(_StandIn):
    """A replacement of a type of numbers."""


_ADMITTED = {
    ("numpy.core.multiarray", "_reconstruct"): _Array,
    ("numpy._core.multiarray", "_reconstruct"): _Array,  # since NumPy 2
    ("numpy", "ndarray"): _StandIn,  # an argument of the former, never called
    ("numpy", "dtype"): _Type,
}


class _Unpickler(pickle._Unpickler):  # the one in Python: the one in C allocates memory by a pickle's declarations
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _ADMITTED[module, name]
        except KeyError:
            message = f"it asks for {module}.{name}, and pickles run code; not opened"
            raise WordVectorsError(message, code="hostile-pickle", place=f"{module}.{name}") from None


def _unpickle(path: Path) -> np.ndarray:
    pickled = _Unpickler(BytesIO(path.read_bytes())).load()
    if not isinstance(pickled, _Array) or not isinstance(pickled.state, tuple):
        raise ValueError("it is a pickle of other data")
    _, shape, kind, by_columns, data = pickled.state
    if not isinstance(kind, _Type) or kind.arguments[0] not in _SIZES or kind.state[1] not in ("<", ">"):
        raise ValueError("it is a pickle of other data than floats")
    if not all(isinstance(side, int) and side > 0 for side in shape):
        raise ValueError(f"its sides are {shape!r:.100}")
    size = math.prod(shape) * _SIZES[kind.arguments[0]]
    if not isinstance(data, bytes) or len(data) != size:
        raise ValueError("it has fewer or more numbers than it declares")
    numbers = np.frombuffer(data, dtype=kind.state[1] + kind.arguments[0])
    return numbers.reshape(shape, order="F" if by_columns else "C")
