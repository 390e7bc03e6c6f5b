"""The images, texts and scores of one item, as they are shown."""

import numpy as np

from recompose.harness.items import ItemContent, ScoredPair
from recompose.tracks.vlc.data.suite import ABSENT, Choices, Classes, Groups, Pool, Similarity, Suite, Triplets

TOP_CLASSES = 5


def describe(suite: Suite, name: str, leaf: str, scores: np.ndarray, number: int) -> ItemContent:
    """Return the content of an item; candidates with the highest scores come first.

    Args:
        suite: the suite.
        name: the task.
        leaf: the name of the scores, see ``outcomes.leaves``.
        scores: of all items of the task.
        number: the item.
    """
    task, row = suite.tasks[name], scores[number]
    match task:
        case Choices():
            return _choices(suite, task, row, number)
        case Groups():
            return _group(suite, task, row, number)
        case Triplets():
            return _triplet(suite, task, row, number)
        case Classes():
            return _classes(suite, task, row, number)
        case Pool():
            return _query(suite, task, leaf, int(row), number)
        case Similarity():
            return _graded(suite, task, float(row), number)


def _choices(suite: Suite, task: Choices, row: np.ndarray, number: int) -> ItemContent:
    offered, asked = [place for place in task.offered[number].tolist() if place != ABSENT], int(task.asked[number])
    is_caption = task.query == "i2t"
    images = (suite.images[asked],) if is_caption else tuple(suite.images[place] for place in offered)
    pairs = [
        ScoredPair(
            0 if is_caption else column,
            suite.texts[place if is_caption else asked],
            float(row[column]),
            column == int(task.true[number]),
        )
        for column, place in enumerate(offered)
    ]
    return ItemContent(images, tuple(sorted(pairs, key=lambda pair: -(pair.score or 0.0))))


def _group(suite: Suite, task: Groups, row: np.ndarray, number: int) -> ItemContent:
    texts = [suite.texts[text] for text in task.texts[number].tolist()]
    pairs = tuple(
        ScoredPair(image, text, float(row[image, caption]), image == caption)
        for caption, text in enumerate(texts)
        for image in (0, 1)
    )
    return ItemContent(tuple(suite.images[image] for image in task.images[number].tolist()), pairs)


def _triplet(suite: Suite, task: Triplets, row: np.ndarray, number: int) -> ItemContent:
    first, second, false = (suite.texts[text] for text in task.texts[number].tolist())
    with_image = [
        ScoredPair(0, text, float(score), text is not false)
        for text, score in zip((first, second, false), row[:3], strict=True)
    ]
    couples = ((first, second, True), (first, false, False), (second, false, False))
    of_texts = [
        ScoredPair(None, text, float(score), is_true, other)
        for (text, other, is_true), score in zip(couples, row[3:], strict=True)
    ]
    return ItemContent((suite.images[int(task.images[number])],), (*with_image, *of_texts))


def _classes(suite: Suite, task: Classes, row: np.ndarray, number: int) -> ItemContent:
    labels = task.labels[number]
    true = {int(labels)} if task.labels.ndim == 1 else {*np.flatnonzero(labels).tolist()}
    ranked = np.argsort(-row, kind="stable").tolist()
    shown = [label for place, label in enumerate(ranked) if place < TOP_CLASSES or label in true]
    pairs = tuple(ScoredPair(0, task.names[label], float(row[label]), label in true) for label in shown)
    return ItemContent((suite.images[int(task.images[number])],), pairs)


def _query(suite: Suite, task: Pool, leaf: str, rank: int, number: int) -> ItemContent:
    """Return the content of a query of retrieval: candidates and their scores are not stored, only the rank is."""
    if leaf.endswith("/i2t"):
        image, captions = number, np.flatnonzero(task.image_of == number).tolist()
        kind, candidates = "caption", len(task.texts)
    else:
        image, captions = int(task.image_of[number]), [number]
        kind, candidates = "image", len(task.images)
    texts = (suite.texts[int(task.texts[caption])] for caption in captions)
    note = f"The first right {kind} has rank {rank + 1:,} of {candidates:,}; scores of retrieval are not stored."
    return ItemContent(
        (suite.images[int(task.images[image])],), tuple(ScoredPair(0, text, None, True) for text in texts), note
    )


def _graded(suite: Suite, task: Similarity, score: float, number: int) -> ItemContent:
    first, second = suite.texts[int(task.first[number])], suite.texts[int(task.second[number])]
    grade = float(task.graded[number])
    grades = f"from {task.graded.min():g} to {task.graded.max():g}"
    return ItemContent((), (ScoredPair(None, first, score, True, second),), f"People's grade is {grade:g}, {grades}.")
