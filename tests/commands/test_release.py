"""Releases: what a hostile or damaged archive is answered with, and what a right one gives."""

import tarfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from recompose.commands.release import CHECKSUMS, RELEASE, open_release
from recompose.errors import ReleaseError
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


@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda folder: (folder / "reports/a.csv").write_text("2"), "changed-file"),
        (lambda folder: (folder / "reports/a.csv").unlink(), "changed-file"),
        (lambda folder: (folder / "b.csv").write_text("2"), "changed-file"),
        (lambda folder: (folder / CHECKSUMS).write_text(f"{'0' * 64}  ../../etc/passwd\n"), "changed-file"),
        (lambda folder: (folder / CHECKSUMS).write_text("no digests"), "checksums"),
        (lambda folder: (folder / RELEASE).unlink(), "no-release"),
    ],
)
def test_a_damaged_release_is_refused(damage: Callable[[Path], object], code: str, tmp_path: Path) -> None:
    folder = folder_of(tmp_path)
    damage(folder)
    with raises(ReleaseError, code), open_release(packed(folder)):
        raise AssertionError("it was opened")
