"""Files that are not what their name says: every reader of a user's file answers with one line that names it."""

import argparse
import gzip
import io
import pickle
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.numpy import save

from recompose.backbones.grids import from_hdf5
from recompose.backbones.weight_files import read_tensors
from recompose.commands.release import open_release
from recompose.data.archives import extract
from recompose.data.pictures import Picture
from recompose.errors import RecomposeError
from recompose.params.loading import load_params
from recompose.recipes.records import Record
from recompose.tracks import TRACKS
from recompose.tracks.czsl.data.compositional import read_metadata, read_pairs
from recompose.tracks.czsl.data.glove import read_glove
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words
from recompose.tracks.gzsl.data.xlsa17 import read_names
from recompose.tracks.vlc.data.formats import elevater, parquet, reading


def bytes_of(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


ZIP = bytes_of(lambda stream: zipfile.ZipFile(stream, "w").writestr("a.txt", "x"))
CONTENTS = {
    "empty": b"",
    "page": b"<!DOCTYPE html><html>404</html>",
    "pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:aa\nsize 3\n",
    "random": np.random.default_rng(0).bytes(5000),
    "zeros": b"\0" * 600,
    "latin-1": "caf\N{LATIN SMALL LETTER E WITH ACUTE}\n".encode("latin-1"),
    "half a list": b"[1, 2",
    "empty list": b"[]",
    "deep list": b"[" * 100_000,
    "half of YAML": b"a: [\n",
    "pickle": pickle.dumps({"a": 1}),
    "checkpoint of code": bytes_of(lambda stream: torch.save(argparse.Namespace(a=1), stream)),
    "zip": ZIP,
    "half a zip": ZIP[:-10],
    "half a gzip": gzip.compress(b"x" * 5000)[:-9],
    "half an array": bytes_of(lambda stream: np.save(stream, np.zeros(3)))[:-3],
    "half of safetensors": save({"x": np.zeros(9)})[:-3],
    "head of HDF5": b"\x89HDF\r\n\x1a\n" + b"\0" * 500,
    "head of MATLAB": b"MATLAB 5.0 MAT-file" + b" " * 105 + b"\x00\x01IM" + b"\xff" * 300,
    "head of Parquet": b"PAR1" + b"\0" * 50 + b"PAR1",
    "head of PNG": b"\x89PNG\r\n\x1a\n" + b"\0" * 50,
}


def release(path: Path) -> None:
    with open_release(path):
        pass


def picture(path: Path) -> Any:
    return Picture(path.name).open(path.parent)


READERS: dict[str, Callable[[Path], object]] = {
    "archive.zip": lambda path: extract(path, path.parent / "unpacked"),
    "archive.tar": lambda path: extract(path, path.parent / "unpacked"),
    "archive.tar.gz": lambda path: extract(path, path.parent / "unpacked"),
    "release.tar.gz": release,
    "maps.hdf5": lambda path: from_hdf5(path, path.parent / "grids", images=3),
    "pairs.txt": read_pairs,
    "metadata.t7": read_metadata,
    "glove.zip": lambda path: read_glove(path, ["a"]),
    "glove.txt": lambda path: read_glove(path, ["a"]),
    "fields.mat": lambda path: read_fields(path, ["features"]),
    "words.npy": read_words,
    "words.pkl": read_words,
    "names.txt": read_names,
    "names.mat": read_names,
    "document.json": lambda path: reading.read_items(path, "layout"),
    "lines.jsonl": lambda path: reading.read_lines(path, "layout"),
    "rows.csv": lambda path: reading.read_rows(path, "layout", ["a"]),
    "rows.tsv": lambda path: reading.read_tabbed(path, "layout", ["a"], header=True),
    "assignments.py": lambda path: elevater.assignments(path, "layout"),
    "rows.parquet": lambda path: list(parquet.parquet_rows(path, ["a"])),
    "params.yaml": lambda path: load_params(path, TRACKS.forms, "demo"),
    "record.json": Record.read,
    "image.png": picture,
    "image.npy": picture,
    "weights.pt": read_tensors,
    "weights.safetensors": read_tensors,
}


def faults(read: Callable[[Path], object], path: Path) -> Iterator[tuple[str, BaseException]]:
    """Yield what a reader raises of foreign content that is neither one line with the file nor the system's error."""
    for name, content in CONTENTS.items():
        path.write_bytes(content)
        try:
            read(path)
        except RecomposeError as error:
            if path.name not in str(error) or "\n" in str(error):
                yield name, error
        except OSError as error:  # the command line makes a line of it
            if not error.filename and str(path) not in str(error):
                yield name, error
        except Exception as error:
            yield name, error


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", READERS)
def test_foreign_content_is_one_line_that_names_the_file(name: str, tmp_path: Path) -> None:
    assert dict(faults(READERS[name], tmp_path / name)) == {}
