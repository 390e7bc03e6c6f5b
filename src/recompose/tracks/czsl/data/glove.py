"""GloVe's word vectors, read from the archive or the text file that its authors publish."""

import os
import re
import zipfile
import zlib
from codecs import BOM_UTF8
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from recompose.data.raw import open_archive
from recompose.errors import WordVectorsError
from recompose.params.sections import Archive
from recompose.recipes.plan import Recipe

ARCHIVE = "glove.6B.zip"
MEMBER = "glove.6B.300d.txt"
WIDTH = 300


def acquire(recipe: Recipe, raw: Path) -> Path:
    """Download the archive unless it is there; return its folder."""
    (archive,) = (
        Archive(file=file, sha256=recipe.document["sha256"], urls=urls) for file, urls in recipe.sources["urls"].items()
    )
    with open_archive(archive, raw) as path:
        return path.parent


def index(recipe: Recipe, root: Path, folder: Path) -> list[str]:
    """Link the archive, which is read where words are looked up; return its name."""
    archive = str(recipe.document["file"])
    (folder / archive).unlink(missing_ok=True)  # left by an interrupted attempt
    (folder / archive).symlink_to(os.path.relpath(root / archive, folder))
    return [archive]


def words_of(name: str) -> list[str]:
    """Return the words of a state or an object: "Shoes.Clogs.and.Mules" has four."""
    return re.findall(r"[^\W_]+", name.lower())


@contextmanager
def _open(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != ".zip":
        with path.open("rb") as file:
            yield file
        return
    try:
        with zipfile.ZipFile(path) as archive:
            names = [name for name in archive.namelist() if re.split(r"[/\\]", name)[-1] == MEMBER]  # in any folder
            with archive.open(next(iter(names), MEMBER)) as member:
                yield member
    except (zipfile.BadZipFile, zlib.error, EOFError, KeyError) as error:
        message = f"{path} is not a zip archive with {MEMBER} in it: {error}. Remove it, or put GloVe there."
        raise WordVectorsError(message, code="wrong-archive", place=path) from None


def _vector(numbers: bytes, place: str) -> np.ndarray:
    try:
        vector = np.array(numbers.split(), dtype=np.float64)
    except ValueError:
        vector = np.empty(0)
    if len(vector) != WIDTH or not np.isfinite(vector).all():
        message = f"{place} does not hold {WIDTH} numbers: this is another file than {MEMBER}, or a damaged one."
        raise WordVectorsError(message, code="no-vector", place=place)
    return vector


def read_glove(path: Path, names: list[str]) -> np.ndarray:
    """Return a vector [names, 300] of each name: the mean of the vectors of its known words.

    Args:
        path: ``glove.6B.zip``, or ``glove.6B.300d.txt`` from it.
        names: states and objects as data sets spell them.

    Raises:
        WordVectorsError: the file is not GloVe, or has no word of a name.
    """
    needed = {word for name in names for word in words_of(name)}
    vectors = {}
    with _open(path) as file:
        for number, line in enumerate(file, start=1):
            word, _, numbers = line.removeprefix(BOM_UTF8).partition(b" ")
            if (name := word.decode("utf-8", "replace")) in needed:
                vectors[name] = _vector(numbers, f"{path}:{number}")
    unknown = [name for name in names if not any(word in vectors for word in words_of(name))]
    if unknown:
        message = f"{path} has no vector for any word of: {', '.join(map(repr, unknown))}"
        raise WordVectorsError(message, code="unknown-words", place=", ".join(unknown))
    return np.stack([np.mean([vectors[word] for word in words_of(name) if word in vectors], axis=0) for name in names])
