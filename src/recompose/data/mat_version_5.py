"""Some fields of a MATLAB file of version 5, read by SciPy in a process of its own.

A few wrong bytes crash SciPy, and a few others make it demand memory without end: neither reaches the caller.

Usage: python -m recompose.data.mat_version_5 FILE TARGET FIELD...
"""

import resource
import sys
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

MOST_MEMORY = 2**31  # bytes of address space; published data sets need a third
MOST_CHARACTERS = 4096  # of one text of a field
FIELD_FAULT = 3  # status of this process if the file is whole, and a field is not as expected
NEITHER = "holds neither numbers nor a cell array of texts"


def main(file: str, target: str, *names: str) -> None:
    """Write those of the fields that the file has into ``target``, an .npz: numbers, and texts as a NumPy type."""
    from scipy.io import loadmat, whosmat

    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with Path(file).open("rb") as stream:
        present = [name for name, _, _ in whosmat(stream)]
        for name in names:
            if present.count(name) > 1:
                fail(f"field {name} occurs twice")
        fields = loadmat(stream, variable_names=names)
    arrays: dict[str, Any] = {name: plain(fields[name], name) for name in names if name in fields}
    np.savez(target, **arrays)


def plain(array: Any, name: str) -> np.ndarray:
    """Return numbers as they are, and cells as texts; end this process if they are neither, or unreadable."""
    if isinstance(array, np.ndarray) and array.dtype == object:
        texts = [cell_text(cell, name, place) for place, cell in enumerate(array.flat, start=1)]
        return np.array(texts, dtype=str).reshape(array.shape)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biuf":
        fail(f"field {name} {NEITHER}")
    return array


def cell_text(cell: Any, name: str, place: int) -> str:
    """Return the text of a cell; end this process if it has none."""
    if not isinstance(cell, np.ndarray) or cell.dtype.kind != "U" or cell.size > 1:
        fail(no_text(name, place))
    text = str(cell.flat[0]) if cell.size else ""
    if len(text) > MOST_CHARACTERS:
        fail(no_text(name, place))
    return text


def no_text(name: str, place: int) -> str:
    """Return the fault of a cell without a text."""
    return f"field {name}, place {place}: expected a text in this cell, at most {MOST_CHARACTERS} long"


def fail(fault: str) -> NoReturn:
    """End this process because of a field."""
    print(fault, file=sys.stderr)
    sys.exit(FIELD_FAULT)


if __name__ == "__main__":
    main(*sys.argv[1:])
