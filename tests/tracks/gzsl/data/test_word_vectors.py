"""Word vectors: arrays as they are published, and files that are hostile or hold other content."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import WordVectorsError
from recompose.tracks.gzsl.data.word_vectors import read_words
from tests.errors import raises

VECTORS = np.random.default_rng(0).normal(size=(4, 6))
VECTORS[2] = 0  # as that of one of SUN's attributes
SIDES = b"K\x04K\x06\x86"  # of the vectors in a pickle


def dump(content: Any, protocol: int = 3) -> Callable[[Path], None]:
    return lambda path: path.with_suffix(".pkl").write_bytes(pickle.dumps(content, protocol))


def dump_bytes(content: bytes) -> Callable[[Path], None]:
    return lambda path: path.with_suffix(".pkl").write_bytes(content)


def save(content: np.ndarray) -> Callable[[Path], None]:
    return lambda path: np.save(path.with_suffix(".npy"), content)


def written(folder: Path, write: Callable[[Path], None]) -> Path:
    write(folder / "words")
    (path,) = folder.glob("words.*")
    return path


@pytest.mark.parametrize(
    "write",
    [
        dump(VECTORS),
        dump(VECTORS.astype(">f8"), 4),
        dump(np.asfortranarray(VECTORS)),
        # the published ones name NumPy's parts as versions before 2 did
        dump_bytes(pickle.dumps(VECTORS, 3).replace(b"numpy._core.multiarray", b"numpy.core.multiarray")),
        save(VECTORS),
    ],
)
def test_an_array_is_read_however_it_was_written(tmp_path: Path, write: Callable[[Path], None]) -> None:
    words = read_words(written(tmp_path, write))
    assert words.dtype == np.float32
    assert np.array_equal(words, VECTORS.astype(np.float32))


class Hostile:
    """An object whose pickle makes a folder as soon as it is opened."""

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, ("run",)


def save_hostile(path: Path) -> None:
    np.save(path.with_suffix(".npy"), np.array([Hostile()], dtype=object), allow_pickle=True)


def save_too_short(path: Path) -> None:
    save(VECTORS)(path)
    file = path.with_suffix(".npy")
    file.write_bytes(file.read_bytes().replace(b"(4, 6), }" + b" " * 10, b"(400000000, 600), }"))


NOT_FINITE, TOO_LARGE = VECTORS.copy(), VECTORS.copy()
NOT_FINITE[3, 1], TOO_LARGE[3, 1] = np.nan, 1e39
WRONG: list[tuple[str, Callable[[Path], None]]] = [
    ("hostile-pickle", dump(Hostile())),
    ("hostile-pickle", dump_bytes(b"cos\nsystem\n(S'touch run'\ntR.")),
    ("hostile-pickle", dump_bytes(b"cnumpy.core.multiarray\nfromfile\n.")),
    ("hostile-pickle", dump_bytes(b"crecompose.tracks.gzsl.data.word_vectors\n_PARTS\n.")),
    ("no-array", dump_bytes(b"<html>not found</html>")),
    ("no-array", dump_bytes(b"cnumpy\nndarray\n.")),  # a part of an array alone
    ("no-array", dump_bytes(pickle.dumps(VECTORS, 3).replace(SIDES, b"K\x04K\xff\x86"))),
    ("no-array", dump(VECTORS.tolist())),
    ("no-array", save_hostile),
    ("no-array", save_too_short),
    ("wrong-shape", save(VECTORS[0])),
    ("not-finite", dump(NOT_FINITE)),
    ("not-finite", dump(TOO_LARGE)),
]


@pytest.mark.parametrize(("code", "write"), WRONG)
def test_other_content_is_refused_and_nothing_is_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, write: Callable[[Path], None]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = written(tmp_path, write)
    with raises(WordVectorsError, code, f"{path}:4" if code == "not-finite" else path):
        read_words(path)
    assert [*tmp_path.iterdir()] == [path]


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with raises(WordVectorsError, "missing-file", tmp_path / "words.pkl"):
        read_words(tmp_path / "words.pkl")
