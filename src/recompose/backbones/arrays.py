"""Arrays of many images, written block by block so that the next process resumes an interrupted one, and read
memory-mapped. Imported without torch.
"""

import io
import os
import time
from math import prod
from pathlib import Path
from typing import Any, Self

import numpy as np

from recompose.errors import DataError
from recompose.files import SCRATCH, check_room, read_json, write_json
from recompose.progress import SAY_EVERY, ProgressLogger, say

WRITTEN = "written.json"  # in scratch: the array, and its number of images on the disk
FLUSH_EVERY = 5.0  # seconds of work that an ended process may lose


class StoredArray:
    """An array [images, ...] in a file, memory-mapped; indexing reads only the selected images.

    Args:
        path: the file. Pass one in a folder that the store has verified.
        dtype: the type of the images returned, such as 32 bits for stored 16 bits; None: as stored.
    """

    def __init__(self, path: Path, dtype: Any = None) -> None:
        self._path = path
        self._array = np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))  # a plain view is indexed faster
        self.shape = self._array.shape
        self.dtype = np.dtype(dtype or self._array.dtype)

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the path for another process, which maps the file itself."""
        return StoredArray, (self._path, self.dtype)

    def __len__(self) -> int:
        return len(self._array)

    def __getitem__(self, images: Any) -> np.ndarray:
        """Return the image at a position, or those of a slice or an array of positions, in memory."""
        rows: np.ndarray = self._array[images]
        return rows.astype(self.dtype, copy=not rows.flags.owndata)


class ArrayWriter:
    """A writer of an array of images that resumes after the images on the disk. A context manager that flushes all
    appended images to the disk at its end.

    The number of images on the disk is recorded in the folder's ``scratch`` after each flush. Images that an ended
    process wrote after its last flush are written again. A different array in the folder is overwritten.

    Args:
        path: the file.
        shape: of the whole array, images first.
        dtype: the type of its numbers.

    Raises:
        OSError: the disk has no room for the remaining images.
    """

    def __init__(self, path: Path, shape: tuple[int, ...], dtype: str) -> None:
        self._path, self._note = path, path.parent / SCRATCH / WRITTEN
        self._dtype, self._image_bytes = np.dtype(dtype), np.dtype(dtype).itemsize * prod(shape[1:])
        self._header = self._file_header(shape)
        self._array = {"file": path.name, "type": dtype, "shape": [*shape]}
        self.done = self._written_images()
        left = (shape[0] - self.done) * self._image_bytes
        done = f", {self.done} of them done" if self.done else ""
        say(f"{path.name}: {shape[0]} images of {self._image_bytes:,} bytes{done}, {left / 2**20:,.1f} MiB to write")
        check_room(path.parent, left)
        self._pace, self._reported_at = ProgressLogger(path.stem, "image", shape[0], self.done), time.monotonic()

    def _file_header(self, shape: tuple[int, ...]) -> bytes:
        out, descr = io.BytesIO(), np.lib.format.dtype_to_descr(self._dtype)
        np.lib.format.write_array_header_1_0(out, {"descr": descr, "fortran_order": False, "shape": shape})
        return out.getvalue()

    def __enter__(self) -> Self:
        if not self.done:
            self._path.write_bytes(self._header)
        self._file = self._path.open("r+b")
        self._file.seek(len(self._header) + self.done * self._image_bytes)
        self._file.truncate()
        self._flushed_at = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._flush()

    def append(self, block: np.ndarray) -> None:
        """Write the next images [block, ...].

        Raises:
            DataError: they are not finite, or too large for the stored type.
            OSError: the disk is full.
        """
        rows = self._converted_rows(block)
        self._file.write(rows.data)
        self.done += len(rows)
        now = time.monotonic()
        if now - self._flushed_at > FLUSH_EVERY:
            self._flush()
            self._flushed_at = now
        if now - self._reported_at > SAY_EVERY:
            self._pace.at(self.done)
            self._reported_at = now

    def _converted_rows(self, block: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            rows: np.ndarray = np.ascontiguousarray(block, dtype=self._dtype)
        finite = np.isfinite(rows).reshape(len(rows), -1).all(axis=1) if rows.dtype.kind == "f" else np.array([True])
        if not finite.all():
            image, bits = self.done + int(finite.argmin()), 8 * rows.itemsize
            fault = f"{self._path.stem} of image {image} (from 0) are not finite in {bits} bits"
            raise DataError(fault, code="not-finite", place=f"image {image}")
        return rows

    def _flush(self) -> None:
        """Flush all images to the disk, then record their number."""
        self._file.flush()
        os.fsync(self._file.fileno())
        write_json(self._note, {**self._array, "images": self.done})

    def _written_images(self) -> int:
        """Return the number of images that an ended process has written; 0 where it was writing another array."""
        try:
            note = read_json(self._note)
            images = int(note.pop("images"))
            least = len(self._header) + images * self._image_bytes
            return images if note == self._array and self._path.stat().st_size >= least else 0
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0
