"""Suites of the published sizes, and of others."""

from dataclasses import replace

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.data.suite import Choices, Groups, Suite, Task, Triplets
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from tests.errors import raises


def task(query: str, items: int) -> Task:
    pairs = np.zeros((items, 2), dtype=np.int64)
    if query == "group":
        return Groups(pairs, pairs)
    if query == "triplet":
        return Triplets(pairs[:, 0], np.zeros((items, 3), dtype=np.int64))
    return Choices("t2i" if query == "t2i" else "i2t", pairs[:, 0], pairs, pairs[:, 0])


def published(name: str, **others: int) -> Suite:
    """A suite of the published sizes, but for sub-tasks that are said otherwise."""
    tasks = [subtask for subtask in SUBTASKS.values() if subtask.suite == name]
    sizes = {one.name: others.get(one.name.split("/")[-1], one.items or 7) for one in tasks}
    return Suite(name, (), (), {one.name: task(one.query, sizes[one.name]) for one in tasks})


@pytest.mark.parametrize("name", sorted({subtask.suite for subtask in SUBTASKS.values()}))
def test_published_sizes_are_right(name: str) -> None:
    check_counts(published(name))


@pytest.mark.parametrize(
    ("suite", "place"),
    [
        (published("sugarcrepe", swap_obj=244), "sugarcrepe/swap_obj"),
        (published("aro", coco_order=25_011), "aro/coco_order"),
        (published("eqben", sd=1), "eqben/sd"),
        (published("winoground", winoground=401), "winoground"),
        (published("bivlc", swap=358), "bivlc/swap"),
        (published("sugarcrepe_pp", swap_obj=246), "sugarcrepe_pp/swap_obj"),
    ],
)
def test_other_sizes_are_named(suite: Suite, place: str) -> None:
    with raises(DataError, "wrong-count", place):
        check_counts(suite)
    check_counts(replace(suite, form=suite.name, name="mine"))  # a suite of your own may have any size


def test_nobody_knows_how_many_images_of_svo_probes_are_left() -> None:
    for items in (1, 40_000):
        check_counts(published("svo_probes", verb_neg=items))


def test_a_suite_without_published_sizes_has_any() -> None:
    check_counts(published("spec", count=3))
    check_counts(published("clip_binding", clip_binding=3))
