"""Suites of the published sizes, and of others."""

from dataclasses import replace

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.tracks.vlc.data.counts import check_counts
from recompose.tracks.vlc.data.formats.suite_files import UNLIMITED, Limit
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.tasks import Choices, Groups, Task, Triplets
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


@pytest.mark.parametrize(
    ("suite", "place"),
    [
        (published("sugarcrepe", swap_obj=244), "sugarcrepe/swap_obj"),
        (published("eqben", sd=1), "eqben/sd"),
    ],
)
def test_other_sizes_are_named(suite: Suite, place: str) -> None:
    check_counts(published(suite.name))
    with raises(DataError, "wrong-count", place):
        check_counts(suite)
    check_counts(replace(suite, form=suite.name, name="mine"))  # a suite of your own may have any size


def test_nobody_knows_how_many_images_of_svo_probes_are_left() -> None:
    for items in (1, 40_000):
        check_counts(published("svo_probes", verb_neg=items))


def test_images_of_hake_may_be_missing_and_others_not() -> None:
    suite = published("vl_checklist", hake=600)
    check_counts(suite)
    with raises(DataError, "wrong-count", "vl_checklist/attribute_action/vg"):
        check_counts(published("vl_checklist", vg=600))


def test_a_limit_is_the_number_of_larger_sets() -> None:
    limited = published("eqben", youcook2=20_000, ag=20_000)
    check_counts(limited, Limit(20_000))
    for suite, limit in ((limited, UNLIMITED), (published("eqben"), Limit(20_000))):
        with raises(DataError, "wrong-count", "eqben/youcook2"):
            check_counts(suite, limit)
