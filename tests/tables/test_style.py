"""How figures are written."""

import csv
from pathlib import Path

import pandas as pd
import pytest
from matplotlib import pyplot as plt
from PIL import Image

from recompose.tables.style import Sheet, styled
from tests.tables.drawings import HOSTILE, texts

pytestmark = pytest.mark.usefixtures("closed")
NUMBERS = pd.DataFrame({"name": ["a, b", "<c>"], "value": [1 / 3, 2.0]})


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
            Sheet(stem, title, list(watermarks)).write(NUMBERS, lambda: figure)
        finally:
            plt.close(figure)
    return stem


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


@pytest.mark.slow
def test_the_same_drawing_has_the_same_bytes(tmp_path: Path) -> None:
    first, second = (drawn(tmp_path / name / "f", "one", "two", watermarks=["mark"]) for name in ("a", "b"))
    for ending in (".svg", ".png", ".csv"):
        assert first.with_suffix(ending).read_bytes() == second.with_suffix(ending).read_bytes()
    other = drawn(tmp_path / "c" / "f", "one", "three", watermarks=["mark"])
    for ending in (".svg", ".png"):
        assert first.with_suffix(ending).read_bytes() != other.with_suffix(ending).read_bytes()


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_drawn_as_text_whatever_they_are(tmp_path: Path, name: str) -> None:
    stem = drawn(tmp_path / "f", name, watermarks=[name], title=name)
    assert texts(stem.with_suffix(".svg")).count(name) == 5
    assert "<script" not in stem.with_suffix(".svg").read_text()
    with Image.open(stem.with_suffix(".png")) as bitmap:
        bitmap.load()
