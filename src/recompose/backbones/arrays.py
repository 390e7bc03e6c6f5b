"""Arrays of many images: written a block at a time, so that the next process goes on where one was ended, and read
memory-mapped. Imported without torch.

An array [images, ...] lies in files of at most ``PART`` bytes: ``grids.npy``, and what is more than that in
``grids-1.npy``, ``grids-2.npy`` and so on. A transfer that breaks off then repeats a part, not 28 GiB.
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
WRITTEN = "written.json"  # in scratch: of which array how many images are on the disk
KEEP_EVERY = 5.0  # seconds of work that a process may lose that is ended


@dataclass(frozen=True)
class Layout:
    """An array of images before it is there: its file, and the type and shape of what it holds of an image."""

    file: str
    dtype: str
    shape: tuple[int, ...]

    @property
    def image_bytes(self) -> int:
        """What an image takes."""
        return np.dtype(self.dtype).itemsize * prod(self.shape)

    @property
    def images_per_part(self) -> int:
        """The images that each file but the last one holds."""
        return max(1, PART // max(1, self.image_bytes))


def pixels_layout(height: int, width: int) -> Layout:
    """Images as bytes."""
    return Layout("pixels.npy", "uint8", (3, height, width))


def embeddings_layout(width: int) -> Layout:
    """Images as a tower embeds them, in 16 bits."""
    return Layout("embeddings.npy", "float16", (width,))


def grids_layout(regions: int, channels: int) -> Layout:
    """Images as grids of regions, in 16 bits."""
    return Layout("grids.npy", "float16", (regions, channels))


class ShardedArray:
    """An array [images, ...] in one file or several, of which indexing reads the images that are asked for.

    Args:
        parts: of the array, all but the last one of the same number of images.
        dtype: what images are given as, such as 32 bits of what is kept in 16; None: as they are kept.

    Example:
        >>> stack = ShardedArray([np.arange(6).reshape(3, 2), np.arange(6, 10).reshape(2, 2)])
        >>> stack.shape, stack[np.array([4, 0])].tolist(), stack[-2].tolist(), len(stack[1:])
        ((5, 2), [[8, 9], [0, 1]], [6, 7], 4)
    """

    def __init__(self, parts: Sequence[np.ndarray], dtype: Any = None) -> None:
        self._parts = [np.asarray(part) for part in parts]  # of mapped files plain views, which are indexed faster
        self.shape = (sum(map(len, parts)), *parts[0].shape[1:])
        self.dtype = np.dtype(dtype or parts[0].dtype)
        self._positions = np.arange(len(self))
        self._path: Path | None = None

    @classmethod
    def read(cls, path: Path, dtype: Any = None) -> "ShardedArray":
        """The array whose first file this is, memory-mapped: give it one in a folder that the store has verified.

        Raises:
            DataError: its files do not go together.
        """
        files = [path, *_further(path)]
        parts = [np.load(file, mmap_mode="r", allow_pickle=False) for file in files]
        for file, part in zip(files, parts, strict=True):
            alike = (part.dtype, part.shape[1:]) == (parts[0].dtype, parts[0].shape[1:])
            whole = len(part) == len(parts[0]) or (file == files[-1] and len(part) < len(parts[0]))
            if not (alike and whole):
                raise DataError(f"{file} holds {part.dtype} {list(part.shape)}, with which {path} does not go on")
        stack = cls(parts, dtype)
        stack._path = path
        return stack

    def __reduce__(self) -> tuple[Any, ...]:
        """What another process is sent: of files their name, as it maps them itself."""
        return (
            (ShardedArray.read, (self._path, self.dtype)) if self._path else (ShardedArray, (self._parts, self.dtype))
        )

    def __len__(self) -> int:
        return int(self.shape[0])

    def __getitem__(self, images: Any) -> np.ndarray:
        """The image at a position, or those of a slice or an array of positions, in memory."""
        places = self._positions[images]
        rows = np.empty((places.size, *self.shape[1:]), dtype=self.dtype)
        in_part = max(1, len(self._parts[0]))
        for row, place in enumerate(places.reshape(-1).tolist()):  # one by one: each is copied once
            rows[row] = self._parts[place // in_part][place % in_part]
        return rows.reshape(*places.shape, *self.shape[1:])


class Unfinished:
    """An array of images as far as it is written; the next process goes on there. A context, at whose end all that was
    appended is on the disk.

    What is on the disk is noted in the folder's ``scratch``, and only then: what a process that is ended had written
    besides, the next one writes again. What was begun as another array is begun anew.

    Raises:
        OSError: the disk has no room for what is to come.
    """

    def __init__(self, folder: Path, layout: Layout, images: int) -> None:
        self._path, self._note = folder / layout.file, folder / SCRATCH / WRITTEN
        self._layout, self._images, self._in_part = layout, images, layout.images_per_part
        self._array = {
            "file": layout.file,
            "type": layout.dtype,
            "shape": [images, *layout.shape],
            "part": self._in_part,
        }
        self.done = self._found()
        if not self.done:
            self._clear()
        self._say_size()
        check_room(folder, (images - self.done) * layout.image_bytes)
        self._pace, self._told = ProgressLogger(self._path.stem, "image", images, self.done), time.monotonic()

    def _say_size(self) -> None:
        size = self._images * self._layout.image_bytes
        read = f"{size / 2**30:.1f} GiB" if size >= 2**30 else f"{size / 2**20:.1f} MiB"
        there = f", of which {self.done} are there" if self.done else ""
        say(f"{self._layout.file}: {self._images} images of {self._layout.image_bytes:,} bytes, {read}{there}")

    def __enter__(self) -> Self:
        self._file = self._open()
        self._kept = time.monotonic()
        return self

    def __exit__(self, *_: object) -> None:
        with self._file:
            self._keep()

    def append(self, block: np.ndarray) -> None:
        """Write the next images [block, ...].

        Raises:
            DataError: they are not finite, or too large for what they are kept as.
            OSError: the disk is full.
        """
        rows = self._kept_as(block)
        while len(rows):
            rows = rows[self._write(rows) :]
        now = time.monotonic()
        if now - self._kept > KEEP_EVERY:
            self._keep()
            self._kept = now
        if now - self._told > SAY_EVERY:
            self._pace.at(self.done)
            self._told = now

    def _kept_as(self, block: np.ndarray) -> np.ndarray:
        with np.errstate(over="ignore"):
            rows: np.ndarray = np.ascontiguousarray(block, dtype=self._layout.dtype)
        finite = np.isfinite(rows).reshape(len(rows), -1).all(axis=1) if rows.dtype.kind == "f" else np.array([True])
        if not finite.all():
            image, bits = self.done + int(finite.argmin()), 8 * rows.itemsize
            raise DataError(f"{self._path.stem} of image {image}, from 0, are not finite in {bits} bits")
        return rows

    def _write(self, rows: np.ndarray) -> int:
        """Write as many of these images as the current file still takes; gives how many those are."""
        if self.done and not self.done % self._in_part:
            self._keep()
            self._file.close()
            self._file = self._open()
        rows = rows[: self._in_part - self.done % self._in_part]
        self._file.write(rows.data)
        self.done += len(rows)
        return len(rows)

    def _keep(self) -> None:
        """See that all is on the disk, then note that it is."""
        self._file.flush()
        os.fsync(self._file.fileno())
        write_json(self._note, {**self._array, "images": self.done})

    def _open(self) -> IO[bytes]:
        """The file that the next image goes to, cut off behind the images that are there; of a whole array the last."""
        part, first = divmod(self.done, self._in_part)
        if self.done and self.done == self._images:
            return _part(self._path, (self.done - 1) // self._in_part).open("ab")
        file = _part(self._path, part).open("r+b" if first else "wb")
        if first:
            file.seek(_header_end(file) + first * self._layout.image_bytes)
            file.truncate()
        else:
            shape = (min(self._in_part, self._images - self.done), *self._layout.shape)
            descr = np.lib.format.dtype_to_descr(np.dtype(self._layout.dtype))
            header = {"descr": descr, "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(file, header)
        return file

    def _found(self) -> int:
        """How many images an ended process has written; none where it was about to write another array."""
        try:
            note = read_json(self._note)
            images = int(note.pop("images"))
            return images if note == self._array and 0 <= images <= self._images and self._holds(images) else 0
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return 0

    def _holds(self, images: int) -> bool:
        """Whether the files are as long as so many images need."""
        for part in range(-(-images // self._in_part)):
            in_it = min(self._in_part, images - part * self._in_part)
            with _part(self._path, part).open("rb") as file:
                if os.fstat(file.fileno()).st_size < _header_end(file) + in_it * self._layout.image_bytes:
                    return False
        return True

    def _clear(self) -> None:
        """Leave nothing of another array."""
        self._note.unlink(missing_ok=True)
        for file in (self._path, *self._path.parent.glob(f"{self._path.stem}-*{self._path.suffix}")):
            file.unlink(missing_ok=True)


def _part(path: Path, number: int) -> Path:
    """The file of a part of an array, whose first one is called as the array is."""
    return path.with_name(f"{path.stem}-{number}{path.suffix}") if number else path


def _further(path: Path) -> Iterator[Path]:
    """The files of an array behind its first one."""
    for number in count(1):
        file = _part(path, number)
        if not file.is_file():
            return
        yield file


def _header_end(file: IO[bytes]) -> int:
    """Where the header of an array's file ends.

    Raises:
        ValueError: it has none.
    """
    np.lib.format.read_magic(file)
    np.lib.format.read_array_header_1_0(file)
    return file.tell()
