"""Byte order marks, which editors on Windows put before a text, are passed over by every reader of lists."""

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import recompose.tracks
from recompose.errors import DataError
from recompose.tracks.czsl.data.compositional import read_pairs
from recompose.tracks.czsl.data.glove import MEMBER, WIDTH, read_glove
from recompose.tracks.vlc.data.formats import reading
from recompose.tracks.vlc.text import lexicon
from tests.errors import raises

ROOT = Path(recompose.tracks.__file__).parent
READERS: dict[str, tuple[str, Callable[[Path], Any]]] = {  # all that do not read by ``files`` alone, and two that do
    "train_pairs.txt": ("Canvas Boots\nold cat\n", read_pairs),
    "a.csv": ("a,b\n1,2\n", lambda path: [dict(row.fields) for row in reading.read_rows(path, "", ["a"])]),
    MEMBER: ("the " + " ".join(["0.5"] * WIDTH) + "\n", lambda path: read_glove(path, ["the"]).tolist()),
    "index.noun": ("yak n 1 0 1 0 00000000\n", lexicon._index),
}


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_is_passed_over(tmp_path: Path, name: str) -> None:
    path, (text, read) = tmp_path / name, READERS[name]
    path.write_text(text, encoding="utf-8")
    without = read(path)
    assert without
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read(path) == without


@pytest.mark.parametrize("name", ["train_pairs.txt", "a.csv"])
def test_a_text_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    path, (text, read) = tmp_path / name, READERS[name]
    path.write_bytes(text.encode() + b"\n\xff\n")
    with raises(DataError, "no-utf-8", f"{path}:{text.count(chr(10)) + 2}"):
        read(path)


def test_texts_of_data_sets_are_read_in_one_way() -> None:
    """Other ways know no byte order mark."""
    for path in ROOT.glob("*/data/**/*.py"):
        source = path.read_text(encoding="utf-8")
        assert ".read_text(" not in source and '.decode("utf-8")' not in source, path
