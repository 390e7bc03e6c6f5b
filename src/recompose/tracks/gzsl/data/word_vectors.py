"""Word vectors of attributes: a ``.npy`` file, or a published pickled array, of which no code but NumPy's is run.

The field's shared vectors of CUB, SUN and AWA2 (``w2v/<data set>_attribute.pkl`` of TransZero, 7c10cdb, the same as
DAZLE's) are called GloVe there and are sums of word2vec's vectors. One of SUN's is zero, that of attribute 88.
"""

import pickle
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.foreign_files import reason_of
from recompose.errors import WordVectorsError

_RECONSTRUCT = np.empty(0).__reduce__()[0]
_PARTS = {  # of an array in a pickle; published ones name the last as versions of NumPy before 2 do
    ("numpy", "ndarray"): np.ndarray,
    ("numpy", "dtype"): np.dtype,
    ("numpy._core.multiarray", "_reconstruct"): _RECONSTRUCT,
    ("numpy.core.multiarray", "_reconstruct"): _RECONSTRUCT,
}


class _Unpickler(pickle._Unpickler):  # the one in Python: the one in C allocates memory by a pickle's declarations
    def find_class(self, module: str, name: str) -> Any:
        try:
            return _PARTS[module, name]
        except KeyError:
            message = f"it asks for {module}.{name}, and pickles run code; not opened"
            raise WordVectorsError(message, code="hostile-pickle", place=f"{module}.{name}") from None


def read_words(path: Path) -> np.ndarray:
    """Return the vectors [attributes, width] float32 of a file, unchanged: neither normalised nor without zeros.

    Raises:
        WordVectorsError: no such file, not an array of finite numbers with two sides, or a pickle of anything else.
    """
    if not path.is_file():
        raise WordVectorsError(f"{path} is missing", code="missing-file", place=path)
    try:
        is_pickle = path.suffix == ".pkl"
        array = _Unpickler(BytesIO(path.read_bytes())).load() if is_pickle else np.load(path, mmap_mode="r")
        if not isinstance(array, np.ndarray):
            raise ValueError("it holds other data")
    except Exception as error:  # a damaged or hostile file can raise any exception
        code = error.code if isinstance(error, WordVectorsError) else "no-array"
        message = f"{path} is not a plain array: {reason_of(path, error)}"
        raise WordVectorsError(message, code=code, place=path) from None
    if array.ndim != 2 or array.dtype.kind != "f" or 0 in array.shape:
        message = f"{path} holds numbers {array.shape} of type {array.dtype}, expected floats [attributes, width]"
        raise WordVectorsError(message, code="wrong-shape", place=path)
    with np.errstate(over="ignore"):
        words = np.array(array, dtype=np.float32)
    wrong = np.flatnonzero(~np.isfinite(words).all(axis=1))
    if wrong.size:
        message = f"{path}, row {wrong[0] + 1}: holds NaN, an infinity or a number beyond float32"
        raise WordVectorsError(message, code="not-finite", place=f"{path}:{wrong[0] + 1}")
    return words
