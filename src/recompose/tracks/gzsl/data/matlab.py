"""Fields of MATLAB files, read by a process of its own, as if every file were hostile.

Only the requested fields are unpacked (features of images are some 600 MB), none beyond ``MOST_BYTES``.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import numpy as np

from recompose.data import mat_fields
from recompose.data.foreign_files import reason_of
from recompose.data.mat_fields import FIELD_FAULT
from recompose.errors import DataError

MOST_BYTES = 2**28  # of a field, unpacked
MOST_SECONDS = 300  # of the process that reads a file


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return those of the requested fields that a file has.

    Returns:
        field -> array, as MATLAB shows it: numbers as they are stored, or for a cell array objects of type str.

    Raises:
        DataError: no such file, no MATLAB file of version 5 or 7.3, a damaged one, or a field that is too large or has
            neither numbers nor texts.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing", code="missing-file", place=path)
    try:
        return _read(path, fields)
    except DataError:
        raise
    except Exception as error:  # a damaged or hostile file can raise any exception
        fault = f"{path} is not a complete MATLAB file of version 5 or 7.3: {reason_of(path, error)}"
        raise DataError(fault, code="damaged-file", place=path) from None


def _read(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        target = Path(folder, "fields.npz")
        command = [sys.executable, "-m", mat_fields.__name__, str(path), str(target), *fields]
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
            read = dict(arrays)
    for name, array in read.items():
        if array.nbytes > MOST_BYTES:
            raise _field_fault(path, f"field {name} is too large: {array.shape}, beyond {MOST_BYTES} bytes")
    return {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in read.items()}


def _field_fault(path: Path, fault: str) -> DataError:
    return DataError(f"{path}: {fault}", code="wrong-field", place=path)
