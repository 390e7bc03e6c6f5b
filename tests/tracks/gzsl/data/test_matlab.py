"""Fields of MATLAB files: both versions alike, and files that are damaged, hostile or of another kind."""

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from recompose.errors import DataError
from recompose.tracks.gzsl.data.matlab import read_fields
from tests.errors import raises
from tests.tracks.gzsl.data.worlds import cells, write_version_7

pytestmark = pytest.mark.slow

FIELDS = {
    "att": np.arange(12.0).reshape(3, 4) / 7,
    "loc": np.array([[3], [1]], dtype=np.uint16),
    "names": cells(["owl", "", "grizzly+bear", "狗 été"]),
    "flag": np.array([[True], [False]]),
}


def refuse(path: Path, code: str, *fields: str) -> None:
    """Check that a file is refused with one line that names it."""
    with raises(DataError, code, place=path) as caught:
        read_fields(path, fields or tuple(FIELDS))
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


def write(path: Path, version: str) -> Path:
    if version == "7.3":
        write_version_7(path, FIELDS)
    else:
        savemat(path, FIELDS, do_compression=version == "5 packed")
    return path


@pytest.mark.parametrize("version", ["5", "5 packed", "7.3"])
def test_all_versions_hold_the_same(tmp_path: Path, version: str) -> None:
    found = read_fields(write(tmp_path / "a.mat", version), FIELDS)
    assert found.keys() == FIELDS.keys()
    for name, array in FIELDS.items():
        assert found[name].shape == array.shape
        assert found[name].tolist() == array.tolist()
    assert read_fields(tmp_path / "a.mat", ["loc", "labels"]).keys() == {"loc"}


def test_other_byte_orders_are_read(tmp_path: Path) -> None:
    """One number, as a machine of the other byte order writes it."""
    name, data = b"n\0\0\0", struct.pack(">d", 2.5)
    parts = [(6, struct.pack(">II", 6, 0)), (5, struct.pack(">ii", 1, 1)), (1, name), (9, data)]
    content = b"".join(
        struct.pack(">II", kind, 1 if kind == 1 else len(part)) + part.ljust(-len(part) % 8 + len(part), b"\0")
        for kind, part in parts
    )
    header = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x01\x00MI"
    (tmp_path / "a.mat").write_bytes(header + struct.pack(">II", 14, len(content)) + content)
    assert read_fields(tmp_path / "a.mat", ["n"])["n"].tolist() == [[2.5]]


# other files


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    refuse(tmp_path / "a.mat", "missing-file")
    refuse(tmp_path, "missing-file")


@pytest.mark.parametrize("content", [b"", b"<html>not found</html>", b"MATLAB 5.0 MAT-file"])
def test_a_file_of_another_kind_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a.mat").write_bytes(content)
    refuse(tmp_path / "a.mat", "damaged-file")


@pytest.mark.parametrize("version", ["5 packed", "7.3"])
def test_a_file_that_ends_too_early_is_named(tmp_path: Path, version: str) -> None:
    path = write(tmp_path / "a.mat", version)
    path.write_bytes(path.read_bytes()[: 200 if version != "7.3" else 3000])
    refuse(path, "damaged-file")


# other fields


@pytest.mark.parametrize(
    "value",
    [
        np.array([1 + 2j]),
        cells([cells(["owl"]), cells(["auk"])]),
    ],
)
def test_a_field_that_is_neither_numbers_nor_texts_is_named(tmp_path: Path, value: object) -> None:
    savemat(tmp_path / "a.mat", {"att": value})
    refuse(tmp_path / "a.mat", "wrong-field", "att")


# files that declare more than there is, and lead elsewhere


def test_cells_of_hdf5_hold_texts(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.mat", "w") as file:
        number = file.create_dataset("#refs#/a", data=np.eye(2))
        file.create_dataset("names", data=np.array([[number.ref]], dtype=h5py.ref_dtype))
        file.create_dataset("nothing", shape=(1, 1), dtype=h5py.ref_dtype)
    refuse(tmp_path / "a.mat", "wrong-field", "names")
    refuse(tmp_path / "a.mat", "damaged-file", "nothing")
