"""Fields of MATLAB files of version 5, read by a process of its own, as if every file were hostile.

Only the requested fields are unpacked (features of images are some 600 MB), none beyond ``MOST_BYTES``.
"""

import os
import subprocess
import sys
import tempfile
from collections.abc import Collection
from pathlib import Path

import numpy as np

from recompose.data import mat_version_5
from recompose.data.foreign_files import reason_of
from recompose.data.mat_version_5 import FIELD_FAULT
from recompose.errors import DataError

MOST_BYTES = 2**28  # of a field, unpacked
MOST_SECONDS = 300  # of the process that reads a file
_HEADER = 128  # bytes of a file's header
_VERSION_5 = (b"\x00\x01IM", b"\x01\x00MI")  # version and byte order, at the end of the header


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """Return those of the requested fields that a file has.

    Returns:
        field -> array, as MATLAB shows it: numbers as they are stored, or for a cell array objects of type str.

    Raises:
        DataError: no such file, no MATLAB file of version 5, a damaged one, or a field that is too large or has neither
            numbers nor texts.
    """
    if not path.is_file():
        raise DataError(f"{path} is missing", code="missing-file", place=path)
    try:
        return _read(path, fields)
    except DataError:
        raise
    except Exception as error:  # a damaged or hostile file can raise any exception
        fault = f"{path} is not a complete MATLAB file of version 5 (save -v7): {reason_of(path, error)}"
        raise DataError(fault, code="damaged-file", place=path) from None


def _read(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
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
            read = dict(arrays)
    for name, array in read.items():
        if array.nbytes > MOST_BYTES:
            raise _field_fault(path, f"field {name} is too large: {array.shape}, beyond {MOST_BYTES} bytes")
    return {name: array.astype(object) if array.dtype.kind == "U" else array for name, array in read.items()}


def _field_fault(path: Path, fault: str) -> DataError:
    return DataError(f"{path}: {fault}", code="wrong-field", place=path)
