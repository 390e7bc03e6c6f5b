"""Releases: what a hostile or damaged archive is answered with, and what a right one gives."""

import io
import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from recompose.commands.release import CHECKSUMS, RELEASE, open_release
from recompose.errors import ReleaseError, UnsafeArchive
from recompose.files import write_json
from tests.errors import raises

DESCRIBED = {"program": "recompose 0.1.0", "profile": "demo", "commit": None, "evaluations": 1, "absent": 0}


def folder_of(root: Path) -> Path:
    """The files of a small release, with their digests."""
    folder = root / "small"
    (folder / "reports").mkdir(parents=True)
    (folder / "reports/a.csv").write_text("1")
    write_json(folder / RELEASE, DESCRIBED)
    names = ("reports/a.csv", RELEASE)
    (folder / CHECKSUMS).write_text("".join(f"{sha256((folder / n).read_bytes()).hexdigest()}  {n}\n" for n in names))
    return folder


def packed(folder: Path) -> Path:
    archive = folder.parent / "small.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        file.add(folder, folder.name)
    return archive


def test_a_right_release_is_opened_with_its_description(tmp_path: Path) -> None:
    with open_release(packed(folder_of(tmp_path))) as opened:
        assert (opened.files, opened.release.profile) == (2, "demo")
        assert (opened.root / "reports/a.csv").read_text() == "1"
    assert not opened.root.exists()


def _change(folder: Path) -> None:
    (folder / "reports/a.csv").write_text("2")


def _remove(folder: Path) -> None:
    (folder / "reports/a.csv").unlink()


def _add(folder: Path) -> None:
    (folder / "b.csv").write_text("2")


def _list_outside(folder: Path) -> None:
    (folder / CHECKSUMS).write_text(f"{'0' * 64}  ../../etc/passwd\n")


def _garble(folder: Path) -> None:
    (folder / CHECKSUMS).write_text("no digests")


def _undescribe(folder: Path) -> None:
    (folder / RELEASE).unlink()


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (_change, "changed-file"),
        (_remove, "missing-file"),
        (_add, "unlisted-file"),
        (_list_outside, "missing-file"),
        (_garble, "checksums"),
        (_undescribe, "no-release"),
    ],
)
def test_a_damaged_release_is_refused(damage: Callable[[Path], None], code: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    damage(folder)
    with raises(ReleaseError, code), open_release(packed(folder)):
        raise AssertionError("it was opened")


@pytest.mark.parametrize("name", ["../escaped", "small/../../escaped"])
def test_a_path_out_of_the_folder_is_refused(name: str, tmp_path: Path) -> None:
    archive = tmp_path / "hostile.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        info = tarfile.TarInfo(name)
        info.size = 1
        file.addfile(info, io.BytesIO(b"x"))
    with raises(UnsafeArchive, "unsafe-path"), open_release(archive):
        raise AssertionError("it was opened")
    assert not (tmp_path / "escaped").exists()


def test_a_link_and_a_file_that_is_no_archive_are_refused(tmp_path: Path) -> None:
    archive = tmp_path / "hostile.tar.gz"
    with tarfile.open(archive, "w:gz") as file:
        info = tarfile.TarInfo("small/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(info)
    with pytest.raises(UnsafeArchive), open_release(archive):
        raise AssertionError("it was opened")
    archive.write_bytes(b"no archive")
    with raises(UnsafeArchive, "damaged-archive"), open_release(archive):
        raise AssertionError("it was opened")
    with raises(ReleaseError, "missing-file"), open_release(tmp_path / "absent.tar.gz"):
        raise AssertionError("it was opened")
