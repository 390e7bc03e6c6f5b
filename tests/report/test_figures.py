"""What figures are made of, against loops and closed forms, and how they are written."""

import csv
import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from matplotlib import pyplot as plt
from PIL import Image

from recompose.exhibits import tradeoff
from recompose.exhibits.style import Sheet, panels, styled
from recompose.exhibits.tradeoff import Tradeoff
from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.figures import galleries, maps

Pair = tuple[str, str]


def labels(seed: int, count: int, names: int = 3) -> list[Pair]:
    """States a, b, ... with objects x, y, ..., some of them often."""
    drawn = np.random.default_rng(seed).integers(0, names, size=(count, 2)).tolist()
    return [("abcdef"[m], "uvwxyz"[n]) for m, n in drawn]


def data_of(test: list[Pair], train: list[Pair] = ()) -> PairData:  # type: ignore[assignment]
    """Images of testing and training in turns, one of validation between them."""
    train = list(train) or [("a", "u")]
    pairs = {"train": train, "val": [("z", "z")], "test": test}
    rows = [*(("test", pair) for pair in test), ("val", ("z", "z")), *(("train", pair) for pair in train)]
    return PairData(pairs, [Sample(f"{n}.png", *pair, split) for n, (split, pair) in enumerate(rows)])


def images_of(test: list[Pair], train: list[Pair] = (), root: Path | None = None) -> Any:  # type: ignore[assignment]
    data = data_of(test, train)
    return galleries.TestImages(root, data, data.targets("test", data.pairs))


pairs = st.tuples(st.sampled_from("abc"), st.sampled_from("uvw"))
some_images = st.lists(pairs, min_size=1, max_size=12)


# maps


def clusters(*counts: int, width: int = 16, noise: float = 0.05) -> np.ndarray:
    """Vectors of any length around orthogonal directions."""
    rng = np.random.default_rng(0)
    rows = [
        rng.uniform(0.1, 10) * (np.eye(width)[cluster] + noise * rng.normal(size=width))
        for cluster, count in enumerate(counts)
        for _ in range(count)
    ]
    return np.array(rows, dtype=np.float32)


@pytest.mark.parametrize("counts", [(20, 20), (45, 55), (4, 5)])
def test_a_map_keeps_separate_clusters_apart(counts: tuple[int, int]) -> None:
    """Each point's nearest neighbour is of its own cluster, and so is the nearer mean."""
    flat = maps.flatten(clusters(*counts))
    assert flat.shape == (sum(counts), 2)
    cluster = np.repeat([0, 1], counts)
    distance = np.linalg.norm(flat[:, None] - flat[None], axis=2) + np.diag(np.full(len(flat), np.inf))
    assert (cluster[distance.argmin(axis=1)] == cluster).all()
    means = np.stack([flat[cluster == number].mean(axis=0) for number in (0, 1)])
    assert (np.linalg.norm(flat[:, None] - means[None], axis=2).argmin(axis=1) == cluster).all()


def test_the_same_vectors_give_the_same_map_to_the_bit_and_leave_random_numbers_alone() -> None:
    vectors = clusters(15, 15)
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    first = maps.flatten(vectors)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr]
    np.random.seed(2)
    assert np.array_equal(maps.flatten(vectors.copy()), first)
    assert not np.array_equal(maps.flatten(clusters(15, 15, noise=0.06)), first)


@pytest.mark.parametrize("count", [2, 3, 4])
def test_few_vectors_have_a_map_too(count: int) -> None:
    flat = maps.flatten(clusters(*[1] * count))
    assert flat.shape == (count, 2)
    assert np.isfinite(flat).all()


@settings(deadline=None)
@given(some_images, st.lists(pairs, max_size=12))
def test_means_are_those_of_a_pair_s_images_of_training(test: list[Pair], train: list[Pair]) -> None:
    data = data_of(test, train)
    shown = data.pairs_of["train"]
    embeddings = np.random.default_rng(0).normal(size=(len(data.rows("train")), 3))
    of = [(s.state, s.object) for s in data.samples if s.split == "train"]
    found = maps._means(embeddings, data, data.pairs)
    assert list(found) == [pair for pair in data.pairs if pair in shown]
    for pair, mean in found.items():
        rows = [row for row, label in zip(embeddings.tolist(), of, strict=True) if label == pair]
        assert mean.tolist() == pytest.approx([sum(column) / len(rows) for column in zip(*rows, strict=True)])


def test_means_are_in_the_order_that_they_are_asked_for() -> None:
    data = data_of([("b", "u")], [("a", "u"), ("c", "u")])
    found = maps._means(np.eye(2), data, [("c", "u"), ("b", "u"), ("a", "u")])
    assert [(pair, mean.tolist()) for pair, mean in found.items()] == [(("c", "u"), [0, 1]), (("a", "u"), [1, 0])]


@settings(deadline=None)
@given(some_images)
def test_the_most_populous_pairs_are_those_with_the_most_test_images(test: list[Pair]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "SHOWN", 3)
        images, of, shown = maps._most_populous(data_of(test))
    often = sorted(set(test), key=lambda pair: (-test.count(pair), pair))[:3]
    assert shown == sorted(often)
    assert images.tolist() == [number for number, pair in enumerate(test) if pair in often]
    assert of == [pair for pair in test if pair in often]


# retrieval


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(galleries.NEAREST, 12), st.integers(1, 4))
def test_the_nearest_images_are_the_first_ones_sorted_by_similarity(seed: int, count: int, prototypes: int) -> None:
    """Whole numbers: ties are exact."""
    rng = np.random.default_rng(seed)
    images, of = (rng.integers(-2, 3, size=(rows, 3)).astype(np.float32) for rows in (count, prototypes))
    found = galleries.retrieve(of, images)
    for row, prototype in zip(found.tolist(), of.tolist(), strict=True):
        similar = [sum(a * b for a, b in zip(prototype, image, strict=True)) for image in images.tolist()]
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
    found = galleries._precisions(images, nearest)
    assert found.to_numpy().tolist() == [
        ["a u", True, "semantic", 0.75],
        ["a u", True, "visual", 0.25],
        ["b v", False, "semantic", 0.0],
        ["b v", False, "visual", 1.0],
        ["c w", False, "semantic", 0.0],
        ["c w", False, "visual", 0.25],
    ]
    assert list(found.columns) == ["pair", "seen", "prototype", "precision of 4"]


# swapping


def plain_cosine(first: list[float], second: list[float]) -> float:
    lengths = [math.sqrt(sum(x * x for x in each)) for each in (first, second)]
    return sum(a * b for a, b in zip(first, second, strict=True)) / (lengths[0] * lengths[1]) if all(lengths) else 0.0


@settings(deadline=None)
@given(st.integers(0, 1000), st.integers(2, 8), st.data())
def test_similarities_are_cosines_of_composed_features(seed: int, count: int, draw: st.DataObject) -> None:
    rng = np.random.default_rng(seed)
    parts = {name: rng.normal(size=(count, 4)).astype(np.float32) for name in ("from_states", "from_objects")}
    state, other = draw.draw(st.permutations(range(count)))[:2]

    def composed(of_state: int, of_object: int) -> list[float]:
        rows = parts["from_states"][of_state].tolist(), parts["from_objects"][of_object].tolist()
        return [max(a + b, 0.0) for a, b in zip(*rows, strict=True)]

    found = galleries.similarities(parts, state, other)
    for image in range(count):
        expected = -1 if image in (state, other) else plain_cosine(composed(state, other), composed(image, image))
        assert found[image] == pytest.approx(expected, abs=1e-5)


def test_features_that_vanish_are_like_none() -> None:
    parts = {"from_states": -np.ones((3, 2), dtype=np.float32), "from_objects": np.zeros((3, 2), dtype=np.float32)}
    assert galleries.similarities(parts, 0, 1).tolist() == [-1, -1, 0]


@settings(deadline=None)
@given(some_images)
def test_swaps_are_the_first_ones_whose_composed_pair_test_images_show(test: list[Pair]) -> None:
    """Every couple of first images of a pair, in order, each composed pair once."""
    first = [image for image, pair in enumerate(test) if test.index(pair) == image]
    made: dict[Pair, tuple[int, int]] = {}
    for state in first:
        for other in first:
            composed = test[state][0], test[other][1]
            differ = test[state][0] != test[other][0] and test[state][1] != test[other][1]
            if differ and composed in test:
                made.setdefault(composed, (state, other))
    assert list(galleries._swaps(images_of(test))) == list(made.values())[: galleries.SWAPS]


# predictions


@settings(deadline=None)
@given(some_images, st.data())
def test_the_first_allowed_images_are_of_different_pairs(test: list[Pair], draw: st.DataObject) -> None:
    allowed = np.array(draw.draw(st.lists(st.booleans(), min_size=len(test), max_size=len(test))))
    count = draw.draw(st.integers(1, 5))
    found = galleries._one_image_per_pair(allowed, images_of(test), count)
    every = [image for image, pair in enumerate(test) if allowed[image]]
    first = [image for image in every if image == next(other for other in every if test[other] == test[image])]
    assert found == first[:count]


def predicted(images: Any, draw: st.DataObject) -> np.ndarray:
    """Pairs [images, 5], right at the first place as often as not."""
    rows = []
    for target in images.targets.tolist():
        others = [pair for pair in range(len(images.data.pairs)) if pair != target]
        order = draw.draw(st.permutations(others))
        rows.append([target, *order][:2] if draw.draw(st.booleans()) else [order[0], target])
    return np.array(rows)


@settings(deadline=None)
@given(st.lists(pairs, min_size=2, max_size=8), st.data())
def test_of_two_rows_those_are_shown_that_only_the_last_or_none_tells_right(
    test: list[Pair], draw: st.DataObject
) -> None:
    images = images_of(test)
    top = {row: predicted(images, draw) for row in ("first", "second", "last")}
    right = {row: (found[:, 0] == images.targets).tolist() for row, found in top.items()}
    found = galleries._chosen(images, top)
    better = [image for image in range(len(test)) if right["last"][image] and not right["first"][image]]
    none = [image for image in range(len(test)) if not any(row[image] for row in right.values())]
    shown_better, shown_none = ([image for image in found if image in of] for of in (better, none))
    assert found == [*shown_better, *shown_none]
    assert len(shown_better) == min(2, len({test[image] for image in better}))
    assert len({test[image] for image in shown_better}) == len(shown_better)
    assert shown_none == none[:1]
    assert not better or shown_better[0] == better[0]


@settings(deadline=None)
@given(some_images, st.lists(pairs, max_size=6), st.data())
def test_of_one_row_seen_pairs_come_before_unseen_ones(
    test: list[Pair], train: list[Pair], draw: st.DataObject
) -> None:
    """Whatever is predicted."""
    images = images_of(test, train)
    seen = images.data.pairs_of["train"]
    found = galleries._chosen(images, {"only": predicted(images, draw)})
    first = [image for image, pair in enumerate(test) if test.index(pair) == image]
    parts = [[image for image in first if (test[image] in seen) == kind] for kind in (True, False)]
    assert found == [*parts[0][: galleries.PER_KIND], *parts[1][: galleries.PER_KIND]]


def test_what_is_said_of_several_rows_has_their_names() -> None:
    images = images_of([("a", "u"), ("b", "v")])
    top = np.array([images.data.pairs.index(pair) for pair in (("b", "v"), ("a", "u"), ("z", "z"))])
    one, two = (list(galleries._captions(images, 0, dict.fromkeys(rows, top))) for rows in (["r"], ["r", "q"]))
    assert [text for text, _ in one] == ["\u2717 b v", "\u2713 a u", "\u2717 z z"]
    assert [text for text, _ in two] == ["r", *(text for text, _ in one), "q", *(text for text, _ in one)]
    assert {look["color"] for text, look in one if text[0] == "\u2717"} == {galleries.WRONG}


# curves

ACCURACIES = Tradeoff("unseen", "seen", lambda results, evaluation: (np.zeros(1), np.ones(1)))


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 20), st.integers(0, 20)), min_size=1, max_size=8))
def test_the_staircase_s_height_is_the_best_seen_accuracy_that_still_gives_the_unseen_one(
    steps: list[tuple[int, int]],
) -> None:
    """Unseen accuracy rises from point to point, seen accuracy falls."""
    unseen = np.cumsum([up for up, _ in steps]) / 200
    seen = np.cumsum([down for _, down in steps])[::-1] / 200
    points = tradeoff._sampled(ACCURACIES, unseen, seen)
    grid = np.linspace(0, unseen[-1], len(points))
    for value, height in zip(grid, points["seen"], strict=True):
        assert height == 100 * max(s for u, s in zip(unseen, seen, strict=True) if u >= value)


def test_a_staircase_falls_behind_its_points() -> None:
    points = tradeoff._sampled(ACCURACIES, np.array([0.0, 0.5, 1.0]), np.array([0.9, 0.6, 0.1]))
    at = points.set_index("unseen")["seen"]
    assert [at[place] for place in (0, 1, 50, 51, 100)] == [90, 60, 60, 10, 10]


# sheets

HOSTILE = [
    "<script>$x_{",
    "$",
    "100 % & \\input{x}",
    "]]> --> \"quoted\" 'single'",
    "$x$ and $y$",  # mathematics, if it were taken for that
    "$x_{$",  # and this, none that is right
    "<script>$\\frac$ $x_{",
]
NUMBERS = pd.DataFrame({"name": ["a, b", "<c>"], "value": [1 / 3, 2.0]})


@pytest.fixture(autouse=True)
def closed() -> Iterator[None]:
    """No figure stays open."""
    yield
    left = plt.get_fignums()
    plt.close("all")
    assert left == []


def drawn(stem: Path, *said: str, watermarks: list[str] = (), title: str = "T") -> Path:  # type: ignore[assignment]
    """A sheet with names in a title, in a legend, on an axis and beside a point."""
    with styled():
        figure, axes = plt.subplots(1, max(1, len(said)), squeeze=False)
        try:
            for axis, name in zip(axes[0], said, strict=False):
                axis.plot([0, 1], [1, 0], label=name)
                axis.set(title=name, xlabel=name)
                axis.annotate(name, (0, 0))
                axis.legend()
            Sheet(stem, title, list(watermarks)).write(figure, NUMBERS)
        finally:
            plt.close(figure)
    return stem


def texts(svg: Path) -> list[str]:
    """What an SVG says as text."""
    found = ET.parse(svg).getroot().iter("{http://www.w3.org/2000/svg}text")
    return ["".join(element.itertext()) for element in found]


def test_a_sheet_is_a_vector_a_bitmap_and_the_numbers(tmp_path: Path) -> None:
    stem = drawn(tmp_path / "deep" / "figure-1", "name", title="p/figure-1: λ → <c> & d")
    assert sorted(path.name for path in stem.parent.iterdir()) == ["figure-1.csv", "figure-1.png", "figure-1.svg"]
    with Image.open(stem.with_suffix(".png")) as bitmap:
        assert bitmap.format == "PNG"
        assert bitmap.info["Title"] == "p/figure-1: λ → <c> & d"
    assert "name" in texts(stem.with_suffix(".svg"))
    assert "λ → &lt;c&gt; &amp; d" in stem.with_suffix(".svg").read_text()
    with stem.with_suffix(".csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a, b", "0.3333"], ["<c>", "2.0000"]]


def test_the_same_drawing_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = (drawn(tmp_path / name / "f", "one", "two", watermarks=["mark"]) for name in ("a", "b"))
    for ending in (".svg", ".png", ".csv"):
        assert first.with_suffix(ending).read_bytes() == second.with_suffix(ending).read_bytes()
    other = drawn(tmp_path / "c" / "f", "one", "three", watermarks=["mark"])
    for ending in (".svg", ".png"):
        assert first.with_suffix(ending).read_bytes() != other.with_suffix(ending).read_bytes()


def test_watermarks_stand_in_the_drawing(tmp_path: Path) -> None:
    said = " ".join(texts(drawn(tmp_path / "f", "name", watermarks=["incomplete: 1 run", "mixed"]).with_suffix(".svg")))
    assert "incomplete: 1 run" in said
    assert "mixed" in said
    assert "incomplete" not in " ".join(texts(drawn(tmp_path / "g", "name").with_suffix(".svg")))


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_drawn_as_text_whatever_they_are(tmp_path: Path, name: str) -> None:
    stem = drawn(tmp_path / "f", name, watermarks=[name], title=name)
    assert texts(stem.with_suffix(".svg")).count(name) == 5
    assert "<script" not in stem.with_suffix(".svg").read_text()
    with Image.open(stem.with_suffix(".png")) as bitmap:
        bitmap.load()


# drawings


def frame(panel: str, kind: str, pair: Pair, count: int = 4) -> pd.DataFrame:
    points = np.random.default_rng(0).normal(size=(count, 2))
    return maps._frame("d", panel, points, [" ".join(pair)] * count, [pair] * count, kind)


@pytest.mark.parametrize("name", HOSTILE)
def test_maps_of_hostile_names_can_be_drawn(tmp_path: Path, name: str) -> None:
    with styled():
        maps._draw(
            [frame(name, "image", (name, name)), frame(name, "visual", ("a", name))], Sheet(tmp_path / "f", name, [])
        )
    assert f"d, {name}" in texts(tmp_path / "f.svg")
    found = pd.read_csv(tmp_path / "f.csv", keep_default_na=False)
    assert found["panel"].tolist() == [name] * 8
    assert found["object"].tolist() == [name] * 8


def test_maps_of_no_runs_are_empty_panels_and_a_header(tmp_path: Path) -> None:
    with styled():
        maps._draw([], Sheet(tmp_path / "f", "t", ["incomplete: all of it"]))
    assert (tmp_path / "f.csv").read_text() == "dataset,panel,kind,state,object,x,y\n"
    assert "incomplete: all of it" in texts(tmp_path / "f.svg")


@pytest.mark.parametrize("name", HOSTILE)
def test_images_with_hostile_pairs_can_be_shown(tmp_path: Path, name: str) -> None:
    images = images_of([(name, "u"), ("a", "u")], root=tmp_path)
    Image.new("L", (3, 2), 7).save(tmp_path / images.path(0))
    with styled():
        figure, axes = plt.subplots(1, 1)
        try:
            images.show(axes, 0)
            galleries._mark(axes, images.name(images.targets[0]), right=False)
            Sheet(tmp_path / "f", "t", []).write(figure, NUMBERS)
        finally:
            plt.close(figure)
    assert f"\u2717 {name} u" in texts(tmp_path / "f.svg")


def test_an_image_that_is_not_on_this_disk_is_an_error(tmp_path: Path) -> None:
    figure, axes = plt.subplots(1, 1)
    with pytest.raises(FileNotFoundError):
        images_of([("a", "u")], root=tmp_path).show(axes, 0)
    plt.close(figure)


@pytest.mark.parametrize("name", HOSTILE)
def test_curves_of_hostile_rows_and_data_sets_can_be_drawn(tmp_path: Path, name: str) -> None:
    rows = [
        {"dataset": name, "row": row, "seed": seed, "unseen": 10 * step, "seen": 50 - 9 * step - seed}
        for row in (name, "other")
        for seed in range(2)
        for step in range(4)
    ]
    with styled():
        figure, axes = panels(1, 1)
        try:
            tradeoff._draw_curves(axes[0, 0], pd.DataFrame(rows), name, ACCURACIES)
            Sheet(tmp_path / "f", name, []).write(figure, pd.DataFrame(rows))
        finally:
            plt.close(figure)
    assert texts(tmp_path / "f.svg").count(name) == 2
