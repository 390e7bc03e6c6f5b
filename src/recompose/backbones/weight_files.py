"""Weights of networks in files as people have them.

A file is safetensors, compact or not, or one that torch wrote. It holds tensors by names, below the keys of a training
(``state_dict``, ``ema``), and behind the prefixes of what wrapped the network (``module.``, ``_orig_mod.``,
``model.``). All of these are beginnings of names: the weights are the tensors whose names end in those of the network.
Where a file has them twice, as trained and as averaged, ``part`` says which.
"""

import re
import zipfile
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from pickle import UnpicklingError
from typing import Any, BinaryIO

import torch
from open_clip.convert import convert_state_dict
from torch import Tensor, nn

from recompose.backbones.compact import read_weights
from recompose.data.foreign_files import reason_of
from recompose.errors import DataError

State = Mapping[str, Tensor]  # by name
TOP = "."  # in place of a part: the weights that no key and no prefix precede
DEEPEST = 6  # keys above a tensor
SHOWN = 3  # names in a message, each of at most
LONGEST = 80  # characters
WRAPPERS = ("module", "_orig_mod", "_fsdp_wrapped_module", "_checkpoint_wrapped_module")  # of torch, anywhere in a name
NO_WEIGHTS = {"input_resolution", "context_length", "vocab_size", "position_ids"}  # constants stored as tensors
COUNTER = "num_batches_tracked"  # torch adds it where it is absent
_WRAPPER = re.compile(rf"(?<![^./])({'|'.join(WRAPPERS)})\.")


def misfit(tensors: State, expected: State, required: Collection[str]) -> str:
    """Return how tensors differ from those that a network takes, with names on both sides; empty if they fit.

    Args:
        tensors: by the network's names.
        expected: what the network takes.
        required: the names of those that must be there.

    Example:
        >>> one, two = torch.zeros(1), torch.zeros(2)
        >>> misfit({"a": one, "b": one}, {"b": two, "c": two}, ["b", "c"])
        'it lacks c, and it has a instead, and b differ in size ([1], not [2])'
        >>> misfit({"b": two}, {"b": two, "c": two}, ["b"])
        ''
    """
    missing, surplus = sorted({*required} - tensors.keys()), sorted(tensors.keys() - expected.keys())
    shared = sorted(tensors.keys() & expected.keys())
    resized = [name for name in shared if tensors[name].shape != expected[name].shape]
    faults = [f"it lacks {abridged(missing)}"] if missing else []
    if surplus:
        faults.append(f"it has {abridged(surplus)}{' instead' if missing else ', which are not expected'}")
    if resized:
        sizes = f"{[*tensors[resized[0]].shape]}, not {[*expected[resized[0]].shape]}"
        faults.append(f"{abridged(resized)} differ in size ({sizes})")
    return ", and ".join(faults)


def abridged(names: Collection[str]) -> str:
    """Return the first names of a list, and the number of the others.

    >>> abridged(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    first = [name[:LONGEST] for name in [*names][:SHOWN]]
    more = len(names) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def load_weights(
    network: nn.Module, path: Path, title: str, *, trusted: bool = False, part: str | None = None
) -> tuple[str, ...]:
    """Load a file's weights into a network.

    Args:
        network: takes the weights.
        path: the file.
        title: the architecture's name, for messages.
        trusted: the file may hold code, which is run: its digest is that of a known one.
        part: the key or prefix of the weights, where a file has them several times; ``TOP``: those without.

    Returns:
        the names of tensors beside the weights, behind another prefix or none, which are left out.

    Raises:
        DataError: the file cannot be read safely, has no weights of this network, or has them several times.
    """
    expected = network.state_dict()
    tensors = {_WRAPPER.sub("", name): tensor for name, tensor in read_tensors(path, trusted=trusted).items()}
    own = {_WRAPPER.sub("", name): name for name in expected}
    required = {name for name in own if not name.endswith(COUNTER)}
    tensors = convert_state_dict(network, tensors)
    prefix = _prefix(_ends(tensors, own), required, path, part)
    inside = {name: name[len(prefix) :].replace("/", ".") for name in tensors if name.startswith(prefix)}
    groups = {_group(name) for name, end in inside.items() if end in own}
    passing = {name for name, _ in network.named_buffers()} | NO_WEIGHTS
    state = {
        own.get(end, end): _as_expected(tensors[name], expected.get(own.get(end, end)))
        for name, end in inside.items()
        if end in own or (_group(name) in groups and passing.isdisjoint((end, end.rpartition(".")[2])))
    } or dict(tensors)
    if fault := misfit(state, expected, {own[name] for name in required}):
        message = f"{path} does not hold weights of {title}: {fault}"
        raise DataError(message, code="other-architecture", place=path)
    network.load_state_dict(state)
    return tuple(name for name in tensors if name not in inside and _group(name) in groups)


def _group(name: str) -> str:
    """Return the keys of the mapping that holds a tensor."""
    return name.rpartition("/")[0]


def _ends(names: Collection[str], own: Collection[str]) -> dict[str, set[str]]:
    """Return the names of a network that names of a file end in, by what precedes them."""
    ends: dict[str, set[str]] = defaultdict(set)
    for name in names:
        for start in (0, *(separator.end() for separator in re.finditer(r"[./]", name))):
            if (end := name[start:].replace("/", ".")) in own:
                ends[name[:start]].add(end)
    return ends


def _prefix(ends: Mapping[str, set[str]], required: set[str], path: Path, part: str | None) -> str:
    """Return what precedes the weights; of several incomplete ones, that of most."""
    labels = {prefix: prefix.strip("./") or TOP for prefix in ends}
    complete = [prefix for prefix, names in ends.items() if required <= names]
    candidates = [prefix for prefix in ends if labels[prefix] == part] if part else complete
    if part and not candidates:
        there = ", ".join(labels[prefix] for prefix in complete) or "no key or prefix"
        raise DataError(
            f"{path} has no part '{part}'; whole weights are below {there}", code="unknown-part", place=path
        )
    if len(candidates) > 1:
        there = " and below ".join(labels[prefix] for prefix in candidates)
        message = f"{path} holds weights below {there}: choose one, with --part of `recompose evaluate`"
        raise DataError(message, code="several-weights", place=path)
    return max(candidates or ends, key=lambda prefix: len(ends[prefix]), default="")


def _as_expected(tensor: Tensor, expected: Tensor | None) -> Tensor:
    """Return a single number in the shape that is expected: [] and [1] are written for the same."""
    return (
        tensor.reshape(expected.shape) if expected is not None and tensor.numel() == expected.numel() == 1 else tensor
    )


# files


def read_tensors(path: Path, *, trusted: bool = False) -> dict[str, Tensor]:
    """Read all tensors of a file by their names: keys end in a slash, modules in a dot.

    No code in a file is run: objects of other classes than plain ones are left out.

    Args:
        path: the file; its name does not matter.
        trusted: a TorchScript archive, which is code, is read, too.

    Raises:
        DataError: the file holds no tensors by name, or cannot be read safely.
    """
    try:
        if _is_safetensors(path):
            return read_weights(path)
        if _is_torchscript(path):
            return _tensors_of_code(path, trusted)
        content, classes = _load_plain(path)
        tensors = dict(_named(content))
    except DataError:
        raise
    except Exception as error:  # a damaged or hostile file can raise any exception
        message = f"{path} is no checkpoint: {reason_of(path, error)}"
        raise DataError(message, code="unreadable-weights", place=path) from None
    if not tensors:
        beside = f"; objects of {abridged(classes)} are not read: save the network's state_dict()" if classes else ""
        raise DataError(f"{path} holds no weights by name{beside}", code="no-weights", place=path)
    return tensors


def _is_safetensors(path: Path) -> bool:
    """Return True if a file begins with the length of a JSON object and that object."""
    with path.open("rb") as file:
        return file.read(9)[8:] == b"{"


def _is_torchscript(path: Path) -> bool:
    """Return True if a file is an archive that holds code."""
    if not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return any(re.match(r"[^/]+/code/", name) for name in archive.namelist())


def _tensors_of_code(path: Path, trusted: bool) -> dict[str, Tensor]:
    if not trusted:
        message = (
            f"{path} is a TorchScript archive, which is code, and not one that OpenAI published. If you trust it, this "
            f"writes its weights alone: `torch.save(torch.jit.load({str(path)!r}).state_dict(), 'weights.pt')`"
        )
        raise DataError(message, code="weights-with-code", place=path)
    return dict(torch.jit.load(path, map_location="cpu").state_dict())


class _Object:
    """A replacement of an object of a class that is not plain data, which is left out."""

    def __new__(cls, *_: Any, **__: Any) -> "_Object":
        return super().__new__(cls)

    def __init__(self, *_: Any, **__: Any) -> None:
        pass

    def __setstate__(self, state: Any) -> None:
        pass


def _load_plain(path: Path) -> tuple[Any, list[str]]:
    """Return the content of a file of torch, and the names of classes and functions that are replaced in it."""
    with path.open("rb") as file:  # by a path, torch goes by its suffix
        try:
            return torch.load(file, map_location="cpu", weights_only=True), []
        except UnpicklingError:
            if zipfile.is_zipfile(file):
                with suppress(UnpicklingError):
                    return _load_replaced(file)
            raise


def _load_replaced(file: BinaryIO) -> tuple[Any, list[str]]:
    file.seek(0)
    names = sorted(torch.serialization.get_unsafe_globals_in_checkpoint(file))
    file.seek(0)
    with torch.serialization.safe_globals([(type("Replaced", (_Object,), {}), name) for name in names]):
        return torch.load(file, map_location="cpu", weights_only=True), names


def _named(value: Any, name: str = "", depth: int = 0) -> Iterator[tuple[str, Tensor]]:
    """Yield the tensors in mappings, with their names."""
    if isinstance(value, Tensor) and name:
        yield name.rstrip("/"), value.detach()
    elif isinstance(value, Mapping) and depth < DEEPEST:
        for key, inner in value.items():
            yield from _named(inner, f"{name}{key}/", depth + 1)
