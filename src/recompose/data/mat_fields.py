"""Some fields of a MATLAB file, of version 5 by SciPy or of version 7.3 by h5py, read in a process of its own.

A few wrong bytes crash SciPy, and a few others make it demand memory without end: neither reaches the caller.

Usage: python -m recompose.data.mat_fields FILE TARGET FIELD...
"""

import resource
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

VERSION_5 = (b"\x00\x01IM", b"\x01\x00MI")  # version and byte order, at the end of the header
HEADER = 128  # bytes
MOST_MEMORY = 2**31  # bytes of address space; published data sets need a third
MOST_CHARACTERS = 4096  # of one text of a field
FIELD_FAULT = 3  # status of this process if the file is whole, and a field is not as expected
NEITHER = "holds neither numbers nor a cell array of texts"


def main(file: str, target: str, *names: str) -> None:
    """Write those of the fields that the file has into ``target``, an .npz: numbers, and texts as a NumPy type."""
    with Path(file).open("rb") as stream:
        read = version_5 if stream.read(HEADER).endswith(VERSION_5) else version_7
    arrays: dict[str, Any] = dict(read(file, names))
    np.savez(target, **arrays)


def limit_memory() -> None:
    """Limit the memory that this process can demand from now on."""
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))


def version_5(file: str, names: tuple[str, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield fields: numbers as they are, and cells as texts; end this process if they are neither, or unreadable."""
    from scipy.io import loadmat, whosmat

    limit_memory()
    with Path(file).open("rb") as stream:
        present = [name for name, _, _ in whosmat(stream)]
        for name in names:
            if present.count(name) > 1:
                fail(f"field {name} occurs twice")
        fields = loadmat(stream, variable_names=names)
    for name, array in fields.items():
        if name not in names:
            continue
        if isinstance(array, np.ndarray) and array.dtype == object:
            texts = [cell_text(cell, name, place) for place, cell in enumerate(array.flat, start=1)]
            yield name, np.array(texts, dtype=str).reshape(array.shape)
        elif isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
            yield name, array
        else:
            fail(f"field {name} {NEITHER}")


def cell_text(cell: Any, name: str, place: int) -> str:
    """Return the text of a cell; end this process if it has none."""
    if not isinstance(cell, np.ndarray) or cell.dtype.kind != "U" or cell.size > 1:
        fail(no_text(name, place))
    text = str(cell.flat[0]) if cell.size else ""
    if len(text) > MOST_CHARACTERS:
        fail(no_text(name, place))
    return text


def version_7(file: str, names: tuple[str, ...]) -> Iterator[tuple[str, np.ndarray]]:
    """Yield the same of HDF5, whose arrays are transposed and whose texts are the numbers of their characters."""
    import h5py

    limit_memory()
    with h5py.File(file, "r") as stream:
        for name in filter(stream.__contains__, names):
            data = stream[name] if isinstance(stream.get(name, getlink=True), h5py.HardLink) else None
            if not isinstance(data, h5py.Dataset) or data.external or data.is_virtual:
                fail(f"field {name} {NEITHER}, or lies elsewhere")
            if h5py.check_ref_dtype(data.dtype) is h5py.Reference:
                cells = data[()].T
                texts = [text_7(stream[cell], name, place) for place, cell in enumerate(cells.flat, start=1)]
                yield name, np.array(texts, dtype=str).reshape(cells.shape)
            elif data.dtype.kind in "biuf":
                yield name, data[()].T
            else:
                fail(f"field {name} {NEITHER}")


def text_7(data: Any, name: str, place: int) -> str:
    """Return the text of what a cell refers to; end this process if it is none."""
    is_text = data.attrs.get("MATLAB_class") == b"char" and data.dtype.kind == "u" and not data.external
    if not is_text or data.is_virtual or data.size > MOST_CHARACTERS:
        fail(no_text(name, place))
    return "" if data.attrs.get("MATLAB_empty") else data[()].astype("<u2").tobytes().decode("utf-16-le")


def no_text(name: str, place: int) -> str:
    """Return the fault of a cell without a text."""
    return f"field {name}, place {place}: expected a text in this cell, at most {MOST_CHARACTERS} long"


def fail(fault: str) -> NoReturn:
    """End this process because of a field."""
    print(fault, file=sys.stderr)
    sys.exit(FIELD_FAULT)


if __name__ == "__main__":
    main(*sys.argv[1:])
