"""Fields of MATLAB files, of version 5 and of version 7.3, which is HDF5, read as if every file were hostile.

Only the requested fields are unpacked (features of images are some 600 MB), none beyond ``MOST_BYTES``. Version 5 is
read here, after MathWorks' description of it, and not by SciPy: a few wrong bytes crash that process.
"""

import math
import zlib
from collections.abc import Collection, Iterator
from itertools import islice
from pathlib import Path
from struct import Struct
from typing import IO, Any

import numpy as np

from recompose.errors import DataError

MOST_BYTES = 2**28  # of a field, unpacked
_MOST_CHARACTERS = 4096  # of one text of a field
_NEITHER = "holds neither numbers nor a cell array of texts"


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
        raise DataError(f"{path} is missing")
    read = _version_7 if h5py.is_hdf5(path) else _version_5
    arrays: dict[str, np.ndarray] = {}
    try:
        for name, array in read(path, fields):
            if name in arrays:
                raise DataError(f"field {name} occurs twice")
            arrays[name] = array
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except Exception as error:  # a damaged or hostile file can raise any exception
        reason = (str(error) or repr(error)).splitlines()[0]
        raise DataError(f"{path} is not a complete MATLAB file of version 5 or 7.3: {reason}") from None
    return arrays


def _check_size(name: str, shape: tuple[int, ...], itemsize: int) -> None:
    if math.prod(shape) * itemsize > MOST_BYTES:
        sides = " x ".join(map(str, shape))
        raise DataError(f"field {name} is too large: {sides}, beyond {MOST_BYTES} bytes")


def _no_text(name: str, place: int) -> DataError:
    return DataError(f"field {name}, place {place + 1}: expected a text in this cell, at most {_MOST_CHARACTERS} long")


# version 5: a header, then one element after the other, most of them compressed

_HEADER, _TAG = 128, 8  # bytes of a file's header and of an element's tag
_ORDERS = {b"\x00\x01IM": "<", b"\x01\x00MI": ">"}  # version and byte order, at the end of the header
_MATRIX, _COMPRESSED = 14, 15  # types of elements
_CELL, _CHARACTERS, _DOUBLE, _UINT64 = 1, 4, 6, 15  # classes of matrices; numbers are from the third to the fourth
_COMPLEX = 0x0800
_NUMBERS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
_CODECS = {1: "utf-8", 2: "utf-8", 4: "utf-16", 16: "utf-8", 17: "utf-16", 18: "utf-32"}
_PEEK = 2**16  # bytes of an element that contain its name and shape


def _version_5(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    with path.open("rb") as file:
        order = _ORDERS.get(file.read(_HEADER)[124:])
        if order is None:
            raise ValueError("its header is wrong")
        reader = _MatReader(order)
        while tag := file.read(_TAG):
            kind, length = reader.tag.unpack(tag)
            start = file.tell()
            name = reader.name(_content(file, tag, kind, length, _PEEK))
            if name in fields:
                file.seek(start)
                content = _content(file, tag, kind, length, MOST_BYTES + 1)
                if len(content) > MOST_BYTES:
                    raise DataError(f"field {name} is too large: beyond {MOST_BYTES} bytes")
                yield name, reader.field(content, name)
            file.seek(start + length)


def _content(file: IO[bytes], tag: bytes, kind: int, length: int, most: int) -> memoryview:
    """Return the first bytes, at most ``most``, of an unpacked element of the file, with its unpacked tag."""
    if kind != _COMPRESSED:
        return memoryview(tag + file.read(min(length, most)))
    inflater, content = zlib.decompressobj(), bytearray()
    while length and len(content) < most and (packed := file.read(min(length, _PEEK))):
        content += inflater.decompress(packed, most - len(content))
        length -= len(packed)
    return memoryview(content)


class _MatReader:
    """A reader of elements in one byte order."""

    def __init__(self, order: str) -> None:
        self.order = order
        self.tag = Struct(f"{order}II")

    def elements(self, data: memoryview, *, cut: bool = False) -> Iterator[tuple[int, memoryview]]:
        """Yield types and contents of consecutive elements; small ones have their content within their tag.

        Args:
            cut: whether the data are the first bytes of more, so that the last element may be incomplete.
        """
        place = 0
        while place < len(data):
            kind, length = self.tag.unpack_from(data, place)
            start, step = place + _TAG, _TAG + length + -length % _TAG
            if kind >> 16:
                kind, length, start, step = kind & 0xFFFF, min(kind >> 16, 4), place + 4, _TAG
            if start + length > len(data) and not cut:
                raise ValueError("it is damaged, or ends too early")
            yield kind, data[start : start + length]
            place += step

    def matrix(self, data: memoryview, *, cut: bool = False) -> Iterator[tuple[int, memoryview]]:
        """Yield the elements of a matrix: flags, shape, name, and content."""
        kind, content = next(self.elements(data, cut=cut))
        if kind != _MATRIX:
            raise ValueError("an element is not a matrix")
        return self.elements(content, cut=cut)

    def name(self, data: memoryview) -> str:
        """Return the field name of a matrix from its first bytes."""
        _, _, (_, name) = islice(self.matrix(data, cut=True), 3)
        return bytes(name).decode("latin-1")

    def field(self, data: memoryview, name: str) -> np.ndarray:
        """Return the content of the field ``name``."""
        parts = self.matrix(data)
        kind, shape = self.head(parts)
        next(parts)  # its name
        _check_size(name, shape, itemsize=1)
        if kind == _CELL:
            texts = [self.text(content, name, place) for place, (_, content) in enumerate(parts)]
            cells = np.empty(len(texts), dtype=object)
            cells[:] = texts
            return cells.reshape(shape, order="F")
        if not _DOUBLE <= kind <= _UINT64:
            raise DataError(f"field {name} {_NEITHER}")
        stored, content = next(parts)
        return np.frombuffer(content, dtype=self.order + _NUMBERS[stored]).reshape(shape, order="F")

    def head(self, parts: Iterator[tuple[int, memoryview]]) -> tuple[int, tuple[int, ...]]:
        """Return class and shape of a matrix; the class is None for complex numbers."""
        flags = self.tag.unpack(next(parts)[1])[0]
        shape = np.frombuffer(next(parts)[1], dtype=f"{self.order}i4")
        return 0 if flags & _COMPLEX else flags & 0xFF, tuple(int(side) for side in shape)

    def text(self, content: memoryview, name: str, place: int) -> str:
        """Return the text of a cell."""
        if not content:  # an empty cell
            raise _no_text(name, place)
        parts = self.elements(content)
        kind, shape = self.head(parts)
        if kind != _CHARACTERS or len(shape) != 2 or shape[0] > 1 or shape[1] > _MOST_CHARACTERS:
            raise _no_text(name, place)
        next(parts)  # cells have no names
        stored, characters = next(parts, (1, b""))
        codec = _CODECS[stored]
        ordered = codec if codec == "utf-8" else f"{codec}-{'le' if self.order == '<' else 'be'}"
        return bytes(characters[: 4 * _MOST_CHARACTERS]).decode(ordered)


# version 7.3: an HDF5 file, arrays transposed, texts as numbers of their characters


def _version_7(path: Path, fields: Collection[str]) -> Iterator[tuple[str, np.ndarray]]:
    import h5py

    with h5py.File(path, "r") as file:
        for name in fields:
            if name not in file:
                continue
            if not isinstance(file.get(name, getlink=True), h5py.HardLink):
                raise DataError(f"field {name} is a link to elsewhere")
            dataset = _dataset(file[name], name)
            is_cells = h5py.check_ref_dtype(dataset.dtype) is h5py.Reference
            if not is_cells and dataset.dtype.kind not in "biuf":
                raise DataError(f"field {name} {_NEITHER}")
            content = np.asarray(dataset[()]).T
            yield name, _cells(file, content, name) if is_cells else content


def _dataset(dataset: Any, name: str) -> Any:
    """Return a dataset that contains its own data."""
    import h5py

    if not isinstance(dataset, h5py.Dataset):
        raise DataError(f"field {name} {_NEITHER}")
    if dataset.external or dataset.is_virtual:
        raise DataError(f"field {name} is stored in another file")
    _check_size(name, dataset.shape, dataset.dtype.itemsize)
    return dataset


def _cells(file: Any, references: np.ndarray, name: str) -> np.ndarray:
    cells = np.empty(references.shape, dtype=object)
    for place, reference in enumerate(references.flat):
        cells.flat[place] = _text(_dataset(file[reference], name), name, place)
    return cells


def _text(dataset: Any, name: str, place: int) -> str:
    if dataset.attrs.get("MATLAB_class") != b"char" or dataset.dtype.kind != "u" or dataset.size > _MOST_CHARACTERS:
        raise _no_text(name, place)
    if dataset.attrs.get("MATLAB_empty"):
        return ""
    return dataset[()].ravel().astype("<u2").tobytes().decode("utf-16-le")
