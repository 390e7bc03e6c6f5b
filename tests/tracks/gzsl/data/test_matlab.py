"""Fields of MATLAB files, and files that are damaged, hostile or of another kind."""

import struct
from collections.abc import Callable
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from recompose.errors import DataError
from recompose.tracks.gzsl.data import matlab
from recompose.tracks.gzsl.data.matlab import read_fields
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import cells

pytestmark = pytest.mark.slow

FIELDS = {
    "att": np.arange(12.0).reshape(3, 4) / 7,
    "loc": np.array([[3], [1]], dtype=np.uint16),
    "names": cells(["owl", "", "grizzly+bear", "狗 été"]),
    "flag": np.array([[True], [False]]),
}


def write_version_7(path: Path) -> None:
    """Write the fields in HDF5 as MATLAB 7.3 does: behind its header, transposed, texts in datasets of their own."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in FIELDS.items():
            if array.dtype == object:
                references = file.create_dataset(name, array.T.shape, h5py.ref_dtype)
                for number, text in enumerate(array.flat):
                    units = np.frombuffer(text.encode("utf-16-le"), "<u2")[:, None]
                    cell = file.create_dataset(f"#refs#/{number}", data=units if text else np.zeros(2, np.uint64))
                    cell.attrs["MATLAB_class"] = np.bytes_("char")
                    if not text:
                        cell.attrs["MATLAB_empty"] = 1
                    references[0, number] = cell.ref
            else:
                file[name] = array.T.astype(np.uint8) if array.dtype == bool else array.T
    with path.open("r+b") as stream:
        stream.write(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")


WRITERS: dict[str, Callable[[Path], None]] = {
    "5": lambda path: savemat(path, FIELDS),
    "5 packed": lambda path: savemat(path, FIELDS, do_compression=True),
    "7.3": write_version_7,
}


@pytest.mark.parametrize("version", WRITERS)
def test_packed_files_hold_the_same(tmp_path: Path, version: str) -> None:
    WRITERS[version](tmp_path / "a.mat")
    fields = read_fields(tmp_path / "a.mat", FIELDS)
    assert fields.keys() == FIELDS.keys()
    for name, array in FIELDS.items():
        assert fields[name].shape == array.shape
        assert fields[name].tolist() == array.tolist()
    assert read_fields(tmp_path / "a.mat", ["loc", "labels"]).keys() == {"loc"}


def end_early(path: Path, version: str, size: int) -> None:
    WRITERS[version](path)
    path.write_bytes(path.read_bytes()[:size])


def declare_huge_shape(path: Path) -> None:
    savemat(path, {"att": cells(["owl"] * 4).reshape(2, 2)})
    sides = struct.pack("<ii", 2, 2)
    path.write_bytes(path.read_bytes().replace(sides, struct.pack("<ii", 2**30, 2**20)))


WRONG: list[tuple[str, Callable[[Path], object]]] = [
    ("missing-file", lambda path: None),
    ("damaged-file", lambda path: path.write_bytes(b"<html>not found</html>")),
    ("damaged-file", lambda path: end_early(path, "5 packed", 200)),
    ("damaged-file", lambda path: path.write_bytes(b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM")),
    ("damaged-file", declare_huge_shape),
    ("wrong-field", lambda path: savemat(path, {"att": np.array([1 + 2j])})),
]


@pytest.mark.parametrize(("code", "write"), WRONG)
def test_another_file_or_field_is_refused_by_one_line(
    tmp_path: Path, code: str, write: Callable[[Path], object]
) -> None:
    write(tmp_path / "a.mat")
    with raises(DataError, code, place=tmp_path / "a.mat") as caught:
        read_fields(tmp_path / "a.mat", ["att"])
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("does", ["import os; os.abort()", "import time; time.sleep(60)"])
def test_a_reader_that_crashes_or_does_not_end_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """A module of the search path takes the place of the reader of version 5."""
    WRITERS["5"](tmp_path / "a.mat")
    (tmp_path / "crashing.py").write_text(does)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(matlab.mat_fields, "__name__", "crashing")
    monkeypatch.setattr(matlab, "MOST_SECONDS", 2)
    with raises(DataError, "damaged-file", place=tmp_path / "a.mat"):
        read_fields(tmp_path / "a.mat", ["att"])


def test_a_field_that_unpacks_to_more_than_is_allowed_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matlab, "MOST_BYTES", 90)
    WRITERS["5"](tmp_path / "a.mat")
    with raises(DataError, "wrong-field", place=tmp_path / "a.mat"):
        read_fields(tmp_path / "a.mat", ["att"])
