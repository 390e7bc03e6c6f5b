"""Word vectors: arrays as they are published, and pickles that are hostile or hold something else."""

import os
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import WordVectorsError
from recompose.tracks.gzsl.data import word_vectors
from recompose.tracks.gzsl.data.word_vectors import read_words
from tests.errors import raises

VECTORS = np.random.default_rng(0).normal(size=(4, 6))
VECTORS[2] = 0  # as that of one of SUN's attributes


def assert_refused(path: Path, code: str, place: object = None) -> None:
    with raises(WordVectorsError, code, place or path) as caught:
        read_words(path)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def pickled(path: Path, content: Any, protocol: int = 3) -> Path:
    path.write_bytes(pickle.dumps(content, protocol))
    return path


@pytest.mark.parametrize("protocol", [3, 4])
@pytest.mark.parametrize(
    "array",
    [VECTORS, VECTORS.astype(">f8"), np.asfortranarray(VECTORS)],
)
def test_a_pickled_array_is_read(tmp_path: Path, array: np.ndarray, protocol: int) -> None:
    words = read_words(pickled(tmp_path / "words.pkl", array, protocol))
    assert words.dtype == np.float32
    assert np.array_equal(words, array.astype(np.float32))


def test_an_array_of_older_numpy_is_read(tmp_path: Path) -> None:
    """The published ones name NumPy's parts as versions before 2 did."""
    path = pickled(tmp_path / "words.pkl", VECTORS)
    content = path.read_bytes()
    assert b"numpy._core.multiarray" in content
    path.write_bytes(content.replace(b"numpy._core.multiarray", b"numpy.core.multiarray"))
    assert np.array_equal(read_words(path), VECTORS.astype(np.float32))


def test_a_saved_array_is_read(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", VECTORS)
    assert np.array_equal(read_words(tmp_path / "words.npy"), VECTORS.astype(np.float32))


# code in pickles


class Hostile:
    """Its pickle makes a folder as soon as it is opened."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_a_hostile_pickle_is_refused_and_nothing_is_run(tmp_path: Path) -> None:
    for number, content in enumerate((Hostile(tmp_path / "run"), [VECTORS, Hostile(tmp_path / "run")])):
        assert_refused(pickled(tmp_path / f"{number}.pkl", content), "hostile-pickle")
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    "content",
    [
        b"cos\nsystem\n(S'touch run'\ntR.",
        b"(S'touch run'\nios\nsystem\n.",
        b"cnumpy.core.multiarray\nfromfile\n.",
        b"crecompose.tracks.gzsl.data.word_vectors\n_ADMITTED\n.",
    ],
)
def test_nothing_but_the_parts_of_arrays_is_looked_up(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.pkl").write_bytes(content)
    assert_refused(tmp_path / "words.pkl", "hostile-pickle")


@pytest.mark.parametrize(
    "content",
    [
        b"<html>not found</html>",
        b"cnumpy\nndarray\n.",  # the part itself
        b"\x80\x04\x8e" + (2**60).to_bytes(8, "little") + b"x.",  # bytes that are not there
    ],
)
def test_pickles_of_nothing_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "words.pkl").write_bytes(content)
    assert_refused(tmp_path / "words.pkl", "no-array")


def test_a_pickled_array_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    path = pickled(tmp_path / "words.pkl", VECTORS)
    content = path.read_bytes()
    for sides in (b"K\x04K\xff\x86", b"J\xff\xff\xff\x7fJ\xff\xff\xff\x7f\x86", b"J\xff\xff\xff\xffK\x06\x86"):
        path.write_bytes(content.replace(b"K\x04K\x06\x86", sides))
        assert_refused(path, "no-array")


@pytest.mark.parametrize("content", [VECTORS.tolist(), VECTORS.astype(object)])
def test_pickles_of_something_else_are_refused(tmp_path: Path, content: Any) -> None:
    assert_refused(pickled(tmp_path / "words.pkl", content), "no-array")


# other arrays


def test_saved_objects_are_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", np.array([Hostile(tmp_path / "run")], dtype=object), allow_pickle=True)
    assert_refused(tmp_path / "words.npy", "no-array")
    assert not (tmp_path / "run").exists()


def test_a_saved_array_that_declares_more_than_it_holds_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "words.npy", VECTORS)
    content = (tmp_path / "words.npy").read_bytes()
    (tmp_path / "words.npy").write_bytes(content.replace(b"(4, 6), }" + b" " * 10, b"(400000000, 600), }"))
    assert_refused(tmp_path / "words.npy", "no-array")


@pytest.mark.parametrize("array", [VECTORS[0], VECTORS[:0], np.ones((2, 3), int)])
def test_arrays_of_another_form_are_refused(tmp_path: Path, array: np.ndarray) -> None:
    np.save(tmp_path / "words.npy", array)
    assert_refused(tmp_path / "words.npy", "wrong-shape")


@pytest.mark.parametrize("value", [np.nan, 1e39])
def test_numbers_that_are_none_are_refused(tmp_path: Path, value: float) -> None:
    array = VECTORS.copy()
    array[3, 1] = value
    path = pickled(tmp_path / "words.pkl", array)
    assert_refused(path, "not-finite", f"{path}:4")


def test_missing_and_huge_files_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert_refused(tmp_path / "words.pkl", "missing-file")
    monkeypatch.setattr(word_vectors, "MOST_BYTES", 100)
    assert_refused(pickled(tmp_path / "words.pkl", VECTORS), "large-file")
