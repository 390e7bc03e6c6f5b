"""Which images train, and which choose."""

import numpy as np
import pytest

from recompose.tracks.gzsl.data.stages import _held_out, final_stage, released_stage, selection_stage
from tests.tracks.gzsl.tiny import class_data

DATA = class_data()


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_what_chooses_by_validation_has_no_image_of_the_test_and_no_unseen_class(seed: int) -> None:
    stage = selection_stage(DATA, seed)
    for rows in (stage.rows, stage.chooses):
        assert all(DATA.splits[row] == "trainval" for row in rows)
        assert all(DATA.seen[DATA.labels[row]] for row in rows)
    assert all(DATA.seen[each] for each in stage.classes)
    assert not set(stage.rows) & set(stage.chooses)
    assert set(stage.rows) | set(stage.chooses) == set(DATA.rows("trainval"))


def test_classes_of_validation_do_not_train_and_are_unseen_in_its_stage() -> None:
    stage = selection_stage(DATA, 0)
    assert not any(DATA.validation[DATA.labels[row]] for row in stage.rows)
    for place, index in enumerate(stage.classes):
        assert stage.seen[place] == (not DATA.validation[index])


def test_a_fifth_of_each_class_is_held_out_at_least_one_but_of_a_single_image_none() -> None:
    counts = {images: len(_held_out(np.arange(images), 0)) for images in (1, 2, 9, 10, 14, 15)}
    assert counts == {1: 0, 2: 1, 9: 1, 10: 2, 14: 2, 15: 3}
    first, again, other = (selection_stage(DATA, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.rows, again.rows) and not np.array_equal(first.rows, other.rows)
    assert {*DATA.labels[first.chooses]} == {*np.flatnonzero(DATA.seen)}


def test_the_last_stage_trains_on_all_of_training_and_chooses_nothing() -> None:
    stage = final_stage(DATA)
    assert set(stage.rows) == {row for row, split in enumerate(DATA.splits) if split == "trainval"}
    assert not len(stage.chooses)
    assert np.array_equal(stage.seen, DATA.seen)
    assert set(released_stage(DATA).chooses) == set(DATA.test_rows)
    assert set(DATA.test_rows) == {row for row, split in enumerate(DATA.splits) if split != "trainval"}


def test_targets_are_places_among_the_stages_classes() -> None:
    stage = selection_stage(DATA, 3)
    for row, target in zip(stage.chooses, stage.targets(DATA, stage.chooses), strict=True):
        assert stage.classes[target] == DATA.labels[row]
