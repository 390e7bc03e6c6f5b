"""Scores of tasks from embeddings: cosines of choices, groups and triplets, probabilities of classes, ranks of pools.

An item with an unreadable image has no scores: its row is NaN, its rank ``LEFT_OUT``. This module imports no torch.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file

from recompose.files import write_atomically
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Classes, Groups, Pool, Similarity, Suite, Task, Triplets
from recompose.tracks.vlc.suites.catalogue import RETRIEVALS
from recompose.tracks.vlc.suites.ranks import Ties, first_hits

FILE = "scores.safetensors"  # of an evaluation: array of scores by the name of its sub-task
BROKEN = -1  # in place of the row of an unreadable image
LEFT_OUT = -1  # in place of the rank of a query that is left out
SHARPNESS = 100.0  # of the softmax over classes, in ELEVATER the same for all models
WAYS = ("i2t", "t2i")  # of retrieval
BLOCK = 1 << 24  # numbers in memory at a time


@dataclass(frozen=True)
class Features:
    """The embeddings of a suite's images and texts, as rows of shared arrays, each of length 1."""

    images: np.ndarray  # [rows, E]
    texts: np.ndarray  # [rows, E]
    image_rows: np.ndarray  # [images of the suite], BROKEN for an unreadable image
    text_rows: np.ndarray  # [texts of the suite]


def suite_scores(suite: Suite, features: Features) -> dict[str, np.ndarray]:
    """Return the scores of a suite's sub-tasks by name; retrieval has one entry for each direction."""
    scores: dict[str, np.ndarray] = {}
    for name, task in suite.tasks.items():
        if isinstance(task, Pool):
            published = RETRIEVALS.get(suite.published(name))
            ties = published.ties if published else "first"
            ranks = pool_ranks(task, features, ties)
            scores |= {f"{name}/{way}": rank for way, rank in zip(WAYS, ranks, strict=True)}
        else:
            scores[name] = task_scores(task, features)
    return scores


def task_scores(task: Task, features: Features) -> np.ndarray:
    """Return the scores of a task.

    Returns:
        For choices, cosines [items, candidates], NaN where an item has no such candidate; for groups, cosines [items, 2
        images, 2 captions]; for triplets, cosines [items, 6], see ``triplet_cosines``; for classes, probabilities
        [images, classes]; for similarity, cosines [pairs].

    Raises:
        TypeError: the task is retrieval, which has ranks: see ``pool_ranks``.

    Example:
        >>> rows = np.arange(2)
        >>> features = Features(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), rows, rows)
        >>> choices = Choices("i2t", asked=np.array([1]), offered=np.array([[1, 0, ABSENT]]), true=np.array([0]))
        >>> task_scores(choices, features).tolist()
        [[1.0, 0.0, nan]]
    """
    match task:
        case Choices():
            return choice_cosines(task, features)
        case Groups():
            return group_cosines(task, features)
        case Triplets():
            return triplet_cosines(task, features)
        case Classes():
            return class_probabilities(task, features)
        case Similarity():
            return text_cosines(task, features)
    raise TypeError(f"a {type(task).__name__} has ranks; its scores are too many to store")


def choice_cosines(task: Choices, features: Features) -> np.ndarray:
    """Return the cosines [items, candidates] of queries and candidates."""
    queries, candidates = np.broadcast_to(task.asked[:, None], task.offered.shape), task.offered
    images, texts = (queries, candidates) if task.query == "i2t" else (candidates, queries)
    present = task.offered != ABSENT
    image_rows = np.where(present, features.image_rows[images], 0)
    text_rows = np.where(present, features.text_rows[texts], 0)
    cosines = _cosines(features, image_rows, text_rows)
    cosines[~present] = np.nan
    cosines[(image_rows == BROKEN).any(axis=1)] = np.nan
    return cosines


def group_cosines(task: Groups, features: Features) -> np.ndarray:
    """Return the cosines [items, 2, 2] of each image of an item with each of its captions."""
    image_rows, text_rows = features.image_rows[task.images], features.text_rows[task.texts]
    cosines = _cosines(features, *np.broadcast_arrays(image_rows[:, :, None], text_rows[:, None, :]))
    cosines[(image_rows == BROKEN).any(axis=1)] = np.nan
    return cosines


def triplet_cosines(task: Triplets, features: Features) -> np.ndarray:
    """Return the cosines [items, 6] of triplets.

    They are those of the image with the first true, the second true and the false caption, of the two true captions,
    and of the first and of the second true caption with the false one.
    """
    image_rows, text_rows = features.image_rows[task.images], features.text_rows[task.texts]
    with_image = _cosines(features, np.broadcast_to(image_rows[:, None], text_rows.shape), text_rows)
    texts = replace(features, images=features.texts)
    cosines = np.hstack([with_image, _cosines(texts, text_rows[:, [0, 0, 1]], text_rows[:, [1, 2, 2]])])
    cosines[image_rows == BROKEN] = np.nan
    return cosines


def class_probabilities(task: Classes, features: Features) -> np.ndarray:
    """Return the probabilities [images, classes]: the softmax of cosines times 100 (ELEVATER, 00d0af7).

    A class is the normalised mean of the normalised embeddings of its prompts.
    """
    means = [features.texts[features.text_rows[list(prompts)]].mean(axis=0) for prompts in task.prompts]
    classes = np.stack([mean / np.linalg.norm(mean) for mean in means])
    rows = features.image_rows[task.images]
    probabilities = np.empty((len(rows), len(classes)), dtype=np.float32)
    for block in _blocks(len(rows), features.images.shape[1] + len(classes)):
        logits = SHARPNESS * (features.images[rows[block]] @ classes.T)
        exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
        probabilities[block] = exponentials / exponentials.sum(axis=1, keepdims=True)
    probabilities[rows == BROKEN] = np.nan
    return probabilities


def text_cosines(task: Similarity, features: Features) -> np.ndarray:
    """Return the cosines [pairs] of the texts of each pair."""
    first, second = (features.texts[features.text_rows[texts]] for texts in (task.first, task.second))
    cosines: np.ndarray = np.einsum("pe,pe->p", first, second)
    return cosines


def pool_ranks(task: Pool, features: Features, ties: Ties = "first") -> tuple[np.ndarray, np.ndarray]:
    """Return the ranks of images among all captions [images] and of captions among all images [captions].

    A rank is the number of wrong candidates before the first right one. An unreadable image is neither query nor
    candidate; its captions are candidates only.
    """
    rows = features.image_rows[task.images]
    readable = rows != BROKEN
    images, captions = np.flatnonzero(readable), np.flatnonzero(readable[task.image_of])
    to_text, to_image = np.full(len(rows), LEFT_OUT), np.full(len(task.texts), LEFT_OUT)
    text_rows = features.text_rows[task.texts]
    to_text[images] = _ranks(
        features.images, rows[images], features.texts, text_rows, images, task.image_of, ties
    )  # an image is matched by its own number, a caption by its image's
    to_image[captions] = _ranks(
        features.texts, text_rows[captions], features.images, rows[images], task.image_of[captions], images, ties
    )
    return to_text, to_image


def write_scores(scores: Mapping[str, np.ndarray], path: Path) -> None:
    """Write the scores of an evaluation."""
    arrays = {name: np.ascontiguousarray(array) for name, array in scores.items()}
    write_atomically(path, lambda temporary: save_file(arrays, temporary))


def read_scores(path: Path) -> dict[str, np.ndarray]:
    """Read a file of ``write_scores``."""
    arrays: dict[str, np.ndarray] = load_file(path)
    return arrays


def has_scores(scores: np.ndarray) -> np.ndarray:
    """Return True for each item that has scores, or a rank [items]."""
    if scores.dtype.kind in "iu":
        return scores != LEFT_OUT
    return ~np.isnan(scores).reshape(len(scores), -1).all(axis=1)


def _ranks(
    queries: np.ndarray,
    query_rows: np.ndarray,
    candidates: np.ndarray,
    candidate_rows: np.ndarray,
    query_numbers: np.ndarray,
    candidate_numbers: np.ndarray,
    ties: Ties,
) -> np.ndarray:
    """Compute ``first_hits`` of queries block by block: the whole matrix need not fit into memory."""
    # a product of matrices may round a column by its place: equal candidates must tie, so each is computed once
    unique, place = np.unique(candidate_rows, return_inverse=True)
    columns = np.ascontiguousarray(candidates[unique].T)
    ranks = np.empty(len(query_rows), dtype=np.int64)
    for block in _blocks(len(query_rows), len(candidate_rows)):
        scores = queries[query_rows[block]] @ columns
        ranks[block] = first_hits(scores[:, place], query_numbers[block], candidate_numbers, ties)
    return ranks


def _cosines(features: Features, image_rows: np.ndarray, text_rows: np.ndarray) -> np.ndarray:
    """Return the cosines of images and texts at these rows; each pair is computed once, so that equal pairs tie."""
    numbers = image_rows.astype(np.int64) * len(features.texts) + text_rows
    pairs, place = np.unique(numbers, return_inverse=True)
    cosines = np.empty(len(pairs), dtype=np.float32)
    for block in _blocks(len(pairs), 2 * features.images.shape[1]):
        images, texts = np.divmod(pairs[block], len(features.texts))
        cosines[block] = np.einsum("pe,pe->p", features.images[images], features.texts[texts])
    return cosines[place.ravel()].reshape(image_rows.shape)


def _blocks(rows: int, width: int) -> list[slice]:
    """Return slices of rows, whose numbers fit in ``BLOCK``."""
    size = max(1, BLOCK // max(1, width))
    return [slice(start, start + size) for start in range(0, rows, size)]
