"""Fields of MATLAB files, of version 5 and of version 7.3, which is HDF5: read as if every one of them were hostile.

Only the fields that are asked for are unpacked (features of images are some 600 MB), none beyond ``MOST_BYTES``.
"""

import math
import struct
import warnings
import zlib
from collections.abc import Collection, Iterator
from io import BytesIO
from pathlib import Path
from typing import IO, Any

import numpy as np

from recompose.errors import DataError

MOST_BYTES = 2**28  # of a field, unpacked
_MOST_CHARACTERS = 4096  # of one text of a field
_HEADER, _TAG, _VERSION = 128, 8, 0x0100  # bytes of a version 5 file's header and of the tag of a field
_COMPRESSED = 15
_ORDERS = {b"IM": "<", b"MI": ">"}
_PEEK = 2**16  # bytes of a field that hold its name and shape


def read_fields(path: Path, fields: Collection[str]) -> dict[str, np.ndarray]:
    """The fields of a file that are there, of those that are asked for.

    Returns:
        field -> array, as MATLAB shows it: numbers, or for a cell array of texts objects of type str.

    Raises:
        DataError: no such file, no MATLAB file, a damaged one, or a field that is too large or neither numbers nor
            texts.
    """
    # h5py takes a tenth of a second, and files of version 7.3 are rare
    import h5py

    if not path.is_file():
        raise DataError(f"{path} is missing")
    read = _version_7 if h5py.is_hdf5(path) else _version_5
    found: dict[str, np.ndarray] = {}
    try:
        for name, array in read(path, fields):
            if name in found:
                raise DataError(f"field {name} stands there twice")
            found[name] = _plain(name, array)
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except Exception as error:  # a damaged or hostile file makes the readers fail in any way
        reason = (str(error) or repr(error)).splitlines()[0]
        raise DataError(f"{path} is no whole MATLAB file of version 5 or 7.3: {reason}") from None
    return found


def _plain(name: str, array: Any) -> np.ndarray:
    """An array of numbers, or of texts."""
    if isinstance(array, np.ndarray) and array.dtype.kind in "biuf":
        return array
    if not isinstance(array, np.ndarray) or array.dtype != object:
        raise DataError(f"field {name} holds neither numbers nor a cell array of texts")
    texts = np.empty(array.shape, dtype=object)
    for place, cell in enumerate(array.flat):
        if not (isinstance(cell, np.ndarray) and cell.dtype.kind == "U" and cell.size <= 1):
            raise DataError(f"field {name}, place {place + 1}: expected a text in this cell")
        texts.flat[place] = _short("".join(cell.flat), name, place)
    return texts


def _short(text: str, name: str, place: int) -> str:
    if len(text) > _MOST_CHARACTERS:
        raise DataError(f"field {name}, place {place + 1}: a text of {len(text)} characters, more than a name has")
    return text


def _check_size(name: str, shape: tuple[int, ...], itemsize: int) -> None:
    if math.prod(shape) * itemsize > MOST_BYTES:
        sizes = " x ".join(map(str, shape))
        raise DataError(f"field {name} is too large: {sizes}, beyond {MOST_BYTES} bytes")


# version 5: a header, then one element after the other, most of them compressed


def _version_5(path: Path, fields: Collection[str]) -> Iterator[tuple[str, Any]]:
    from scipy.io import loadmat, whosmat

    with path.open("rb") as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        header = file.read(_HEADER)
        order = _ORDERS.get(header[126:])
        if order is None or struct.unpack(f"{order}H", header[124:126]) != (_VERSION,):
            raise ValueError("its header is another one")
        while tag := file.read(_TAG):
            kind, length = struct.unpack(f"{order}II", tag)
            start = file.tell()
            name, shape, _ = whosmat(BytesIO(header + _content(file, tag, kind, length, _PEEK)))[0]
            if name in fields:
                _check_size(name, shape, itemsize=8)
                file.seek(start)
                content = _content(file, tag, kind, length, MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise DataError(f"field {name} is too large: beyond {MOST_BYTES} bytes")
                if len(content) - _TAG != struct.unpack(f"{order}I", content[4:_TAG])[0]:
                    raise DataError(f"field {name} ends too early: the file is damaged")
                yield name, loadmat(BytesIO(header + content))[name]
            file.seek(start + length)


def _content(file: IO[bytes], tag: bytes, kind: int, length: int, most: int) -> bytes:
    """The first bytes, at most ``most``, of an element of the file, unpacked, with the tag that it has unpacked."""
    if kind != _COMPRESSED:
        return tag + file.read(min(length, most))
    inflater, content = zlib.decompressobj(), bytearray()
    while length and len(content) < most and (packed := file.read(min(length, _PEEK))):
        content += inflater.decompress(packed, most - len(content))
        length -= len(packed)
    return bytes(content)


# version 7.3: an HDF5 file, arrays transposed, texts as numbers of their characters


def _version_7(path: Path, fields: Collection[str]) -> Iterator[tuple[str, Any]]:
    import h5py

    with h5py.File(path, "r") as file:
        for name in fields:
            if name not in file:
                continue
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise DataError(f"field {name} is a link to elsewhere")
            dataset = _dataset(file[name], name)
            content = dataset[()].T
            if h5py.check_ref_dtype(dataset.dtype) is h5py.Reference:
                yield name, _cells(file, content, name)
            else:
                yield name, content


def _dataset(dataset: Any, name: str) -> Any:
    """A dataset that holds what it shows itself."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise DataError(f"field {name} holds neither numbers nor a cell array of texts")
    if dataset.external or dataset.is_virtual:
        raise DataError(f"field {name} is kept in another file")
    _check_size(name, dataset.shape, dataset.dtype.itemsize)
    return dataset


def _cells(file: Any, references: np.ndarray, name: str) -> np.ndarray:
    cells = np.empty(references.shape, dtype=object)
    for place, reference in enumerate(references.flat):
        cells.flat[place] = np.array([_text(_dataset(file[reference], name), name, place)])
    return cells


def _text(dataset: Any, name: str, place: int) -> str:
    if dataset.attrs.get("MATLAB_empty"):
        return ""
    if dataset.dtype.kind != "u" or dataset.attrs.get("MATLAB_class") != b"char":
        raise DataError(f"field {name}, place {place + 1}: expected a text in this cell")
    if dataset.size > _MOST_CHARACTERS:
        raise DataError(f"field {name}, place {place + 1}: a text of {dataset.size} characters")
    return dataset[()].ravel().astype("<u2").tobytes().decode("utf-16-le")
