"""Files that are written: their modes, what a full disk leaves, and text that is none."""

import errno
import os
import resource
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

from recompose.errors import DataError
from recompose.files import read_text, write_atomically, write_text
from tests.errors import raises

LARGE = 100_000  # bytes
WRITERS: dict[str, Callable[[Path], object]] = {
    "text": lambda path: write_text(path, "x" * LARGE),
    "tensors": lambda path: write_atomically(path, lambda file: save_file({"x": np.zeros(LARGE, np.uint8)}, file)),
}


@pytest.fixture(params=[0o022, 0o002, 0o077])
def umask(request: pytest.FixtureRequest) -> Iterator[int]:
    """The umask of this process in a test."""
    before = os.umask(request.param)
    yield request.param
    os.umask(before)


@contextmanager
def small_files() -> Iterator[None]:
    """Let no file grow beyond a tenth of what the writers write."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGE // 10, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_file_has_the_mode_of_the_umask(write: Callable[[Path], object], umask: int, tmp_path: Path) -> None:
    path = tmp_path / "new" / "file"
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~umask
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_what_the_disk_refuses_names_the_file_and_leaves_the_old_one(
    write: Callable[[Path], object], tmp_path: Path
) -> None:
    path = tmp_path / "file"
    path.write_text("old")
    with small_files(), pytest.raises(OSError) as error:
        write(path)
    assert (error.value.errno, error.value.filename) == (errno.EFBIG, str(path))
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_is_a_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "folder").touch()
    with pytest.raises(OSError) as error:
        write_text(tmp_path / "folder" / "file", "text")
    assert str(tmp_path / "folder") in str(error.value.filename)


def test_an_error_of_the_writer_itself_stays_what_it_is(tmp_path: Path) -> None:
    def fail(_: Path) -> None:
        raise ValueError("no number")

    with pytest.raises(ValueError, match="no number"):
        write_atomically(tmp_path / "file", fail)
    assert list(tmp_path.iterdir()) == []


def test_text_in_another_encoding_names_its_line(tmp_path: Path) -> None:
    path = tmp_path / "notes.md"
    path.write_bytes("one\ntwo\ndr\N{LATIN SMALL LETTER E WITH DIAERESIS}i\n".encode("latin-1"))
    with raises(DataError, "no-utf-8", f"{path}:3"):
        read_text(path)
