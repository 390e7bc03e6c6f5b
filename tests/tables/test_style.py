"""How figures are written: sheets, sweeps, maps of the plane."""

import csv
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot as plt
from PIL import Image

from recompose.parts.plane import flatten
from recompose.parts.style import Drawing, styled
from recompose.tables.artifacts import draw
from tests.tables.drawings import HOSTILE, texts
from tests.tables.fakes import AUC, Fake, by_seed, paper_of

pytestmark = pytest.mark.usefixtures("closed")
NUMBERS = pd.DataFrame({"name": ["a, b", "<c>"], "value": [1 / 3, 2.0]})


def write_drawing(stem: Path, *output: str, title: str = "T") -> Path:
    """A drawing with names in a title, in a legend, on an axis and beside a point."""
    with styled():
        figure, axes = plt.subplots(1, max(1, len(output)), squeeze=False)
        try:
            for axis, name in zip(axes[0], output, strict=False):
                axis.plot([0, 1], [1, 0], label=name)
                axis.set(title=name, xlabel=name)
                axis.annotate(name, (0, 0))
                axis.legend()
            Drawing(NUMBERS, lambda: figure).write(stem, title)
        finally:
            plt.close(figure)
    return stem


def test_a_drawing_is_a_vector_a_bitmap_and_the_numbers(tmp_path: Path) -> None:
    stem = write_drawing(tmp_path / "deep" / "figure-1", "name", title="p/figure-1: λ → <c> & d")
    assert sorted(path.name for path in stem.parent.iterdir()) == ["figure-1.csv", "figure-1.png", "figure-1.svg"]
    with Image.open(stem.with_suffix(".png")) as bitmap:
        assert bitmap.format == "PNG"
        assert bitmap.info["Title"] == "p/figure-1: λ → <c> & d"
    assert "name" in texts(stem.with_suffix(".svg"))
    assert "λ → &lt;c&gt; &amp; d" in stem.with_suffix(".svg").read_text()
    with stem.with_suffix(".csv").open(newline="") as file:
        assert list(csv.reader(file)) == [["name", "value"], ["a, b", "0.3333"], ["<c>", "2.0000"]]


@pytest.mark.slow
def test_the_same_drawing_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = (write_drawing(tmp_path / name / "f", "one", "two") for name in ("a", "b"))
    for ending in (".svg", ".png", ".csv"):
        assert first.with_suffix(ending).read_bytes() == second.with_suffix(ending).read_bytes()
    other = write_drawing(tmp_path / "c" / "f", "one", "three")
    for ending in (".svg", ".png"):
        assert first.with_suffix(ending).read_bytes() != other.with_suffix(ending).read_bytes()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_drawn_as_text_whatever_they_are(tmp_path: Path, name: str) -> None:
    stem = write_drawing(tmp_path / "f", name, title=name)
    assert texts(stem.with_suffix(".svg")).count(name) == 4
    assert "<script" not in stem.with_suffix(".svg").read_text()
    with Image.open(stem.with_suffix(".png")) as bitmap:
        bitmap.load()


H = "test/closed/dense/harmonic_mean"


def test_the_numbers_beside_a_sweep_are_those_of_each_run_and_what_it_lacks_is_none() -> None:
    rows = {number: number for number in ("0", "0.0001")}  # methods that are called by their number
    measured = {number: {"d": by_seed({H: 0.2}, {H: 0.3})} for number in rows}
    paper = paper_of(kind="sweep", x_label="weight", columns={"AUC": AUC, "H": H}, rows=rows)
    drawing = draw(Fake(measured), paper, "table-1")  # type: ignore[arg-type]
    points = [f"d,{x},{seed},,{h}.0000" for x in ("0.0000", "0.0001") for seed, h in ((0, 20), (1, 30))]
    assert drawing.csv.splitlines() == ["dataset,x,seed,AUC,H", *points]


def clusters(noise: float = 0.05) -> np.ndarray:
    """Vectors of any length around two orthogonal directions."""
    rng = np.random.default_rng(0)
    directions = np.repeat(np.eye(2, 16), 15, axis=0)
    lengths = rng.uniform(0.1, 10, (len(directions), 1))
    return (lengths * (directions + noise * rng.normal(size=directions.shape))).astype(np.float32)


def test_the_same_vectors_give_the_same_map_to_the_bit_and_leave_random_numbers_alone() -> None:
    vectors = clusters()
    np.random.seed(1)
    state = np.random.get_state()[1].tolist()  # type: ignore[index, union-attr]
    first = flatten(vectors)
    assert np.random.get_state()[1].tolist() == state  # type: ignore[index, union-attr]
    np.random.seed(2)
    assert np.array_equal(flatten(vectors.copy()), first)
    assert not np.array_equal(flatten(clusters(noise=0.06)), first)
