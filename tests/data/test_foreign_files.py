"""What stands in the place of a file, named alike by the readers of all tracks."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from recompose.backbones.weight_files import read_tensors
from recompose.data.foreign_files import reason_of
from recompose.errors import RecomposeError
from recompose.tracks.czsl.data.compositional import read_metadata
from recompose.tracks.gzsl.data.matlab import read_fields
from recompose.tracks.gzsl.data.word_vectors import read_words

READERS: dict[str, Callable[[Path], Any]] = {
    "weights.pt": read_tensors,
    "weights.safetensors": read_tensors,
    "metadata.t7": read_metadata,
    "res101.mat": partial(read_fields, fields=["features"]),
    "words.pkl": read_words,
    "words.npy": read_words,
}
FILES = {
    "Git LFS pointer": b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a21\nsize 605157884\n",
    "HTML page": b"\n<!doctype html>\n<title>Sign in</title>",
    "begins with": b"Quota exceeded.",
}


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("kind", FILES)
def test_every_reader_names_what_stands_in_the_place_of_its_file(name: str, kind: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(FILES[kind])
    with pytest.raises(RecomposeError) as caught:
        READERS[name](tmp_path / name)
    assert kind in str(caught.value) and name in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\0\1\2", b"\xff\xfe"])
def test_of_other_files_the_reader_gives_the_reason(content: bytes, tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(content)
    assert reason_of(tmp_path / "file", ValueError("first\tline\nsecond")) == "first line"
    assert reason_of(tmp_path / "file", ValueError()) == "ValueError()"
    assert reason_of(tmp_path / "absent", ValueError("absent")) == "absent"
