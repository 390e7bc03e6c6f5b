"""Encoding of the distinct images and texts of suites, in one pass that resumes after a kill.

Texts are sorted by length, see ``embeddings.longest_first``.
"""

import hashlib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset
from torchvision import transforms

from recompose.backbones.arrays import ArrayWriter
from recompose.backbones.pixels import MAX_WORKERS
from recompose.cores import usable_cores
from recompose.data.paths import is_inside
from recompose.data.pictures import Picture, check_resize
from recompose.digest import digest
from recompose.errors import DataError
from recompose.files import fresh_folder, read_json, write_json
from recompose.harness.evaluation import Precision
from recompose.harness.own_model import SIDE
from recompose.progress import say
from recompose.recipes.fingerprint import fingerprint
from recompose.tracks.vlc.building import Tokenizer
from recompose.tracks.vlc.data.index import texts_of
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.embeddings import BLOCK, longest_first, normalized
from recompose.tracks.vlc.suites.scores import BROKEN, Features
from recompose.tracks.vlc.suites.tasks import ABSENT

Preprocess = Callable[[Image.Image], Tensor]
ROWS = "embeddings.npy"  # [texts + pictures, E] float32, each row of length 1
NOTE = "encoded.json"  # the key of the pass, the width of embeddings, and unreadable images by their places
LIBRARIES = ("open_clip_torch", "pillow", "torch", "torchvision")  # another release may decode or encode differently
DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}


@dataclass(frozen=True)
class Broken:
    """An unreadable image."""

    picture: Picture
    reason: str
    first_item: str  # that shows the image


@dataclass(frozen=True)
class Encoded:
    """The embeddings of suites."""

    images: np.ndarray  # [pictures, E] float32, memory-mapped, each of length 1; zeros for an unreadable image
    texts: np.ndarray  # [texts, E] float32, memory-mapped, each of length 1
    picture_rows: Mapping[Picture, int]  # of the pictures in tasks
    text_rows: Mapping[str, int]
    broken: tuple[Broken, ...]

    def features(self, suite: Suite) -> Features:
        """Return the embeddings of one of the suites."""
        rows = dict(self.picture_rows) | {broken.picture: BROKEN for broken in self.broken}
        return suite.features(self.images, self.texts, rows, self.text_rows)


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
    identity: str = "",
) -> Encoded:
    """Encode all images and texts in the tasks of these suites.

    The embeddings are stored in ``folder``: a process that was killed resumes, and a finished pass of the same model,
    images and texts is reused. Any other embeddings there are replaced. No other process may write into the folder.

    Args:
        model: with the towers of an open_clip model, or a ``Backbone``, whose text tower skips padding; it is moved to
            the device.
        preprocess: of images, for the image tower.
        tokenizer: of texts, for the text tower, padded with zeros.
        suites: the suites; each distinct image and text is encoded once.
        root: the folder of raw files.
        folder: the folder of the embeddings.
        device: the device to compute on.
        precision: of the towers' computation; embeddings are stored in 32 bits.
        batch_size: images or texts in one pass through a tower.
        skip_broken: continue past unreadable images, and list them in ``broken``.
        identity: of the model and what it computes, beside its weights, its modules and this preprocessing.

    Raises:
        DataError: an image cannot be read, or an embedding is not finite.
        OSError: the disk has no room for the embeddings.
    """
    towers: Any = model.to(device).eval()
    pictures, texts = list(all_pictures(suites)), texts_of(suites)
    if not texts:
        raise DataError("these suites have no texts", code="no-items", place="texts")
    for picture in pictures if not skip_broken else ():
        if reason := _path_problem(root, picture.path):
            raise broken_error(suites, picture, reason)  # better now than after hours
    ids, order = longest_first(tokenizer, texts)
    texts = [texts[number] for number in order.tolist()]

    def encode_texts(block: slice) -> np.ndarray:
        names = [f"the text {text!r}" for text in texts[block]]
        return _embeddings(towers.encode_text, ids[block].long().to(device), names, precision)

    key = _key(model, preprocess, root, pictures, ids, precision, identity)
    if (state := _state_of(folder, key)) is None:
        width = encode_texts(slice(-1, None)).shape[1]
        state = {"key": key, "width": width, "broken": {}}
        write_json(fresh_folder(folder) / NOTE, state)  # what is replaced makes room
    broken: dict[str, str] = state["broken"]
    say(f"{len(texts):,} texts and {len(pictures):,} images are encoded")
    with ArrayWriter(folder / ROWS, (len(texts) + len(pictures), state["width"]), "float32") as written:
        for start in range(written.done, len(texts), batch_size):
            written.append(encode_texts(slice(start, start + batch_size)))
        remaining = pictures[written.done - len(texts) :]
        for pixels, faults in _loader(remaining, root, preprocess, batch_size, device):
            first = written.done - len(texts)
            batch = pictures[first : first + batch_size]
            if faults and not skip_broken:
                row = min(faults)
                raise broken_error(suites, batch[row], faults[row])
            embeddings = np.zeros((len(batch), state["width"]), dtype=np.float32)
            readable = [row for row in range(len(batch)) if row not in faults]
            if readable:
                pixels, names = pixels.to(device, non_blocking=True), [batch[row].path for row in readable]
                embeddings[readable] = _embeddings(towers.encode_image, pixels, names, precision)
            if faults:  # they are recorded before their rows
                broken |= {str(first + row): reason for row, reason in faults.items()}
                write_json(folder / NOTE, state)
            written.append(embeddings)
    stored = np.load(folder / ROWS, mmap_mode="r")
    return Encoded(
        stored[len(texts) :],
        stored[: len(texts)],
        {picture: row for row, picture in enumerate(pictures)},
        {text: row for row, text in enumerate(texts)},
        tuple(_broken(suites, pictures[row], broken[str(row)]) for row in sorted(map(int, broken))),
    )


def _embeddings(
    encoder: Callable[[Tensor], Tensor], inputs: Tensor, names: Sequence[str], precision: Precision
) -> np.ndarray:
    """Return the embeddings of texts or images, each of length 1: [inputs, E] float32.

    Raises:
        DataError: one is not finite; the message has its name.
    """
    with torch.autocast(inputs.device.type, DTYPES[precision], enabled=precision != "fp32"):
        embeddings = encoder(inputs)
    rows = normalized(embeddings)
    broken = ~np.isfinite(rows).all(axis=1)
    if broken.any():
        remedy = "are these the model's weights?" if precision == "fp32" else "compute in --precision fp32"
        message = f"{names[int(broken.argmax())]} has an embedding in {precision} that is not finite: {remedy}"
        raise DataError(message, code="infinite-embedding", place=names[int(broken.argmax())])
    return rows


def all_pictures(suites: Iterable[Suite]) -> Iterator[Picture]:
    """Yield the distinct pictures in tasks, in the order of files."""
    pictures = {
        suite.images[number]
        for suite in suites
        for task in suite.tasks.values()
        for number in np.unique(task.image_numbers).tolist()
        if number != ABSENT
    }
    yield from sorted(pictures, key=lambda picture: (picture.path, picture.box or (), picture.squeezed))


def without_crop(preprocess: Preprocess) -> Preprocess:
    """Return the preprocessing with a resize of the whole image to the square in place of a centre crop.

    Raises:
        DataError: the preprocessing neither crops the centre nor resizes to a square.
    """
    steps = getattr(preprocess, "transforms", [])
    sizes = [step.size for step in steps if isinstance(step, transforms.CenterCrop)]
    if not sizes and steps and isinstance(steps[0], transforms.Resize) and not isinstance(steps[0].size, int):
        return preprocess
    if len(sizes) != 1 or not isinstance(steps[0], transforms.Resize):
        message = f"a data set must not be cropped, but the crop cannot be removed from {preprocess}"
        raise DataError(message, code="unknown-crop", place="preprocess")
    resize = transforms.Resize(tuple(sizes[0]), interpolation=steps[0].interpolation)
    return transforms.Compose([resize, *(step for step in steps[1:] if not isinstance(step, transforms.CenterCrop))])


class _Pictures(Dataset[Any]):
    """Preprocessed pictures; an unreadable one is replaced by the reason."""

    def __init__(self, pictures: Sequence[Picture], root: Path, preprocess: Preprocess) -> None:
        self._pictures, self._root, self._preprocess = pictures, root, preprocess
        self._squeeze = without_crop(preprocess) if any(picture.squeezed for picture in pictures) else preprocess
        self._size = max(preprocess(Image.new("RGB", (SIDE, SIDE))).shape[-2:])  # about that of its resize

    def __len__(self) -> int:
        return len(self._pictures)

    def __getitem__(self, index: int) -> Tensor | str:
        picture = self._pictures[index]
        try:
            if reason := _path_problem(self._root, picture.path):
                raise DataError(reason)
            image = picture.open(self._root)
            check_resize(image, self._size, self._root / picture.path, squeezed=picture.squeezed)
        except DataError as error:
            return " ".join(str(error).split())
        return (self._squeeze if picture.squeezed else self._preprocess)(image)


def _loader(
    pictures: Sequence[Picture], root: Path, preprocess: Preprocess, batch_size: int, device: torch.device
) -> DataLoader[Any]:
    """Return batches of ``_Pictures``; worker processes decode for a GPU, but compete with a CPU that encodes."""
    workers = 0 if device.type == "cpu" else min(usable_cores(), MAX_WORKERS)
    return DataLoader(
        _Pictures(pictures, root, preprocess),
        batch_size=batch_size,
        num_workers=workers,
        collate_fn=_collate,
        pin_memory=device.type == "cuda",
        prefetch_factor=2 if workers else None,  # batches of 32 bits wait in shared memory
    )


def _collate(batch: list[Tensor | str]) -> tuple[Tensor, dict[int, str]]:
    """Return the pixels [readable, 3, height, width] of a batch, and the reasons of unreadable images by place."""
    pixels = [entry for entry in batch if isinstance(entry, Tensor)]
    reasons = {place: entry for place, entry in enumerate(batch) if isinstance(entry, str)}
    return torch.stack(pixels) if pixels else torch.empty(0), reasons


def _path_problem(root: Path, name: str) -> str:
    """Return the problem with an image's path, or an empty string."""
    if not is_inside(name):
        return f"{name} is no path inside the folder of raw files"
    return "" if (root / name).is_file() else f"{root / name} does not exist"


def _broken(suites: Sequence[Suite], picture: Picture, reason: str) -> Broken:
    """Return an unreadable image with the first item that shows it, in words."""
    for suite in suites:
        same = [number for number, image in enumerate(suite.images) if image == picture]
        for name, task in suite.tasks.items():
            numbers = task.image_numbers
            rows = np.isin(numbers, same).reshape(len(numbers), -1).any(axis=1)
            if rows.any():
                return Broken(picture, reason, f"item {int(rows.argmax())} (from 0) of {name}")
    return Broken(picture, reason, "no item")


def broken_error(suites: Sequence[Suite], picture: Picture, reason: str) -> DataError:
    """Return the error of an unreadable image, with the first item that shows it, and the remedy."""
    first = _broken(suites, picture, reason).first_item
    message = f"{reason}; first shown by {first}. Repair it, or leave out its items with --skip-broken"
    return DataError(message, code="broken-image", place=f"{picture.path}, {first}")


def _key(
    model: nn.Module,
    preprocess: Preprocess,
    root: Path,
    pictures: Sequence[Picture],
    ids: Tensor,
    precision: Precision,
    identity: str,
) -> str:
    """Return the digest of all inputs of a pass.

    A file is identified by its size and modification time, so that a replaced file is encoded again.
    """

    def state(path: str) -> tuple[int, int]:
        try:
            status = (root / path).stat()
        except OSError:
            return 0, 0
        return status.st_size, status.st_mtime_ns

    images = [[picture.path, picture.box, picture.squeezed, *state(picture.path)] for picture in pictures]
    tokens = hashlib.sha256(ids.numpy().tobytes()).hexdigest()
    code = [fingerprint([__name__]), *(version(name) for name in LIBRARIES)]
    return digest([identity, _model_digest(model), _stable_repr(preprocess), precision, tokens, images, code])


def _model_digest(model: nn.Module) -> str:
    """Return the digest of a model's weights and modules."""
    state = hashlib.sha256(_stable_repr(model).encode())
    for name, tensor in sorted(model.state_dict().items()):
        state.update(f"{name} {tensor.dtype} {list(tensor.shape)}".encode())
        state.update(tensor.detach().cpu().contiguous().flatten().view(torch.uint8).numpy())
    return state.hexdigest()


def _stable_repr(instance: object) -> str:
    """Return an object's representation without memory addresses."""
    return re.sub(r" at 0x[0-9a-f]+", "", repr(instance))


def _state_of(folder: Path, key: str) -> dict[str, Any] | None:
    """Return the state of a pass with this key in a folder; None: there is none."""
    try:
        state = dict(read_json(folder / NOTE))
    except (OSError, ValueError, TypeError):
        return None
    return state if state.get("key") == key else None
