"""Fields of MATLAB files, of version 5 and of version 7.3, which is HDF5, read as if every file were hostile.

Only the requested fields are unpacked (features of images are some 600 MB), none beyond ``MOST_BYTES``.
"""

import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from recompose.data import mat_version_5
from recompose.data.foreign_files import reason_of
from recompose.data.mat_version_5 import FIELD_FAULT, MOST_CHARACTERS, NEITHER, no_text
from recompose.errors import DataError

MOST_BYTES = 2**28  # of a field, unpacked
MOST_SECONDS = 300  # of the process that reads a file of version 5
_HEADER = 128  # bytes of a file's header
_VERSION_5 = (b"\x00\x01IM", b"\x01\x00MI")  # version and byte order, at the end of the header


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return those of the requested fields that a file has.

    Returns:
        field -> array, as MATLAB shows it: numbers as they are stored, or for a cell array objects of type str.

    Raises:
        DataError: no such file, no MATLAB file, a damaged one, or a field that is too large or has neither numbers nor
            texts.
    """
    # h5py takes a tenth of a second, and files of version 7.3 are rare
    import h5py

    if not path.is_file():
        raise DataError(f"{path} is missing", code="missing-file", place=path)
    read = _version_7 if h5py.is_hdf5(path) else _version_5
    try:
        return dict(read(path, fields))
    except DataError:
        raise
    except Exception as error:  # a damaged or hostile file can raise any exception
        raise _damaged(path, reason_of(path, error)) from None


def _damaged(path: Path, reason: str) -> DataError:
    fault = f"{path} is not a complete MATLAB file of version 5 or 7.3: {reason}"
    return DataError(fault, code="damaged-file", place=path)


def _field_fault(path: Path, fault: str) -> DataError:
    return DataError(f"{path}: {fault}", code="wrong-field", place=path)


def _check_size(path: Path, name: str, shape: tuple[int, ...], itemsize: int) -> None:
    if math.prod(shape) * itemsize > MOST_BYTES:
        sides = " x ".join(map(str, shape))
        raise _field_fault(path, f"field {name} is too large: {sides}, beyond {MOST_BYTES} bytes")


def _version_5(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    with path.open("rb") as file:
        if not file.read(_HEADER).endswith(_VERSION_5):
            raise ValueError("its header is wrong")
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "fields.npz")
        command = [sys.executable, "-m", mat_version_5.__name__, str(path), str(target), *fields]
        environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}  # each thread reserves memory
        ended = subprocess.run(
            command, capture_output=True, text=True, timeout=MOST_SECONDS, check=False, env=environment
        )
        reason = (ended.stderr.splitlines() or [f"its reader ended with status {ended.returncode}"])[-1]
        if ended.returncode == FIELD_FAULT:
            raise _field_fault(path, reason)
        if ended.returncode:
            raise ValueError(reason)
        with np.load(target) as arrays:
            for name, array in arrays.items():
                _check_size(path, name, array.shape, array.itemsize)
                yield name, array.astype(object) if array.dtype.kind == "U" else array


# version 7.3: an HDF5 file, arrays transposed, texts as numbers of their characters


def _version_7(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    import h5py

    with h5py.File(path, "r") as file:
        for name in fields:
            if name not in file:
                continue
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise _field_fault(path, f"field {name} is a link to elsewhere")
            dataset = _dataset(path, file[name], name)
            is_cells = h5py.check_ref_dtype(dataset.dtype) is h5py.Reference
            if not is_cells and dataset.dtype.kind not in "biuf":
                raise _field_fault(path, f"field {name} {NEITHER}")
            content = np.asarray(dataset[()]).T
            yield name, _cells(path, file, content, name) if is_cells else content


def _dataset(path: Path, dataset: Any, name: str) -> Any:
    """Return a dataset that contains its own data."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise _field_fault(path, f"field {name} {NEITHER}")
    if dataset.external or dataset.is_virtual:
        raise _field_fault(path, f"field {name} is stored in another file")
    _check_size(path, name, dataset.shape, dataset.dtype.itemsize)
    return dataset


def _cells(path: Path, file: Any, references: np.ndarray, name: str) -> np.ndarray:
    cells = np.empty(references.shape, dtype=object)
    for place, reference in enumerate(references.flat):
        cells.flat[place] = _text(path, _dataset(path, file[reference], name), name, place)
    return cells


def _text(path: Path, dataset: Any, name: str, place: int) -> str:
    if dataset.attrs.get("MATLAB_class") != b"char" or dataset.dtype.kind != "u" or dataset.size > MOST_CHARACTERS:
        raise _field_fault(path, no_text(name, place + 1))
    if dataset.attrs.get("MATLAB_empty"):
        return ""
    return dataset[()].ravel().astype("<u2").tobytes().decode("utf-16-le")
