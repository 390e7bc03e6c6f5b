"""The common form of a data set: vocabularies, pairs and counts derived by hand, and its files."""

import tempfile
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.data.pairs import SPLITS, PairData, Sample

PAIRS = {
    "train": [("wet", "dog"), ("dry", "cat"), ("wet", "cat"), ("dry", "cat")],
    "val": [("wet", "dog"), ("old", "cat")],
    "test": [("dry", "cat"), ("wet", "cat"), ("old", "dog")],
}
SAMPLES = [
    Sample("images/b.jpg", "wet", "cat", "train"),
    Sample("images/a.jpg", "old", "dog", "test"),
    Sample("images/c.jpg", "old", "cat", "val"),
    Sample("images/d.jpg", "wet", "dog", "train"),
    Sample("images/e.jpg", "wet", "cat", "test"),
    Sample("images/f.jpg", "dry", "cat", "train"),
    Sample("images/g.jpg", "dry", "cat", "test"),
    Sample("images/g.jpg", "wet", "dog", "val"),
]
awkward = st.sampled_from([*"a ,;\"'\\\t\n\r\v", "\u2028", "é", "狗"])
names = st.text(awkward | st.characters(exclude_categories=["Cs"]), min_size=1, max_size=5)
pairs = st.lists(st.tuples(names, names), min_size=1, max_size=4)
splits = st.fixed_dictionaries(dict.fromkeys(SPLITS, pairs))


@pytest.fixture
def data() -> PairData:
    return PairData(PAIRS, iter(SAMPLES))


def test_vocabularies_and_pairs_are_sorted_and_without_repeats(data: PairData) -> None:
    assert data.states == ["dry", "old", "wet"]
    assert data.objects == ["cat", "dog"]
    assert data.pairs == [("dry", "cat"), ("old", "cat"), ("old", "dog"), ("wet", "cat"), ("wet", "dog")]
    assert data.pairs_of["train"] == [("dry", "cat"), ("wet", "cat"), ("wet", "dog")]


def test_indices_are_positions_in_the_sorted_vocabularies(data: PairData) -> None:
    assert data.indices([("wet", "cat"), ("dry", "dog"), ("old", "cat")]).tolist() == [[2, 0], [0, 1], [1, 0]]
    assert data.indices([]).shape == (0, 2)


def test_seen_pairs_are_those_of_training(data: PairData) -> None:
    assert data.is_seen(data.pairs).tolist() == [True, False, False, True, True]
    # dry, old and wet with cat and dog
    assert data.seen_matrix.tolist() == [[True, False], [False, False], [True, True]]


def test_statistics_count_pairs_and_images_of_each_split(data: PairData) -> None:
    assert [*data.statistics.values()] == [3, 2, 3, 3, 1, 1, 2, 2, 1, 3, 6]


@pytest.mark.slow
@settings(deadline=None)
@given(splits, st.lists(names, max_size=5))
@example({split: [("old", "dog")] for split in SPLITS}, ["carriage\rreturn"])
def test_an_index_is_read_as_it_was_written_whatever_the_names(
    pairs_of: dict[str, list[tuple[str, str]]], paths: list[str]
) -> None:
    labels = cycle((*pair, split) for split in SPLITS for pair in pairs_of[split])
    data = PairData(pairs_of, [Sample(f"images/{path}", *label) for path, label in zip(paths, labels, strict=False)])
    with tempfile.TemporaryDirectory() as folder:
        data.write(Path(folder))
        again = PairData.read(Path(folder))
    assert (again.pairs_of, again.samples, again.statistics) == (data.pairs_of, data.samples, data.statistics)
