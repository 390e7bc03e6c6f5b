"""Arrays of many images, written block by block so that the next process resumes an interrupted one, and read
memory-mapped. Imported without torch.

An array [images, ...] lies in files of at most ``PART`` bytes: ``grids.npy``, then ``grids-1.npy``, ``grids-2.npy`` and
so on. An interrupted transfer then repeats one part, not 28 GiB.
"""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from math import prod
from pathlib import Path
from typing import IO, Any, Self

import numpy as np

from recompose.errors import DataError
from recompose.files import SCRATCH, check_room, read_json, write_json
from recompose.progress import SAY_EVERY, ProgressLogger, say

PART = 2 * 2**30  # bytes of a file
WRITTEN = "written.json"  # in scratch: the array, and its number of images on the disk
FLUSH_EVERY = 5.0  # seconds of work that an ended process may lose


@dataclass(frozen=True)
class Layout:
    """An array of images before it is written: its file, and the type and shape of one image."""

    file: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def image_bytes(self) -> int:
        """The bytes of an image."""
        return np.dtype(self.dtype).itemsize * prod(self.shape)

    @property
    def images_per_part(self) -> int:
        """The number of images in each file but the last one."""
        return max(1, PART // max(1, self.image_bytes))


def pixels_layout(height: int, width: int) -> Layout:
    """Return the layout of images as bytes."""
    return Layout("pixels.npy", "uint8", (3, height, width))


def embeddings_layout(width: int) -> Layout:
    """Return the layout of embeddings of images, in 16 bits."""
    return Layout("embeddings.npy", "float16", (width,))


def grids_layout(regions: int, channels: int) -> Layout:
    """Return the layout of grids of regions, in 16 bits."""
    return Layout("grids.npy", "float16", (regions, channels))


class ShardedArray:
    """An array [images, ...] in one or several files; indexing reads only the selected images.

    Args:
        parts: the parts of the array; all but the last one have the same number of images.
        dtype: the type of the images returned, such as 32 bits for stored 16 bits; None: as stored.

    Example:
        >>> stack = ShardedArray([np.arange(6).reshape(3, 2), np.arange(6, 10).reshape(2, 2)])
        >>> stack.shape, stack[np.array([4, 0])].tolist(), stack[-2].tolist(), len(stack[1:])
        ((5, 2), [[8, 9], [0, 1]], [6, 7], 4)
    """

    def __init__(self, parts: Sequence[np.ndarray], dtype: Any = None) -> None:
        self._parts = [np.asarray(part) for part in parts]  # plain views of mapped files, which are indexed faster
        self.shape = (sum(map(len, parts)), *parts[0].shape[1:])
        self.dtype = np.dtype(dtype or parts[0].dtype)
        self._positions = np.arange(len(self))
        self._path: Path | None = None

    @classmethod
    def read(cls, path: Path, dtype: Any = None) -> "ShardedArray":
        """Return the array that starts with this file, memory-mapped. Pass a file in a folder that the store has
        verified.

        Raises:
            DataError: its files do not belong together.
        """
        files = [path, *_later_parts(path)]
        parts = [np.load(file, mmap_mode="r", allow_pickle=False) for file in files]
        for file, part in zip(files, parts, strict=True):
            alike = (part.dtype, part.shape[1:]) == (parts[0].dtype, parts[0].shape[1:])
            whole = len(part) == len(parts[0]) or (file == files[-1] and len(part) < len(parts[0]))
            if not (alike and whole):
                fault = f"{file} holds {part.dtype} {list(part.shape)}, which does not continue {path}"
                raise DataError(fault, code="wrong-shape", place=file)
        stack = cls(parts, dtype)
        stack._path = path
        return stack

    def __reduce__(self) -> tuple[Any, ...]:
        """Return the path of mapped files for another process, which maps them itself."""
        return (
            (ShardedArray.read, (self._path, self.dtype)) if self._path else (ShardedArray, (self._parts, self.dtype))
        )

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, images: Any) -> np.ndarray:
        """Return the image at a position, or those of a slice or an array of positions, in memory."""
        positions = self._positions[images]
        rows = np.empty((positions.size, *self.shape[1:]), dtype=self.dtype)
        per_part = max(1, len(self._parts[0]))
        for row, position in enumerate(positions.reshape(-1).tolist()):  # one by one: each row is copied once
            rows[row] = self._parts[position // per_part][position % per_part]
        return rows.reshape(*positions.shape, *self.shape[1:])


class ArrayWriter:
    """A writer of an array of images that resumes after the images on the disk. A context manager that flushes all
    appended images to the disk at its end.

    The number of images on the disk is recorded in the folder's ``scratch`` after each flush. Images that an ended
    process wrote after its last flush are written again. A different array in the folder is overwritten.

    Raises:
        OSError: the disk has no room for the remaining images.
    """

    def __init__(self, folder: Path, layout: Layout, images: int) -> None:
        self._path, self._note = folder / layout.file, folder / SCRATCH / WRITTEN
        self._layout, self._images, self._per_part = layout, images, layout.images_per_part
        self._array = {
            "file": layout.file,
            "type": layout.dtype,
            "shape": [images, *layout.shape],
            "part": self._per_part,
        }
        self.done = self._written_images()
        if not self.done:
            self._clear()
        self._report_size()
        check_room(folder, (images - self.done) * layout.image_bytes)
        self._pace, self._reported_at = ProgressLogger(self._path.stem, "image", images, self.done), time.monotonic()

    def _report_size(self) -> None:
        size = self._images * self._layout.image_bytes
        total = f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
        progress = f", {self.done} of them done" if self.done else ""
        say(f"{self._layout.file}: {self._images} images of {self._layout.image_bytes:,} bytes, {total}{progress}")

    def __enter__(self) -> Self:
        self._file = self._open()
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
        while len(rows):
            rows = rows[self._write(rows) :]
        now = time.monotonic()
        if now - self._flushed_at > FLUSH_EVERY:
            self._flush()
            self._flushed_at = now
        if now - self._reported_at > SAY_EVERY:
            self._pace.at(self.done)
            self._reported_at = now

    def _converted_rows(self, block: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            rows: np.ndarray = np.ascontiguousarray(block, dtype=self._layout.dtype)
        finite = np.isfinite(rows).reshape(len(rows), -1).all(axis=1) if rows.dtype.kind == "f" else np.array([True])
        if not finite.all():
            image, bits = self.done + int(finite.argmin()), 8 * rows.itemsize
            fault = f"{self._path.stem} of image {image} (from 0) are not finite in {bits} bits"
            raise DataError(fault, code="not-finite", place=f"image {image}")
        return rows

    def _write(self, rows: np.ndarray) -> int:
        """Write as many of these images as the current file has room for, and return their number."""
        if self.done and not self.done % self._per_part:
            self._flush()
            self._file.close()
            self._file = self._open()
        rows = rows[: self._per_part - self.done % self._per_part]
        self._file.write(rows.data)
        self.done += len(rows)
        return len(rows)

    def _flush(self) -> None:
        """Flush all images to the disk, then record their number."""
        self._file.flush()
        os.fsync(self._file.fileno())
        write_json(self._note, {**self._array, "images": self.done})

    def _open(self) -> IO[bytes]:
        """Open the file of the next image, truncated after the images it has; of a complete array the last file."""
        part, first = divmod(self.done, self._per_part)
        if self.done and self.done == self._images:
            return _part(self._path, (self.done - 1) // self._per_part).open("ab")
        file = _part(self._path, part).open("r+b" if first else "wb")
        if first:
            file.seek(_header_end(file) + first * self._layout.image_bytes)
            file.truncate()
        else:
            shape = (min(self._per_part, self._images - self.done), *self._layout.shape)
            descr = np.lib.format.dtype_to_descr(np.dtype(self._layout.dtype))
            header = {"descr": descr, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
        return file

    def _written_images(self) -> int:
        """Return the number of images that an ended process has written; 0 where it was writing another array."""
        try:
            note = read_json(self._note)
            images = int(note.pop("images"))
            valid = note == self._array and 0 <= images <= self._images and self._are_files_complete(images)
            return images if valid else 0
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0

    def _are_files_complete(self, images: int) -> bool:
        """Return whether the files are long enough for this number of images."""
        for part in range(-(-images // self._per_part)):
            length = min(self._per_part, images - part * self._per_part)
            with _part(self._path, part).open("rb") as file:
                if os.fstat(file.fileno()).st_size < _header_end(file) + length * self._layout.image_bytes:
                    return False
        return True

    def _clear(self) -> None:
        """Delete all files of another array."""
        self._note.unlink(missing_ok=True)
        for file in (self._path, *self._path.parent.glob(f"{self._path.stem}-*{self._path.suffix}")):
            file.unlink(missing_ok=True)


def _part(path: Path, number: int) -> Path:
    """Return the file of a part of an array; the first one has the name of the array."""
    return path.with_name(f"{path.stem}-{number}{path.suffix}") if number else path


def _later_parts(path: Path) -> Iterator[Path]:
    """Return the files of an array after its first one."""
    for number in count(1):
        file = _part(path, number)
        if not file.is_file():
            return
        yield file


def _header_end(file: IO[bytes]) -> int:
    """Return the position where the header of an array's file ends.

    Raises:
        ValueError: there is no header.
    """
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    return file.tell()
