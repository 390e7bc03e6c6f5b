"""What an evaluation keeps of the attribution of captions to their tokens, for metrics and figures.

One file, ``attribution.safetensors``, with arrays under ``<sub-task>:<field>``; of scores and patches under
``<sub-task>:scores/<method>`` and ``<sub-task>:patches/<method>``. Captions are the true ones of a sub-task's items.
Nothing here imports torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from recompose.errors import DataError
from recompose.files import write_atomically

FILE = "attribution.safetensors"  # of an evaluation that keeps it
BY_METHOD = ("scores", "patches")
NOWHERE = (-1, -1)  # in place of the letters of a token that is none of the caption's


@dataclass(frozen=True)
class Attributed:
    """Captions of a sub-task with what was attributed to their tokens, and a few pictures with theirs."""

    items: np.ndarray  # [texts] int, the places of items in the sub-task
    ids: np.ndarray  # [texts, tokens] int, as the text tower sees them
    spans: np.ndarray  # [texts, tokens, 2] int, the letters of the caption that a token stands for: from, to before
    objects: np.ndarray  # [texts, tokens] bool, tokens of objects
    composition: np.ndarray  # [texts, tokens] bool, tokens of relations and attributes
    similarity: np.ndarray  # [texts] float, the cosine of the caption and its relation or attribute alone; NaN: none
    scores: Mapping[str, np.ndarray]  # method -> [texts, tokens] float, NaN where there is no token or no score
    shown: np.ndarray  # [pictures] int, the places in ``items`` of those whose pictures are kept
    patches: Mapping[str, np.ndarray]  # method -> [pictures, patches] float, row by row from the upper left one

    def __post_init__(self) -> None:
        """Sees to it that the arrays belong together.

        Raises:
            ValueError: they do not.
        """
        texts, tokens = self.ids.shape
        shapes = {"items": (texts,), "spans": (texts, tokens, 2), "similarity": (texts,)}
        shapes |= dict.fromkeys(("objects", "composition"), (texts, tokens))
        for name, shape in shapes.items():
            if getattr(self, name).shape != shape:
                raise ValueError(f"{name} are {getattr(self, name).shape}, not {shape} as ids {self.ids.shape} ask for")
        for method, scores in self.scores.items():
            if scores.shape != (texts, tokens):
                raise ValueError(f"scores by {method} are {scores.shape}, not {(texts, tokens)} as ids")
        for method, patches in self.patches.items():
            if patches.ndim != 2 or len(patches) != len(self.shown):
                raise ValueError(f"patches by {method} are {patches.shape}, of {len(self.shown)} pictures")
            if round(patches.shape[1] ** 0.5) ** 2 != patches.shape[1]:
                raise ValueError(f"patches by {method} are {patches.shape[1]} of a picture, which is no square")
        if len(self.shown) and not (self.shown.min() >= 0 and self.shown.max() < texts):
            raise ValueError(f"pictures are shown of texts {self.shown.min()} to {self.shown.max()}, of {texts}")


def write(kept: Mapping[str, Attributed], path: Path) -> None:
    """Write what an evaluation keeps, by sub-task."""
    arrays = {
        f"{task}:{name}": np.ascontiguousarray(array)
        for task, attributed in kept.items()
        for name, array in _arrays(attributed)
    }
    write_atomically(path, lambda temporary: save_file(arrays, temporary))


def read(path: Path) -> dict[str, Attributed]:
    """Read what ``write`` wrote.

    Raises:
        DataError: the file's arrays are not what it writes.
    """
    parts: dict[str, dict[str, np.ndarray]] = {}
    try:
        for place, array in load_file(path).items():
            task, _, name = place.partition(":")
            parts.setdefault(task, {})[name] = array
        return {task: _attributed(arrays) for task, arrays in parts.items()}
    except (KeyError, ValueError, SafetensorError) as error:
        raise DataError(f"{path}: {error}: evaluate it anew") from None


def _arrays(attributed: Attributed) -> list[tuple[str, np.ndarray]]:
    names = [field.name for field in fields(Attributed) if field.name not in BY_METHOD]
    plain = [(name, getattr(attributed, name)) for name in names]
    nested = [(f"{name}/{method}", array) for name in BY_METHOD for method, array in getattr(attributed, name).items()]
    return plain + nested


def _attributed(arrays: Mapping[str, np.ndarray]) -> Attributed:
    plain = {field.name: arrays[field.name] for field in fields(Attributed) if field.name not in BY_METHOD}
    nested = {
        part: {name.partition("/")[2]: array for name, array in arrays.items() if name.startswith(f"{part}/")}
        for part in BY_METHOD
    }
    return Attributed(**plain, **nested)  # type: ignore[arg-type]


def spans(caption: str, pieces: Sequence[str]) -> np.ndarray:
    """The letters [tokens, 2] of a caption that each piece of a tokenizer stands for, from and to before.

    The tokenizer writes small letters and joins white space; a piece that is not found after the one before it (a mark
    of begin or end, a part of a letter) is ``NOWHERE``, and the next one that is found may stand farther on.

    Args:
        caption: that was tokenised.
        pieces: [tokens], each as the tokenizer decodes it by itself, which may end in a blank.

    Example:
        >>> spans("A red  cup", ["<start_of_text>", "a ", "re", "d ", "cup ", "<end_of_text>"]).tolist()
        [[-1, -1], [0, 1], [2, 4], [4, 5], [7, 10], [-1, -1]]
        >>> spans("the café is", ["the ", "caf", "\ufffd", "\ufffd ", "is "]).tolist()
        [[0, 3], [4, 7], [-1, -1], [-1, -1], [9, 11]]
    """
    small, begin, is_lost = caption.lower(), 0, False
    places: list[tuple[int, int]] = []
    for piece in pieces:
        letters = piece.strip()
        place = small.find(letters, begin) if letters else -1
        if place < 0 or (small[begin:place].strip() and not is_lost):
            places.append(NOWHERE)
            is_lost = True
        else:
            begin = place + len(letters)
            places.append((place, begin))
            is_lost = False
    return np.array(places, dtype=np.int64).reshape(-1, 2)


def mean_over(scores: np.ndarray, marked: np.ndarray) -> np.ndarray:
    """The mean score of each text's marked tokens [texts], NaN where none has a score.

    Args:
        scores: [texts, tokens], NaN where a token has none.
        marked: [texts, tokens] bool.

    Example:
        >>> mean_over(np.array([[0.5, 0.1, np.nan], [0.2, 0.2, 0.2]]), np.array([[True, True, True], [False] * 3]))
        array([0.3, nan])
    """
    counted = marked.astype(bool) & ~np.isnan(scores)
    count = counted.sum(axis=1)
    total = np.where(counted, scores, 0.0).sum(axis=1, dtype=np.float64)
    means: np.ndarray = np.where(count > 0, total / np.maximum(count, 1), np.nan)
    return means


def ratios(attributed: Attributed, method: str) -> np.ndarray:
    """What composition tokens have of what object tokens have, each the mean of a caption's [texts]; NaN where a
    caption lacks either, or where its objects have nothing.
    """
    scores = attributed.scores[method]
    above, below = mean_over(scores, attributed.composition), mean_over(scores, attributed.objects)
    made: np.ndarray = np.divide(above, below, out=np.full(len(above), np.nan), where=below != 0)
    return made


def cumulative_accuracy(ratio: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ratios that occur, rising, and of each the share of items right among those whose ratio is no larger.

    Args:
        ratio: [texts], NaN where a text is left out.
        right: [texts] bool.

    Example:
        >>> where, share = cumulative_accuracy(np.array([0.2, 0.1, 0.2, np.nan]), np.array([True, False, True, True]))
        >>> where.tolist(), share.round(2).tolist()
        ([0.1, 0.2], [0.0, 0.67])
    """
    known = ~np.isnan(ratio)
    order = np.argsort(ratio[known], kind="stable")
    ordered, told = ratio[known][order], right[known][order].astype(np.float64)
    shares = told.cumsum() / np.arange(1, len(told) + 1)
    last = np.append(ordered[1:] != ordered[:-1], True) if len(ordered) else np.empty(0, dtype=bool)
    return ordered[last], shares[last]
