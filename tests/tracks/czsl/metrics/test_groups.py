"""Groups of pairs by their images in training, and accuracies in them, by plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.metric_names import GROUPS
from recompose.tracks.czsl.metrics.groups import frequency_groups, group_accuracies
from tests.tracks.czsl.metrics.derivations import group_names, group_shares

pairs = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=40)


def names_of(shown: list[int], seen: list[bool]) -> list[str]:
    return [GROUPS[group] for group in frequency_groups(np.array(shown), np.array(seen))]


@settings(deadline=None)
@given(pairs)
def test_groups_are_those_of_plain_loops(rows: list[tuple[int, bool]]) -> None:
    shown, seen = map(list, zip(*rows, strict=True))
    assert names_of(shown, seen) == group_names(shown, seen)


def test_ten_pairs_are_two_head_three_medium_and_five_tail() -> None:
    shown = [3, 90, 7, 1, 50, 8, 2, 60, 4, 5]
    expected = ["tail", "head", "medium", "tail", "medium", "medium", "tail", "head", "tail", "tail"]
    assert names_of(shown, [True] * 10) == expected


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1, (0, 0, 1)),
        (2, (0, 1, 1)),
        (3, (1, 1, 1)),
        (4, (1, 1, 2)),
        (12, (2, 4, 6)),
        (13, (3, 3, 7)),
        (83, (17, 25, 41)),  # 16.6 and 41.5: half a pair goes to the even side, 42
        (1262, (252, 379, 631)),
        (5592, (1118, 1678, 2796)),
    ],
)
def test_cuts_are_rounded_to_whole_pairs(count: int, sizes: tuple[int, int, int]) -> None:
    names = names_of(list(range(count)), [True] * count)
    assert tuple(names.count(name) for name in ("head", "medium", "tail")) == sizes
    assert names == sorted(names, key=["tail", "medium", "head"].index)


@settings(deadline=None)
@given(pairs, st.data())
def test_accuracies_are_shares_of_the_images_of_each_group(rows: list[tuple[int, bool]], data: st.DataObject) -> None:
    shown, seen = map(list, zip(*rows, strict=True))
    pair = st.integers(0, len(rows) - 1)
    targets = data.draw(st.lists(pair, min_size=1, max_size=12))
    answers = [data.draw(st.sampled_from([target, data.draw(pair)])) for target in targets]
    groups = frequency_groups(np.array(shown), np.array(seen))
    actual = group_accuracies(np.array(answers), np.array(targets), groups)
    assert actual == group_shares(answers, targets, group_names(shown, seen))
