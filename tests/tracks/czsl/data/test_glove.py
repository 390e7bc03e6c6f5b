"""GloVe's vectors: which words of a name count, from an archive or a text file, and what is said of other files."""

import zipfile
from pathlib import Path

import numpy as np
import pytest

from recompose.errors import WordVectorsError
from recompose.tracks.czsl.data.glove import MEMBER, WIDTH, read_glove, words_of
from tests.errors import raises

VECTORS = {
    word: np.random.default_rng(seed).normal(size=WIDTH).round(5)
    for seed, word in enumerate(["full", "grain", "cat", ",", "é"])
}


def line(word: str, vector: np.ndarray) -> str:
    return " ".join([word, *(f"{value:.5f}" for value in vector)]) + "\n"


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / MEMBER
    path.write_text("".join(line(word, vector) for word, vector in VECTORS.items()), encoding="utf-8")
    return path


def zipped(text: Path, folder: str = "") -> Path:
    path = text.with_name("glove.6B.zip")
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("glove.6B.50d.txt", "cat 1 2 3\n")
        archive.writestr(f"__MACOSX/._{MEMBER}", "macOS")
        archive.write(text, folder + MEMBER)
    return path


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Shoes.Clogs.and.Mules", ["shoes", "clogs", "and", "mules"]),
        ("Boots.Mid-Calf", ["boots", "mid", "calf"]),
        ("traffic_light", ["traffic", "light"]),
        ("...", []),
    ],
)
def test_a_name_has_the_words_between_its_marks(name: str, words: list[str]) -> None:
    assert words_of(name) == words


@pytest.mark.parametrize("folder", [None, "", "glove.6B/"])
def test_a_name_has_the_mean_of_its_known_words(text: Path, folder: str | None) -> None:
    """In a text file, in the archive, or in one that somebody packed again."""
    actual = read_glove(text if folder is None else zipped(text, folder), ["cat", "Full.unheard.grain", "É"])
    expected = [VECTORS["cat"], (VECTORS["full"] + VECTORS["grain"]) / 2, VECTORS["é"]]
    np.testing.assert_allclose(actual, expected, rtol=0, atol=1e-12)


def test_names_without_any_known_word_are_listed(text: Path) -> None:
    with raises(WordVectorsError, code="unknown-words", place="dog, unheard.of"):
        read_glove(text, ["cat", "dog", "unheard.of"])


@pytest.mark.parametrize("numbers", ["x " * WIDTH, "nan " * WIDTH, "1 " * (WIDTH + 1)])
def test_a_line_without_300_numbers_is_named(text: Path, numbers: str) -> None:
    text.write_text(line("grain", VECTORS["grain"]) + f"cat {numbers}\n")
    with raises(WordVectorsError, code="no-vector", place=f"{MEMBER}:2"):
        read_glove(text, ["cat"])


def test_a_damaged_archive_is_named(text: Path) -> None:
    path = zipped(text)
    whole, middle = path.read_bytes(), path.stat().st_size // 2
    flipped = bytes(255 - byte for byte in whole[middle : middle + 50])
    for damaged in (whole[:2000], whole[:middle] + flipped + whole[middle + 50 :]):
        path.write_bytes(damaged)
        with raises(WordVectorsError, code="wrong-archive", place=path):
            read_glove(path, ["cat"])
