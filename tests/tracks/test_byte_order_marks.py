"""Byte order marks, which editors on Windows put before a text, are passed over by every reader of lists."""

import codecs
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import recompose.tracks
from recompose.errors import DataError
from recompose.papers.declaration import Paper
from recompose.params.documents import read_document
from recompose.tracks.czsl.data.compositional import read_pairs
from recompose.tracks.czsl.data.glove import MEMBER, WIDTH, read_glove
from recompose.tracks.gzsl.data import xlsa17
from recompose.tracks.vlc.data import caption_list, negclip_list
from recompose.tracks.vlc.data.formats import elevater, reading
from recompose.tracks.vlc.text import lexicon
from tests.errors import raises

ROOT = Path(recompose.tracks.__file__).parent


def with_image(read: Callable[[Path], Any], image: str) -> Callable[[Path], Any]:
    """A reader of a corpus, by its list, with an image beside it."""

    def read_corpus(path: Path) -> Any:
        root = path.parents[1] if path.parent.name == caption_list.CAPTIONS else path.parent
        (root / image).parent.mkdir(parents=True, exist_ok=True)
        (root / image).touch()
        return vars(read(root))

    return read_corpus


def in_archive(path: Path) -> Any:
    archive = path.with_suffix(".zip")
    with zipfile.ZipFile(archive, "w") as file:
        file.write(path, MEMBER)
    return read_glove(archive, ["the"]).tolist()


def reported(path: Path) -> Any:
    table = SimpleNamespace(kind="table")
    return Paper.reported(SimpleNamespace(artifacts={path.stem: table}, folder=path.parents[1]), path.stem)  # type: ignore[arg-type]


GLOVE = "the " + " ".join(["0.5"] * WIDTH) + "\n"
PROMPTS = elevater.ClassPrompts(("a", "b"), ("{}",))
READERS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "pairs": ("train_pairs.txt", "Canvas Boots\nold cat\n", read_pairs),
    "attributes": ("attributes.txt", "1 has_bill\n2 has_wing\n", xlsa17.read_names),
    "classes": ("trainclasses1.txt", "001.auk\n", xlsa17._lines),
    "vectors": (MEMBER, GLOVE, lambda path: read_glove(path, ["the"]).tolist()),
    "vectors in an archive": (MEMBER, GLOVE, in_archive),
    "JSON": ("a.json", '[{"a": 1}]', lambda path: reading.read_document(path, "")),
    "lines of JSON": (
        "a.jsonl",
        '{"a": 1}\n',
        lambda path: dict(reading.read_lines(path, "")[0].fields),
    ),
    "CSV": ("a.csv", "a,b\n1,2\n", lambda path: [dict(row.fields) for row in reading.read_rows(path, "", ["a"])]),
    "a table with tabs": (
        "a.tsv",
        "a\tb\n1\t2\n",
        lambda path: [dict(row.fields) for row in reading.read_tabbed(path, "", ["a"], header=True)],
    ),
    "prompts": ("prompts.py", "classes = ['a', 'b']\n", elevater.assignments),
    "labels of images": (
        "test.txt",
        "1.jpg 0\n2.jpg 1\n",
        lambda path: [(image.path, image.labels) for image in elevater.read_line_index(path, "images", PROMPTS)],
    ),
    "captions with negatives": (
        negclip_list.LIST,
        "title\tfilepath\nA yak.\tcoco/val2014/1.jpg\n",
        with_image(negclip_list.read, "images/val2014/1.jpg"),
    ),
    "a caption": (f"{caption_list.CAPTIONS}/1.txt", "A yak.\nmore", with_image(caption_list.read, "images/0/1.jpg")),
    "words": ("index.noun", "yak n 1 0 1 0 00000000\n", lexicon._index),
    "printed values": ("reported/table-1.csv", "row,a\nCSP,1.0\n", reported),
}


def test_a_byte_order_mark_before_parameters_is_passed_over() -> None:
    assert read_document("\ufeffa: 1\n", "params.yaml") == {"a": 1}


@pytest.mark.parametrize("name", READERS)
def test_a_byte_order_mark_is_passed_over(tmp_path: Path, name: str) -> None:
    file, text, read = READERS[name]
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    without = read(path)
    assert without
    path.write_bytes(codecs.BOM_UTF8 + path.read_bytes())
    assert read(path) == without


@pytest.mark.parametrize("name", [name for name in READERS if not {"vectors", "words"} & {*name.split()}])
def test_a_text_that_is_not_utf_8_is_named_with_its_line(tmp_path: Path, name: str) -> None:
    file, text, read = READERS[name]
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode() + b"\n\xff\n")
    with raises(DataError, "no-utf-8", f"{path}:{text.count(chr(10)) + 2}"):
        read(path)


def test_texts_of_data_sets_are_read_in_one_way() -> None:
    """Other ways know no byte order mark."""
    for path in ROOT.glob("*/data/**/*.py"):
        source = path.read_text(encoding="utf-8")
        assert ".read_text(" not in source and '.decode("utf-8")' not in source, path
