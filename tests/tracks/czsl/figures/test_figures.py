"""What figures of pairs are swaps of, against plain loops."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.figures import galleries, maps
from tests.tracks.loops import cosine, dot

pytestmark = pytest.mark.usefixtures("closed")
Pair = tuple[str, str]


def data_of(test: list[Pair], train: list[Pair] = ()) -> PairData:  # type: ignore[assignment]
    """Images of testing and training in turns, one of validation between them."""
    train = list(train) or [("a", "u")]
    pairs = {"train": train, "val": [("z", "z")], "test": test}
    rows = [*(("test", pair) for pair in test), ("val", ("z", "z")), *(("train", pair) for pair in train)]
    return PairData(pairs, [Sample(f"{n}.png", *pair, split) for n, (split, pair) in enumerate(rows)])


def images_of(test: list[Pair], train: list[Pair] = ()) -> Any:  # type: ignore[assignment]
    return galleries.TestImages(None, data_of(test, train))


pairs = st.tuples(st.sampled_from("abc"), st.sampled_from("uvw"))
some_images = st.lists(pairs, min_size=1, max_size=12)


# maps and galleries


@settings(deadline=None)
@given(some_images, st.lists(pairs, max_size=12))
def test_means_are_those_of_a_pair_s_images_of_training(test: list[Pair], train: list[Pair]) -> None:
    data = data_of(test, train)
    shown = data.pairs_of["train"]
    embeddings = np.random.default_rng(0).normal(size=(len(data.rows("train")), 3))
    labels = [(s.state, s.object) for s in data.samples if s.split == "train"]
    result = maps._means(embeddings, data, data.pairs)
    assert list(result) == [pair for pair in data.pairs if pair in shown]
    for pair, mean in result.items():
        rows = [row for row, label in zip(embeddings.tolist(), labels, strict=True) if label == pair]
        assert mean.tolist() == pytest.approx([sum(column) / len(rows) for column in zip(*rows, strict=True)])


@settings(deadline=None)
@given(some_images)
def test_the_most_populous_pairs_are_those_with_the_most_test_images(test: list[Pair]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "SHOWN", 3)
        images, labels, shown = maps._most_populous(data_of(test))
    often = sorted(set(test), key=lambda pair: (-test.count(pair), pair))[:3]
    assert shown == sorted(often)
    assert images.tolist() == [number for number, pair in enumerate(test) if pair in often]
    assert labels == [pair for pair in test if pair in often]


# retrieval


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(galleries.NEAREST, 12), st.integers(1, 4))
def test_the_nearest_images_are_the_first_ones_sorted_by_similarity(seed: int, count: int, prototypes: int) -> None:
    """Whole numbers: ties are exact."""
    rng = np.random.default_rng(seed)
    images, vectors = (rng.integers(-2, 3, size=(rows, 3)).astype(np.float32) for rows in (count, prototypes))
    result = galleries.retrieve(vectors, images)
    for row, prototype in zip(result.tolist(), vectors.tolist(), strict=True):
        similar = [dot(prototype, image) for image in images.tolist()]
        assert row == sorted(range(count), key=lambda image: (-similar[image], image))[: galleries.NEAREST]


def test_precisions_are_shares_of_right_images_for_each_pair_of_test_images() -> None:
    test = [("a", "u"), ("b", "v"), ("a", "u"), ("b", "v"), ("c", "w"), ("a", "u")]
    images = images_of(test, train=[("a", "u"), ("d", "u")])
    places = {pair: images.data.pairs.index(pair) for pair in images.data.pairs}
    nearest = {kind: np.zeros((len(places), 4), dtype=int) for kind in ("semantic", "visual")}
    nearest["semantic"][places["a", "u"]] = [0, 2, 1, 5]
    nearest["visual"][places["a", "u"]] = [1, 3, 4, 0]
    nearest["semantic"][places["b", "v"]] = [0, 2, 4, 5]
    nearest["visual"][places["b", "v"]] = [1, 3, 1, 3]
    nearest["visual"][places["c", "w"]] = [4, 0, 1, 2]
    result = galleries._precisions(images, nearest)
    assert list(result) == [
        ["a u", True, "semantic", 0.75],
        ["a u", True, "visual", 0.25],
        ["b v", False, "semantic", 0.0],
        ["b v", False, "visual", 1.0],
        ["c w", False, "semantic", 0.0],
        ["c w", False, "visual", 0.25],
    ]


# swapping


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(2, 8), st.data())
def test_similarities_are_cosines_of_composed_features(seed: int, count: int, draw: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    parts = {name: rng.normal(size=(count, 4)) for name in ("from_states", "from_objects")}
    state, other = draw.draw(st.permutations(range(count)))[:2]

    def composed(of_state: int, of_object: int) -> list[float]:
        rows = parts["from_states"][of_state].tolist(), parts["from_objects"][of_object].tolist()
        return [max(a + b, 0.0) for a, b in zip(*rows, strict=True)]

    result = galleries.similarities(parts, state, other)
    for image in range(count):
        vectors = composed(state, other), composed(image, image)
        expected = -1 if image in (state, other) else cosine(*vectors) if all(map(any, vectors)) else 0
        assert result[image] == pytest.approx(expected)


@settings(deadline=None)
@given(some_images)
def test_swaps_are_the_first_ones_whose_composed_pair_test_images_show(test: list[Pair]) -> None:
    """Every couple of first images of a pair, in order, each composed pair once."""
    first = [image for image, pair in enumerate(test) if test.index(pair) == image]
    swaps: dict[Pair, tuple[int, int]] = {}
    for state in first:
        for other in first:
            composed = test[state][0], test[other][1]
            differ = test[state][0] != test[other][0] and test[state][1] != test[other][1]
            if differ and composed in test:
                swaps.setdefault(composed, (state, other))
    assert list(galleries._swaps(images_of(test))) == list(swaps.values())[: galleries.SWAPS]


# predictions


def test_of_two_rows_those_are_shown_that_only_the_last_or_none_tells_right() -> None:
    """Each of another pair: two that the last row alone tells right, then one that no row does."""
    images = images_of([("a", "u"), ("a", "u"), ("b", "v"), ("c", "w"), ("c", "v"), ("c", "u")])
    wrong = (images.targets + 1) % len(images.data.pairs)
    right = {"first": np.arange(6) == 3, "last": np.isin(np.arange(6), [0, 1, 3, 4])}
    top = {row: np.where(told, images.targets, wrong)[:, None] for row, told in right.items()}
    assert galleries._chosen(images, top) == [0, 4, 2]


def test_of_one_row_seen_pairs_come_before_unseen_ones_whatever_is_predicted() -> None:
    images = images_of([("b", "v"), ("a", "u"), ("b", "v"), ("c", "w"), ("a", "w")], train=[("a", "u"), ("a", "w")])
    assert galleries._chosen(images, {"only": np.zeros((5, 2), dtype=int)}) == [1, 4, 0, 3]


# drawings


def test_maps_of_no_runs_are_empty_panels_and_a_header(tmp_path: Path) -> None:
    maps._draw([]).write(tmp_path / "f", "t")
    assert (tmp_path / "f.csv").read_text() == "dataset,panel,kind,state,object,x,y\n"
    assert (tmp_path / "f.svg").is_file()
