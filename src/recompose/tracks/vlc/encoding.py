"""Images and texts of suites as embeddings, each unique one once, in one pass that a killed process goes on with.

Texts stand by their length, see ``embeddings.longest_first``.
"""

import hashlib
import os
import re
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Literal, Protocol, cast

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from recompose.backbones.images import MAX_WORKERS
from recompose.data.paths import is_inside
from recompose.data.pictures import Picture
from recompose.digest import digest
from recompose.errors import DataError
from recompose.files import check_room, read_json, write_json
from recompose.fingerprint import fingerprint
from recompose.progress import SAY_EVERY, ProgressLogger
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.data.index import texts_of
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Similarity, Suite, Task
from recompose.tracks.vlc.embeddings import BLOCK, longest_first, of_length_1
from recompose.tracks.vlc.scores import BROKEN, Features

Precision = Literal["fp32", "fp16", "bf16"]
Preprocess = Callable[[Image.Image], Tensor]
IMAGES, TEXTS = "images.npy", "texts.npy"  # [rows, E] float32, each row of length 1
WRITTEN = "encoded.json"  # of which pass they are, and how many rows of them are there
KEEP_EVERY = 5.0  # seconds of work that a killed process loses
LIBRARIES = ("open_clip_torch", "pillow", "torch", "torchvision")  # another release may decode or encode otherwise
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


class Towers(Protocol):
    """What encodes: a model of open_clip, or a ``Backbone``, whose text tower computes no padding."""

    def encode_image(self, pixels: Tensor) -> Tensor: ...

    def encode_text(self, ids: Tensor) -> Tensor: ...


@dataclass(frozen=True)
class Broken:
    """An image that cannot be read."""

    picture: Picture
    why: str
    shown: str  # the first item that shows it


@dataclass(frozen=True)
class Encoded:
    """The embeddings of suites."""

    images: np.ndarray  # [pictures, E] float32, memory-mapped, each of length 1; NaN where one cannot be read
    texts: np.ndarray  # [texts, E] float32, memory-mapped, each of length 1
    picture_rows: Mapping[Picture, int]  # of those that tasks refer to
    text_rows: Mapping[str, int]
    broken: tuple[Broken, ...]

    def features(self, suite: Suite) -> Features:
        """The embeddings of one of the suites."""
        rows = dict(self.picture_rows) | {each.picture: BROKEN for each in self.broken}
        images = np.array([rows.get(picture, BROKEN) for picture in suite.images], dtype=np.int64)
        texts = np.array([self.text_rows[text] for text in suite.texts], dtype=np.int64)
        return Features(self.images, self.texts, images, texts)


@torch.no_grad()
def encode(
    model: nn.Module,
    preprocess: Preprocess,
    tokenizer: Tokenizer,
    suites: Sequence[Suite],
    root: Path,
    folder: Path,
    device: torch.device,
    *,
    precision: Precision = "fp32",
    batch_size: int = BLOCK,
    skip_broken: bool = False,
) -> Encoded:
    """The embeddings of all images and texts that the tasks of these suites refer to.

    They are kept below ``folder``: a killed process goes on where it was, and another one of the same model, images and
    texts has nothing left to do. Embeddings of anything else that are there are replaced.

    Args:
        model: with the towers of an open_clip model; it is moved to the device.
        preprocess: what the image tower takes of an image.
        tokenizer: what the text tower takes of texts, padded with zeros.
        suites: what is encoded, each image and text once over all of them.
        root: the folder of raw files.
        folder: where embeddings are kept.
        device: what to compute on.
        precision: of the towers' computation; embeddings come in 32 bits.
        batch_size: images or texts in one pass through a tower.
        skip_broken: go on where an image cannot be read, and name it in ``broken``.

    Raises:
        DataError: an image cannot be read, or an embedding is not finite.
        OSError: the disk has no room for the embeddings.
    """
    model = model.to(device).eval()
    pictures, texts = list(all_pictures(suites)), texts_of(suites)
    if not texts:
        raise DataError("these suites have no texts, and nothing that an image could go with")
    for picture in pictures if not skip_broken else ():
        if why := _unusable(root, picture.path):
            raise DataError(_said(_broken(suites, picture, why)))  # better now than after hours
    ids, order = longest_first(tokenizer, texts)
    texts = [texts[number] for number in order.tolist()]
    key = _key(model, preprocess, root, pictures, ids, precision)
    towers = cast(Towers, model)
    kept = _Kept(folder, key, {IMAGES: len(pictures), TEXTS: len(texts)}, lambda: _width(towers, ids, device))

    def on_device(encoder: Callable[[Tensor], Tensor], inputs: Tensor) -> np.ndarray:
        with torch.autocast(device.type, DTYPES[precision], enabled=precision != "fp32"):
            embeddings = encoder(inputs.to(device, non_blocking=True))
        return of_length_1(embeddings)

    for block in kept.blocks(TEXTS, batch_size):
        embeddings = on_device(towers.encode_text, ids[block].long())
        _check_finite(embeddings, [f"the text {text!r}" for text in texts[block]], precision)
        kept.append(TEXTS, embeddings)
    loader = _loader(pictures[kept.done[IMAGES] :], root, preprocess, batch_size, device)
    for block, (pixels, faults) in zip(kept.blocks(IMAGES, batch_size), loader, strict=True):
        if faults and not skip_broken:
            row = min(faults)
            raise DataError(_said(_broken(suites, pictures[block.start + row], faults[row])))
        fine = [row for row in range(block.stop - block.start) if row not in faults]
        embeddings = np.full((block.stop - block.start, kept.width), np.nan, dtype=np.float32)
        if fine:
            embeddings[fine] = on_device(towers.encode_image, pixels)
            shown = [pictures[block.start + row].path for row in fine]
            _check_finite(embeddings[fine], shown, precision)
        kept.append(IMAGES, embeddings, {block.start + row: why for row, why in faults.items()})
    kept.close()
    return Encoded(
        _read_only(folder / IMAGES),
        _read_only(folder / TEXTS),
        {picture: row for row, picture in enumerate(pictures)},
        {text: row for row, text in enumerate(texts)},
        tuple(_broken(suites, pictures[row], why) for row, why in sorted(kept.broken.items())),
    )


def all_pictures(suites: Iterable[Suite]) -> Iterator[Picture]:
    """The pictures that tasks refer to, each once, in the order of files."""
    shown = (suite.images[number] for suite in suites for task in suite.tasks.values() for number in _shown(task))
    yield from sorted({*shown}, key=lambda picture: (picture.path, picture.box or (), picture.squeezed))


def squeezed(preprocess: Preprocess) -> Preprocess:
    """The same preprocessing, with the whole image squeezed into the square in place of cropped to its middle.

    Raises:
        DataError: it neither crops to the middle nor squeezes as it is.
    """
    steps = getattr(preprocess, "transforms", [])
    sizes = [step.size for step in steps if isinstance(step, transforms.CenterCrop)]
    if not sizes and steps and isinstance(steps[0], transforms.Resize) and not isinstance(steps[0].size, int):
        return preprocess
    if len(sizes) != 1 or not isinstance(steps[0], transforms.Resize):
        raise DataError(f"a data set is not to be cropped, and it is not known how to do without in {preprocess}")
    resize = transforms.Resize(tuple(sizes[0]), interpolation=steps[0].interpolation)
    return transforms.Compose([resize, *(step for step in steps[1:] if not isinstance(step, transforms.CenterCrop))])


class _Pictures(Dataset[Any]):
    """Pictures as a tower takes them; in place of one that cannot be read, why."""

    def __init__(self, pictures: Sequence[Picture], root: Path, preprocess: Preprocess) -> None:
        self._pictures, self._root, self._preprocess = pictures, root, preprocess
        self._squeezed = squeezed(preprocess) if any(picture.squeezed for picture in pictures) else preprocess

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Tensor | str:
        picture = self._pictures[index]
        try:
            if why := _unusable(self._root, picture.path):
                raise DataError(why)
            image = picture.open(self._root)
        except DataError as error:
            return " ".join(str(error).split())
        return (self._squeezed if picture.squeezed else self._preprocess)(image)


def _loader(
    pictures: Sequence[Picture], root: Path, preprocess: Preprocess, batch_size: int, device: torch.device
) -> DataLoader[Any]:
    """Batches of what ``_Pictures`` gives. Ahead of a GPU processes decode; a CPU that encodes has no core to spare."""
    workers = 0 if device.type == "cpu" else min(os.cpu_count() or 1, MAX_WORKERS)
    return DataLoader(
        _Pictures(pictures, root, preprocess),
        batch_size=batch_size,
        num_workers=workers,
        collate_fn=_collated,
        pin_memory=device.type == "cuda",
        prefetch_factor=2 if workers else None,  # batches of 32 bits wait in shared memory
    )


def _collated(batch: list[Tensor | str]) -> tuple[Tensor, dict[int, str]]:
    """The pixels [readable, 3, height, width] of a batch, and why others have none, by their place in it."""
    pixels = [each for each in batch if isinstance(each, Tensor)]
    return torch.stack(pixels) if pixels else torch.empty(0), {
        place: each for place, each in enumerate(batch) if isinstance(each, str)
    }


def _unusable(root: Path, name: str) -> str:
    """What keeps a file from being an image, as far as its name says; empty where nothing does."""
    if not is_inside(name):
        return f"{name} is no path inside the folder of raw files"
    return "" if (root / name).is_file() else f"{root / name} is not there"


def _numbers(task: Task) -> np.ndarray:
    """The numbers of a task's images [items, ...]; ABSENT where there is none."""
    if isinstance(task, Choices):
        return task.asked if task.query == "i2t" else task.offered
    return np.empty((len(task.first), 0), dtype=np.int64) if isinstance(task, Similarity) else task.images


def _shown(task: Task) -> list[int]:
    """The numbers of the images that a task refers to, each once."""
    numbers = np.unique(_numbers(task))
    return numbers[numbers != ABSENT].tolist()


def _broken(suites: Sequence[Suite], picture: Picture, why: str) -> Broken:
    return Broken(picture, why, _first_item(suites, picture))


def _said(broken: Broken) -> str:
    return f"{broken.why}; first shown by {broken.shown}. Mend it, or leave out what shows it with --skip-broken"


def _first_item(suites: Sequence[Suite], picture: Picture) -> str:
    """The first item that shows an image, in words."""
    for suite in suites:
        numbers = [number for number, each in enumerate(suite.images) if each == picture]
        for name, task in suite.tasks.items():
            shown = _numbers(task)
            rows = np.isin(shown, numbers).reshape(len(shown), -1).any(axis=1)
            if rows.any():
                return f"item {int(rows.argmax())} (from 0) of {name}"
    return "no item"


def _width(towers: Towers, ids: Tensor, device: torch.device) -> int:
    """E, the width of the joint space."""
    return int(towers.encode_text(ids[-1:].long().to(device)).shape[1])


def _key(
    model: nn.Module, preprocess: Preprocess, root: Path, pictures: Sequence[Picture], ids: Tensor, precision: Precision
) -> str:
    """The digest of what is encoded, by what. A file is told by its size and the time of its last change: one that is
    replaced is encoded anew.
    """

    def state(path: str) -> tuple[int, int]:
        try:
            found = (root / path).stat()
        except OSError:
            return 0, 0
        return found.st_size, found.st_mtime_ns

    shown = [[each.path, each.box, each.squeezed, *state(each.path)] for each in pictures]
    tokens = hashlib.sha256(ids.numpy().tobytes()).hexdigest()
    code = [fingerprint([__name__]), *(version(name) for name in LIBRARIES)]
    return digest([_model_digest(model), _words(preprocess), precision, tokens, shown, code])


def _model_digest(model: nn.Module) -> str:
    """The digest of a model's weights and of what it is built of."""
    state = hashlib.sha256(_words(model).encode())
    for name, tensor in sorted(model.state_dict().items()):
        state.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        state.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return state.hexdigest()


def _words(thing: object) -> str:
    """What something says of itself, without where it is in memory."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(thing))


def _check_finite(embeddings: np.ndarray, names: Sequence[str], precision: Precision) -> None:
    broken = ~np.isfinite(embeddings).all(axis=1)
    if broken.any():
        remedy = "are these the model's weights?" if precision == "fp32" else "compute in --precision fp32"
        raise DataError(f"{names[int(broken.argmax())]} has an embedding in {precision} that is not finite: {remedy}")


class _Kept:
    """Embeddings in files as far as they are there, and how far that is: ``done`` rows of each."""

    def __init__(self, folder: Path, key: str, rows: Mapping[str, int], width: Callable[[], int]) -> None:
        self._written, self._key, self._rows = folder / WRITTEN, key, rows
        folder.mkdir(parents=True, exist_ok=True)
        document = _read_written(self._written, key, [folder / name for name in rows])
        self.width: int = document["width"] if document else width()
        self.done: dict[str, int] = document["done"] if document else dict.fromkeys(rows, 0)
        self.broken: dict[int, str] = {int(row): why for row, why in document["broken"].items()} if document else {}
        if not document:
            self._written.unlink(missing_ok=True)
            _make_room(folder, 4 * self.width * sum(rows.values()), rows)
        self._arrays = {name: _array(folder / name, (count, self.width), not document) for name, count in rows.items()}
        self._last, self._paces, self._told = time.monotonic(), dict[str, ProgressLogger](), time.monotonic()

    def blocks(self, name: str, size: int) -> Iterator[slice]:
        """The rows that are to come, so many at a time."""
        if self.done[name] < self._rows[name]:
            self._paces[name] = ProgressLogger(name.partition(".")[0], "row", self._rows[name], self.done[name])
        for start in range(self.done[name], self._rows[name], size):
            yield slice(start, min(start + size, self._rows[name]))

    def append(self, name: str, block: np.ndarray, broken: Mapping[int, str] | None = None) -> None:
        """Write the next rows."""
        start = self.done[name]
        self._arrays[name][start : start + len(block)] = block
        self.done[name] = start + len(block)
        self.broken |= broken or {}
        now = time.monotonic()
        if now - self._last >= KEEP_EVERY or self.done[name] == self._rows[name]:
            self._keep()
            self._last = now
        if now - self._told > SAY_EVERY:
            self._paces[name].at(self.done[name])
            self._told = now

    def close(self) -> None:
        """Say that all is there, also where there was nothing to do."""
        self._keep()

    def _keep(self) -> None:
        """Bring the rows to the disk, then how many they are."""
        for array in self._arrays.values():
            if isinstance(array, np.memmap):
                array.flush()
        broken = {str(row): why for row, why in self.broken.items()}
        write_json(self._written, {"key": self._key, "width": self.width, "done": self.done, "broken": broken})


def _read_written(path: Path, key: str, files: Sequence[Path]) -> dict[str, Any] | None:
    """What a pass of this key has left; nothing where there was none, or it is not whole."""
    try:
        document: dict[str, Any] = read_json(path)
        return document if document["key"] == key and all(file.is_file() for file in files) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _read_only(path: Path) -> np.ndarray:
    """Rows, memory-mapped; none cannot be mapped."""
    try:
        rows: np.ndarray = np.load(path, mmap_mode="r", allow_pickle=False)
    except ValueError:
        rows = np.load(path, allow_pickle=False)
    return rows


def _array(path: Path, shape: tuple[int, int], new: bool) -> np.ndarray:
    if new and not shape[0]:
        np.save(path, np.zeros(shape, dtype=np.float32))
    if not shape[0]:
        return np.zeros(shape, dtype=np.float32)
    mode: Any = "w+" if new else "r+"
    return np.lib.format.open_memmap(path, mode=mode, dtype=np.float32, shape=shape)


def _make_room(folder: Path, needed: int, replaced: Iterable[str]) -> None:
    """Remove what is replaced.

    Raises:
        OSError: there is not enough room even so.
    """
    for name in replaced:
        (folder / name).unlink(missing_ok=True)
    check_room(folder, needed)
