"""What every kind of task and its judge must do, by a loop over all of them."""

from dataclasses import replace

import numpy as np
import pytest

from recompose.tracks.vlc import METRICS
from recompose.tracks.vlc.data.suite import Suite
from recompose.tracks.vlc.suites.catalogue import SUBTASKS
from recompose.tracks.vlc.suites.judges import JUDGES, judge_of
from recompose.tracks.vlc.suites.scores import has_scores
from recompose.tracks.vlc.suites.tasks import KINDS, Similarity, read_task
from recompose.tracks.vlc.suites.values import counts, metrics
from tests.tracks.vlc.tiny_suites import random_features, tiny_suites

GRADES = np.array([1.0, 4.0, 2.0, 3.0])
SUITES = [
    *tiny_suites(),
    Suite("sick", (), tuple("abcdefgh"), {"sick": Similarity(np.arange(4), np.arange(4, 8), GRADES)}),
]
TASKS = [(suite, name) for suite in SUITES for name in suite.tasks]
IDS = [name for _, name in TASKS]


def test_every_kind_has_a_judge_and_an_example() -> None:
    assert {*JUDGES} == {*KINDS.values()} == {type(suite.tasks[name]) for suite, name in TASKS}


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_task_is_read_as_it_was_written_and_has_scores_of_its_shape(suite: Suite, name: str) -> None:
    task = suite.tasks[name]
    stored = read_task(task.document())
    assert type(stored) is type(task)
    for field, value in vars(task).items():
        read = getattr(stored, field)
        if isinstance(value, np.ndarray):
            np.testing.assert_array_equal(read, value, strict=True)
        else:
            assert read == value
    scores = task.scores(name, random_features(suite))
    assert {leaf: array.shape for leaf, array in scores.items()} == {
        leaf: task.shape(leaf) for leaf in task.leaves(name)
    }
    assert min(len(array) for array in scores.values()) == task.count
    assert all(has_scores(array).all() for array in scores.values())


@pytest.mark.parametrize(("suite", "name"), [entry for entry in TASKS if entry[0].images], ids=IDS[: len(IDS) - 1])
def test_items_without_one_of_their_images_have_no_scores(suite: Suite, name: str) -> None:
    task = suite.tasks[name]
    broken = int(task.image_numbers.ravel()[0])
    (leaf, *_), scores = task.leaves(name), task.scores(name, random_features(suite, broken))
    shows = np.array([broken in np.atleast_1d(numbers) for numbers in task.image_numbers])
    assert shows.any() and not shows.all()
    np.testing.assert_array_equal(has_scores(scores[leaf]), ~shows)
    assert counts([replace(suite, tasks={name: task})], scores)[leaf] == (np.sum(~shows), shows.sum())


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_judge_yields_the_metrics_that_its_sub_task_declares(suite: Suite, name: str) -> None:
    part = replace(suite, tasks={name: suite.tasks[name]})
    values = metrics([part], suite.tasks[name].scores(name, random_features(suite)))
    own = {metric for metric in values if metric.startswith(f"test/{name}")}
    assert own == {f"test/{metric}" for metric in SUBTASKS[name].metric_names()} - {
        f"test/{name}/{group}" for group in SUBTASKS[name].groups
    }
    assert {*values} <= {*METRICS}


@pytest.mark.parametrize(("suite", "name"), TASKS, ids=IDS)
def test_a_judge_says_of_each_item_what_its_number_counts(suite: Suite, name: str) -> None:
    judge, task = judge_of(suite, name), suite.tasks[name]
    judge.check()
    assert judge.MEANING and judge.UNIT
    for leaf, scores in task.scores(name, random_features(suite)).items():
        everything = np.arange(len(scores))
        assert judge.counting(leaf).shape == judge.judgeable(leaf).shape == judge.units(leaf).shape == (len(scores),)
        judged, (number, *_) = judge.judge(scores, everything), judge.numbers(leaf, scores, everything)
        assert number.name == leaf and judged.margins.shape == (len(scores),)
        if judged.right is not None and number.right is not None:
            np.testing.assert_array_equal(judged.right, number.right)
            assert (judged.margins[~judged.right] <= 0).all()
        content = judge.content(leaf, scores[0], 0)
        assert content.pairs and any(pair.is_true for pair in content.pairs)
        assert all(pair.text in suite.texts or pair.text in getattr(task, "names", ()) for pair in content.pairs)
        shown = np.atleast_1d(task.image_numbers[0]) if "/t2i" not in leaf else np.empty(0, dtype=int)
        assert {suite.images[number] for number in shown} <= {*content.images}
