"""Fields of MATLAB files, of version 5 and of version 7.3, which is HDF5.

Only the requested fields are unpacked: features of images are some 600 MB.
"""

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data.foreign_files import reason_of
from recompose.errors import DataError


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return those of the requested fields that a file has.

    Returns:
        field -> array, as MATLAB shows it: numbers as they are stored, or for a cell array objects of type str.

    Raises:
        DataError: no such file, no MATLAB file, a damaged one, or a field that has neither numbers nor texts.
    """
    # h5py takes a tenth of a second, and files of version 7.3 are rare
    import h5py

    if not path.is_file():
        raise DataError(f"{path} is missing", code="missing-file", place=path)
    read = _version_7 if h5py.is_hdf5(path) else _version_5
    try:
        arrays = dict(read(path, fields))
    except Exception as error:  # a damaged file can raise any exception
        fault = f"{path} is not a complete MATLAB file of version 5 or 7.3: {reason_of(path, error)}"
        raise DataError(fault, code="damaged-file", place=path) from None
    for name, array in arrays.items():
        texts = array.dtype == object and all(isinstance(text, str) for text in array.flat)
        if not texts and array.dtype.kind not in "biuf":
            fault = f"field {name} holds neither numbers nor a cell array of texts"
            raise DataError(f"{path}: {fault}", code="wrong-field", place=path)
    return arrays


def _version_5(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    from scipy.io import loadmat

    for name, array in loadmat(path, variable_names=list(fields)).items():
        if name in fields:
            yield name, _mapped(array, _text) if array.dtype == object else array


def _text(cell: np.ndarray) -> str | None:
    """Return the text of a cell; None if it has none."""
    if cell.dtype.kind != "U" or cell.size > 1:
        return None
    return str(cell.flat[0]) if cell.size else ""


def _mapped(cells: np.ndarray, read: Any) -> np.ndarray:
    """Return a cell array with what is read of each cell."""
    texts = np.empty(cells.shape, dtype=object)
    for place, cell in enumerate(cells.flat):
        texts.flat[place] = read(cell)
    return texts


# version 7.3: an HDF5 file, arrays transposed, texts as numbers of their characters


def _version_7(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    import h5py

    with h5py.File(path, "r") as file:
        for name in fields:
            if name in file:
                content = np.asarray(file[name][()]).T
                is_cells = h5py.check_ref_dtype(file[name].dtype) is h5py.Reference
                yield name, _mapped(content, lambda cell: _characters(file[cell])) if is_cells else content


def _characters(dataset: Any) -> str | None:
    """Return the text of a cell's data set; None if it has none."""
    if dataset.attrs.get("MATLAB_class") != b"char":
        return None
    if dataset.attrs.get("MATLAB_empty"):
        return ""
    return dataset[()].ravel().astype("<u2").tobytes().decode("utf-16-le")
