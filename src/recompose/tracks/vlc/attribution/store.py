"""Storage of an evaluation's attributions to tokens and patches, for metrics and figures.

One file, ``attribution.safetensors``, has arrays under ``<sub-task>:<field>``; scores and patches are under
``<sub-task>:scores/<method>`` and ``<sub-task>:patches/<method>``. Captions are the true ones of a sub-task's items.
This module does not import torch.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import write_atomically

FILE = "attribution.safetensors"  # of an evaluation that saves it
BY_METHOD = ("scores", "patches")
NOWHERE = (-1, -1)  # the span of a token without letters of the caption


@dataclass(frozen=True)
class Attributed:
    """Captions of a sub-task with the scores of their tokens, and a few pictures with the scores of their patches."""

    items: np.ndarray  # [texts] int, the places of items in the sub-task
    ids: np.ndarray  # [texts, tokens] int, the text tower's input
    spans: np.ndarray  # [texts, tokens, 2] int, the letters of a token in the caption: start, end (exclusive)
    objects: np.ndarray  # [texts, tokens] bool, tokens of objects
    composition: np.ndarray  # [texts, tokens] bool, tokens of relations and attributes
    similarity: np.ndarray  # [texts] float, the cosine of the caption and its relation or attribute alone; NaN: none
    scores: Mapping[str, np.ndarray]  # method -> [texts, tokens] float, NaN where there is no token or no score
    shown: np.ndarray  # [pictures] int, the places in ``items`` of the items with patches
    patches: Mapping[str, np.ndarray]  # method -> [pictures, patches] float, row by row from the upper left one


def write(by_task: Mapping[str, Attributed], path: Path) -> None:
    """Write an evaluation's attributions, by sub-task."""
    arrays: dict[str, np.ndarray] = {}
    for task, attributed in by_task.items():
        for name, value in vars(attributed).items():
            parts = (
                {f"{name}/{method}": array for method, array in value.items()} if name in BY_METHOD else {name: value}
            )
            arrays |= {f"{task}:{part}": np.ascontiguousarray(array) for part, array in parts.items()}
    write_atomically(path, lambda temporary: save_file(arrays, temporary))


def read(path: Path) -> dict[str, Attributed]:
    """Read a file of ``write``."""
    by_task: dict[str, dict[str, Any]] = {}
    for place, array in load_file(path).items():
        task, _, part = place.partition(":")
        name, _, method = part.partition("/")
        values = by_task.setdefault(task, {name: {} for name in BY_METHOD})
        if method:
            values[name][method] = array
        else:
            values[name] = array
    return {task: Attributed(**values) for task, values in by_task.items()}


def spans(caption: str, pieces: Sequence[str]) -> np.ndarray:
    """Return the letters [tokens, 2] of each piece of a tokenizer in a caption: start, end (exclusive).

    The tokenizer lowercases and joins white space. A piece that does not occur after the preceding one (start or end
    of text, a part of a letter) is ``NOWHERE``; the next piece may then skip letters.

    Args:
        caption: the tokenised caption.
        pieces: [tokens], each as the tokenizer decodes it alone, which may end in a blank.

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


def mean_over(scores: np.ndarray, mask: np.ndarray) -> np.ndarray:
    """Return the mean score of each text's tokens in a mask [texts], NaN where none has a score.

    Args:
        scores: [texts, tokens], NaN where a token has none.
        mask: [texts, tokens] bool.

    Example:
        >>> mean_over(np.array([[0.5, 0.1, np.nan], [0.2, 0.2, 0.2]]), np.array([[True, True, True], [False] * 3]))
        array([0.3, nan])
    """
    counted = mask.astype(bool) & ~np.isnan(scores)
    count = counted.sum(axis=1)
    total = np.where(counted, scores, 0.0).sum(axis=1, dtype=np.float64)
    return np.where(count > 0, total / np.maximum(count, 1), np.nan)


def ratios(attributed: Attributed, method: str) -> np.ndarray:
    """Return the ratios of the mean score of composition tokens to that of object tokens [texts].

    A ratio is NaN where a caption lacks either, or where the mean of its objects is 0.
    """
    scores = attributed.scores[method]
    composition, objects = mean_over(scores, attributed.composition), mean_over(scores, attributed.objects)
    return np.divide(composition, objects, out=np.full(len(objects), np.nan), where=objects != 0)


def cumulative_accuracy(ratio: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the distinct ratios, ascending, and for each the share of items right among those with no larger ratio.

    Args:
        ratio: [texts], NaN where a text is left out.
        right: [texts] bool.

    Example:
        >>> where, share = cumulative_accuracy(np.array([0.2, 0.1, 0.2, np.nan]), np.array([True, False, True, True]))
        >>> where.tolist(), share.round(2).tolist()
        ([0.1, 0.2], [0.0, 0.67])
    """
    defined = ~np.isnan(ratio)
    order = np.argsort(ratio[defined], kind="stable")
    ordered, right_ordered = ratio[defined][order], right[defined][order].astype(np.float64)
    shares = right_ordered.cumsum() / np.arange(1, len(right_ordered) + 1)
    last = np.append(ordered[1:] != ordered[:-1], True) if len(ordered) else np.empty(0, dtype=bool)
    return ordered[last], shares[last]
