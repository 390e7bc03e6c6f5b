"""Fields of MATLAB files: both versions alike, and files that are damaged, hostile or of another kind."""

import struct
from pathlib import Path

import h5py
import numpy as np
import pytest
from scipy.io import savemat

from recompose.errors import DataError
from recompose.tracks.gzsl.data import matlab
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


def test_a_field_that_declares_a_huge_shape_is_refused(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"att": cells(["owl"] * 4).reshape(2, 2)})
    whole = (tmp_path / "a.mat").read_bytes()
    sides = struct.pack("<ii", 2, 2)
    assert whole.count(sides) == 1
    (tmp_path / "a.mat").write_bytes(whole.replace(sides, struct.pack("<ii", 2**30, 2**20)))
    refuse(tmp_path / "a.mat", "damaged-file", "att")
    (tmp_path / "a.mat").write_bytes(whole.replace(sides, struct.pack("<ii", 2, 3)))
    refuse(tmp_path / "a.mat", "damaged-file", "att")


@pytest.mark.parametrize("version", ["5 packed", "7.3"])
def test_a_field_that_unpacks_to_more_than_is_allowed_is_refused(
    tmp_path: Path, version: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.mat", version)
    monkeypatch.setattr(matlab, "MOST_BYTES", 90)
    refuse(path, "wrong-field", "att")


@pytest.mark.parametrize("does", ["import os; os.abort()", "import time; time.sleep(60)"])
def test_a_reader_that_crashes_or_does_not_end_is_an_error_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, does: str
) -> None:
    """A module of the search path takes the place of the reader of version 5."""
    path = write(tmp_path / "a.mat", "5")
    (tmp_path / "crashing.py").write_text(does)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(matlab.mat_version_5, "__name__", "crashing")
    monkeypatch.setattr(matlab, "MOST_SECONDS", 2)
    refuse(path, "damaged-file")


def test_a_huge_empty_array_of_hdf5_is_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file.create_dataset("att", shape=(2**40, 2**10), chunks=(1024, 1024), dtype="f8")
    refuse(tmp_path / "a.mat", "wrong-field", "att")


def test_hdf5_leads_to_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "secret").write_bytes(bytes(range(32)))
    with h5py.File(tmp_path / "other.h5", "w") as other:
        other["att"] = np.eye(2)
    with h5py.File(tmp_path / "a.mat", "w") as file:
        file["linked"] = h5py.ExternalLink("other.h5", "att")
        file["soft"] = h5py.SoftLink("/linked")
        file.create_dataset("outside", shape=(4,), dtype="f8", external=[(str(tmp_path / "secret"), 0, 32)])
        layout = h5py.VirtualLayout(shape=(2, 2), dtype="f8")
        layout[:] = h5py.VirtualSource("other.h5", "att", shape=(2, 2))
        file.create_virtual_dataset("virtual", layout)
        file.create_group("group")
    for field in ("linked", "soft", "outside", "virtual", "group"):
        refuse(tmp_path / "a.mat", "wrong-field", field)


def test_cells_of_hdf5_hold_texts(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.mat", "w") as file:
        number = file.create_dataset("#refs#/a", data=np.eye(2))
        file.create_dataset("names", data=np.array([[number.ref]], dtype=h5py.ref_dtype))
        file.create_dataset("nothing", shape=(1, 1), dtype=h5py.ref_dtype)
    refuse(tmp_path / "a.mat", "wrong-field", "names")
    refuse(tmp_path / "a.mat", "damaged-file", "nothing")
