"""The kinds of tasks: what an item asks, and its scores from embeddings. What scores say is in ``judges.py``.

An index stores tasks, and an evaluation stores their scores: both depend on this module, metrics of scores do not. An
item with an unreadable image has no scores: its row is NaN, its rank ``LEFT_OUT``. This module imports no torch.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, TypeAlias

import numpy as np

from recompose.tracks.vlc.suites.ranks import first_hits
from recompose.tracks.vlc.suites.scores import BROKEN, LEFT_OUT, Features, blocks, cosines

Query: TypeAlias = Literal["i2t", "t2i"]  # a caption is selected for an image, or the reverse
WAYS: tuple[Query, Query] = ("i2t", "t2i")  # of retrieval
ABSENT = -1  # fills the rows of items with fewer candidates
SHARPNESS = 100.0  # of the softmax over classes, in ELEVATER the same for all models


@dataclass(frozen=True)
class Task(ABC):
    """Items of one kind, which refer to the images and texts of a suite by number."""

    @property
    @abstractmethod
    def image_numbers(self) -> np.ndarray:
        """The numbers of the items' images [items, ...]; ABSENT where there is none."""

    @property
    def count(self) -> int:
        """The number of items."""
        return len(self.image_numbers)

    def leaves(self, name: str) -> tuple[str, ...]:
        """Return the names of the scores of a task of this name."""
        return (name,)

    @abstractmethod
    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return the shape of the scores of this name."""

    @abstractmethod
    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the scores of a task of this name, by the names of ``leaves``."""

    @abstractmethod
    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return what each item asks, with the contents of images and texts in place of their numbers [items, ...].

        Args:
            images: what stands for each image, the last for ABSENT.
            texts: what stands for each text, the last for ABSENT.
        """

    def document(self) -> dict[str, Any]:
        """Return the plain values of an index."""
        values = {
            name: value.tolist() if isinstance(value, np.ndarray) else value for name, value in vars(self).items()
        }
        return {"kind": type(self).__name__, **values}


@dataclass(frozen=True)
class Choices(Task):
    """Items that select a caption for an image (``i2t``), or an image for a caption (``t2i``)."""

    query: Query
    asked: np.ndarray  # [items], the queries: numbers of images (i2t) or of texts (t2i)
    offered: np.ndarray  # [items, candidates], numbers of texts (i2t) or of images (t2i); ABSENT after the last one
    true: np.ndarray  # [items], the column of the right candidate
    groups: tuple[str, ...] | None = None  # [items], for a mean over groups, or a number for each

    @property
    def image_numbers(self) -> np.ndarray:
        """The numbers of queries (i2t) or of candidates (t2i)."""
        return self.asked if self.query == "i2t" else self.offered

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [items, candidates]."""
        return self.offered.shape

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the cosines [items, candidates] of queries and candidates, NaN where an item has no such candidate.

        Example:
            >>> rows = np.arange(2)
            >>> features = Features(np.eye(2, dtype=np.float32), np.eye(2, dtype=np.float32), rows, rows)
            >>> choices = Choices("i2t", asked=np.array([1]), offered=np.array([[1, 0, ABSENT]]), true=np.array([0]))
            >>> choices.scores("mine", features)["mine"].tolist()
            [[1.0, 0.0, nan]]
        """
        queries, candidates = np.broadcast_to(self.asked[:, None], self.offered.shape), self.offered
        images, texts = (queries, candidates) if self.query == "i2t" else (candidates, queries)
        present = self.offered != ABSENT
        image_rows = np.where(present, features.image_rows[images], 0)
        text_rows = np.where(present, features.text_rows[texts], 0)
        values = cosines(features, image_rows, text_rows)
        values[~present] = np.nan
        values[(image_rows == BROKEN).any(axis=1)] = np.nan
        return {name: values}

    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return queries, candidates, the column of the right one, and groups."""
        asked, offered = (images, texts) if self.query == "i2t" else (texts, images)
        return [asked[self.asked], offered[self.offered], self.true, np.array(self.groups or ())]


@dataclass(frozen=True)
class TaskOfImages(Task):
    """Items with images of their own."""

    images: np.ndarray  # [items], or [items, images] of groups

    @property
    def image_numbers(self) -> np.ndarray:
        """The numbers of images."""
        return self.images


@dataclass(frozen=True)
class TaskOfBoth(TaskOfImages):
    """Items with images and texts of their own."""

    texts: np.ndarray  # [items, texts], or [captions] of a pool

    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return images and captions."""
        return [images[self.images], texts[self.texts]]


class Groups(TaskOfBoth):
    """Items of some images and captions, each of which is scored with each: in Winoground's form of two, where image 0
    belongs to caption 0 and image 1 to caption 1.
    """

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [items, images, captions]."""
        return *self.images.shape, self.texts.shape[1]

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the cosines [items, images, captions] of each image of an item with each of its captions."""
        image_rows, text_rows = features.image_rows[self.images], features.text_rows[self.texts]
        values = cosines(features, *np.broadcast_arrays(image_rows[:, :, None], text_rows[:, None, :]))
        values[(image_rows == BROKEN).any(axis=1)] = np.nan
        return {name: values}


class Triplets(TaskOfBoth):
    """Items of an image with two true captions and a false one, in this order."""

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [items, 6]."""
        return len(self.images), 6

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the cosines [items, 6] of triplets.

        They are those of the image with the first true, the second true and the false caption, of the two true
        captions, and of the first and of the second true caption with the false one.
        """
        image_rows, text_rows = features.image_rows[self.images], features.text_rows[self.texts]
        with_image = cosines(features, np.broadcast_to(image_rows[:, None], text_rows.shape), text_rows)
        texts = replace(features, images=features.texts)
        values = np.hstack([with_image, cosines(texts, text_rows[:, [0, 0, 1]], text_rows[:, [1, 2, 2]])])
        values[image_rows == BROKEN] = np.nan
        return {name: values}


@dataclass(frozen=True)
class Classes(TaskOfImages):
    """Images to classify by the prompts of classes."""

    labels: np.ndarray  # [images] numbers of classes, or [images, classes] bool for several classes an image
    prompts: tuple[tuple[int, ...], ...]  # [classes], the numbers of each class's prompts
    names: tuple[str, ...]  # [classes]

    @property
    def has_several_labels(self) -> bool:
        """Whether an image may show several classes, or none."""
        return self.labels.ndim == 2

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [images, classes]."""
        return len(self.images), len(self.names)

    def class_embeddings(self, features: Features) -> np.ndarray:
        """Return the embeddings of classes [classes, E]: the normalised means of the embeddings of their prompts."""
        means = [features.texts[features.text_rows[list(prompts)]].mean(axis=0) for prompts in self.prompts]
        return np.stack([mean / np.linalg.norm(mean) for mean in means])

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the probabilities [images, classes]: the softmax of cosines times 100 (ELEVATER, 00d0af7)."""
        classes = self.class_embeddings(features)
        rows = features.image_rows[self.images]
        probabilities = np.empty((len(rows), len(classes)), dtype=np.float32)
        for block in blocks(len(rows), features.images.shape[1] + len(classes)):
            logits = SHARPNESS * (features.images[rows[block]] @ classes.T)
            exponentials = np.exp(logits - logits.max(axis=1, keepdims=True))
            probabilities[block] = exponentials / exponentials.sum(axis=1, keepdims=True)
        probabilities[rows == BROKEN] = np.nan
        return {name: probabilities}

    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return images, labels, and the prompts of classes."""
        prompts = np.array([" ".join(texts[list(numbers)]) for numbers in self.prompts])
        return [images[self.images], self.labels, prompts]


@dataclass(frozen=True)
class Pool(TaskOfBoth):
    """Images and their captions, each to retrieve by the other among all."""

    image_of: np.ndarray  # [captions], the position of a caption's image in ``images``

    @property
    def count(self) -> int:
        """The number of queries of the direction that has fewer."""
        return min(len(self.images), len(self.texts))

    def leaves(self, name: str) -> tuple[str, ...]:
        """Return a name for each direction."""
        return tuple(f"{name}/{way}" for way in WAYS)

    def asks_for_captions(self, leaf: str) -> bool:
        """Return whether the scores of this name are of images, for which a caption is retrieved."""
        return leaf.endswith(f"/{WAYS[0]}")

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [queries]."""
        return (len(self.images if self.asks_for_captions(leaf) else self.texts),)

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the ranks of images among all captions [images] and of captions among all images [captions].

        A rank is the number of wrong candidates before the first right one; equal ones keep the order of the files. An
        unreadable image is neither query nor candidate; its captions are candidates only.
        """
        rows = features.image_rows[self.images]
        readable = rows != BROKEN
        images, captions = np.flatnonzero(readable), np.flatnonzero(readable[self.image_of])
        to_text, to_image = np.full(len(rows), LEFT_OUT), np.full(len(self.texts), LEFT_OUT)
        text_rows = features.text_rows[self.texts]
        to_text[images] = _ranks(
            features.images, rows[images], features.texts, text_rows, images, self.image_of
        )  # an image is matched by its own number, a caption by its image's
        to_image[captions] = _ranks(
            features.texts, text_rows[captions], features.images, rows[images], self.image_of[captions], images
        )
        return dict(zip(self.leaves(name), (to_text, to_image), strict=True))

    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return images, captions, and the image of each caption."""
        return [*super().questions(images, texts), self.image_of]


@dataclass(frozen=True)
class Similarity(Task):
    """Pairs of texts with human grades of their similarity."""

    first: np.ndarray  # [pairs], numbers of texts
    second: np.ndarray  # [pairs]
    graded: np.ndarray  # [pairs]

    @property
    def image_numbers(self) -> np.ndarray:
        """No images [pairs, 0]."""
        return np.empty((len(self.first), 0), dtype=np.int64)

    def shape(self, leaf: str) -> tuple[int, ...]:
        """Return [pairs]."""
        return (len(self.graded),)

    def scores(self, name: str, features: Features) -> dict[str, np.ndarray]:
        """Return the cosines [pairs] of the texts of each pair."""
        first, second = (features.texts[features.text_rows[texts]] for texts in (self.first, self.second))
        return {name: np.einsum("pe,pe->p", first, second)}

    def questions(self, images: np.ndarray, texts: np.ndarray) -> list[np.ndarray]:
        """Return both texts and the grades."""
        return [texts[self.first], texts[self.second], self.graded]


KINDS: Mapping[str, type[Task]] = {
    kind.__name__: kind for kind in (Choices, Groups, Triplets, Classes, Pool, Similarity)
}


def read_task(document: Mapping[str, Any]) -> Task:
    """Return the task of an index's plain values."""
    kind = KINDS[document["kind"]]
    arrays = {field.name for field in fields(kind) if field.type is np.ndarray}
    values = {
        name: np.array(value) if name in arrays else as_tuple(value)
        for name, value in document.items()
        if name != "kind"
    }
    return kind(**values)


def as_tuple(value: Any) -> Any:
    """Return a value with tuples in place of all lists."""
    return tuple(map(as_tuple, value)) if isinstance(value, list) else value


def _ranks(
    queries: np.ndarray,
    query_rows: np.ndarray,
    candidates: np.ndarray,
    candidate_rows: np.ndarray,
    query_numbers: np.ndarray,
    candidate_numbers: np.ndarray,
) -> np.ndarray:
    """Compute ``first_hits`` of queries block by block: the whole matrix need not fit into memory."""
    # a product of matrices may round a column by its place: equal candidates must tie, so each is computed once
    unique, place = np.unique(candidate_rows, return_inverse=True)
    columns = np.ascontiguousarray(candidates[unique].T)
    ranks = np.empty(len(query_rows), dtype=np.int64)
    for block in blocks(len(query_rows), len(candidate_rows)):
        scores = queries[query_rows[block]] @ columns
        ranks[block] = first_hits(scores[:, place], query_numbers[block], candidate_numbers, "first")
    return ranks
