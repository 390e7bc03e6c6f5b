"""Fields of MATLAB files, of version 5 by SciPy, and of version 7.3, which is HDF5. Only requested fields are read:
features of images are some 600 MB.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.foreign_files import reason_of
from recompose.errors import DataError

NEITHER = "holds neither numbers nor a cell array of texts"


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return those of the requested fields that a file has.

    Returns:
        field -> array, as MATLAB shows it: numbers as they are stored, or for a cell array objects of type str.

    Raises:
        DataError: no such file, no MATLAB file, a damaged one, or a field that has neither numbers nor texts.
    """
    # h5py takes a tenth of a second, and files of version 7.3 are rare
    import h5py
    from scipy.io import loadmat

    if not path.is_file():
        raise DataError(f"{path} is missing", code="missing-file", place=path)
    try:
        if h5py.is_hdf5(path):
            with h5py.File(path, "r") as file:
                return {name: _from_hdf5(path, file, name) for name in fields if name in file}
        contents = loadmat(path, variable_names=list(fields))
        return {name: _plain(path, contents[name], name) for name in fields if name in contents}
    except DataError:
        raise
    except Exception as error:  # a damaged file can raise any exception
        fault = f"{path} is not a complete MATLAB file of version 5 or 7.3: {reason_of(path, error)}"
        raise DataError(fault, code="damaged-file", place=path) from None


def _field_fault(path: Path, name: str, fault: str) -> DataError:
    return DataError(f"{path}: field {name} {fault}", code="wrong-field", place=path)


def _plain(path: Path, array: Any, name: str) -> np.ndarray:
    """Return numbers as they are, and cells as texts."""
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufO":
        raise _field_fault(path, name, NEITHER)
    if array.dtype.kind != "O":
        return array
    texts = np.empty(array.shape, dtype=object)
    for place, cell in enumerate(array.flat):
        if not isinstance(cell, np.ndarray) or cell.dtype.kind != "U" or cell.size > 1:
            raise _field_fault(path, name, f"has no text at place {place + 1}")
        texts.flat[place] = str(cell.flat[0]) if cell.size else ""
    return texts


def _from_hdf5(path: Path, file: Any, name: str) -> np.ndarray:
    """Return a field of version 7.3: arrays are transposed, and texts are numbers of their characters."""
    import h5py

    dataset = file[name]
    is_cells = isinstance(dataset, h5py.Dataset) and h5py.check_ref_dtype(dataset.dtype) is h5py.Reference
    if not isinstance(dataset, h5py.Dataset) or (not is_cells and dataset.dtype.kind not in "biuf"):
        raise _field_fault(path, name, NEITHER)
    content = np.asarray(dataset[()]).T
    if not is_cells:
        return content
    texts = np.empty(content.shape, dtype=object)
    for place, reference in enumerate(content.flat):
        cell = file[reference]
        if cell.attrs.get("MATLAB_class") != b"char":
            raise _field_fault(path, name, f"has no text at place {place + 1}")
        is_empty = cell.attrs.get("MATLAB_empty")
        texts.flat[place] = "" if is_empty else cell[()].ravel().astype("<u2").tobytes().decode("utf-16-le")
    return texts
