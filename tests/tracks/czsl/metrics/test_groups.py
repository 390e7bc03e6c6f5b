"""Groups of pairs by their images in training, and accuracies in them, by plain loops."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.metric_names import GROUPS
from recompose.tracks.czsl.metrics.groups import frequency_groups
from tests.tracks.czsl.metrics.derivations import group_names

pairs = st.lists(st.tuples(st.integers(0, 4), st.booleans()), min_size=1, max_size=40)


def names_of(shown: list[int], seen: list[bool]) -> list[str]:
    return [GROUPS[group] for group in frequency_groups(np.array(shown), np.array(seen))]


@settings(deadline=None)
@given(pairs)
def test_groups_are_those_of_plain_loops(rows: list[tuple[int, bool]]) -> None:
    shown, seen = map(list, zip(*rows, strict=True))
    assert names_of(shown, seen) == group_names(shown, seen)


@pytest.mark.parametrize(
    ("count", "sizes"),
    [
        (1, (0, 0, 1)),
        (10, (2, 3, 5)),
        (83, (17, 25, 41)),  # 16.6 and 41.5: half a pair goes to the even side, 42
    ],
)
def test_cuts_are_rounded_to_whole_pairs(count: int, sizes: tuple[int, int, int]) -> None:
    names = names_of(list(range(count)), [True] * count)
    assert tuple(names.count(name) for name in ("head", "medium", "tail")) == sizes
    assert names == sorted(names, key=["tail", "medium", "head"].index)
