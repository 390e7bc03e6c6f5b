"""Archives come out whole and unharmed, or not at all: most of these are made by hand to do harm."""

import errno
import shutil
import tarfile
import zipfile
from pathlib import Path

import pytest

from recompose.data import archives
from recompose.data.archives import UnsafeArchive, extract
from tests.errors import raises
from tests.tracks.vlc.data.published import contents, pack


def tar_kind(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def assert_refused(archive: Path, code: str, **limits: int) -> None:
    """Check that an archive is refused for a reason, with nothing left of it."""
    before = sorted(archive.parent.rglob("*"))
    with raises(UnsafeArchive, code, archive):
        extract(archive, archive.parent / "target", **limits)
    assert sorted(archive.parent.rglob("*")) == before


@pytest.fixture(params=["a.zip", "a.tar", "a.tgz"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where to make an archive, once for each kind."""
    return tmp_path / request.param


# --- what is fine -----------------------------------------------------------------------------------------------------


def test_files_come_out_as_they_went_in(archive: Path, tmp_path: Path) -> None:
    # Sizes around the blocks of tar and the pieces in which the content is copied.
    files = {"a": b"", "./b/c.txt": b"c" * 512, "b/d": bytes(range(256)) * 4096, "b/e/..f": b"f" * 1_100_001}
    extract(pack(archive, files), tmp_path / "new" / "target")
    assert contents(tmp_path / "new" / "target") == {name.removeprefix("./"): data for name, data in files.items()}
    assert not list(tmp_path.rglob("*.partial"))


# --- how others pack it -----------------------------------------------------------------------------------------------

NAMES = ["images/Levi's® Kids/1.jpg", "images/Café/2.jpg", "images/犬/3.jpg", "plain.txt"]


def without_flag(archive: Path) -> Path:
    """Clear the flag of names in UTF-8 in all headers of a zip."""
    raw = bytearray(archive.read_bytes())
    for mark, place in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        start = -1
        while (start := raw.find(mark, start + 1)) >= 0:
            raw[start + place] &= ~0x08
    archive.write_bytes(raw)
    return archive


def by_windows(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.create_system = 0  # FAT
    return info


def test_names_in_utf_8_are_read_without_their_flag(tmp_path: Path) -> None:
    archive = without_flag(pack(tmp_path / "a.zip", {name: name.encode() for name in NAMES}))
    with zipfile.ZipFile(archive) as file:
        assert NAMES[0] not in file.namelist()
    extract(archive, tmp_path / "target")
    assert contents(tmp_path / "target") == {name: name.encode() for name in NAMES}


def test_backslashes_of_windows_part_folders(tmp_path: Path) -> None:
    members = {by_windows("b\\"): b"", by_windows("b\\c\\d.txt"): b"x", by_windows("e/f.txt"): b"x"}
    extract(pack(tmp_path / "a.zip", members), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b/c/d.txt": b"x", "e/f.txt": b"x"}


def test_what_macos_and_windows_add_is_left_out(archive: Path, tmp_path: Path) -> None:
    added = ["__MACOSX/b/._c.jpg", ".DS_Store", "b/.DS_Store", "b/._c.jpg", "b/Thumbs.db", "desktop.ini"]
    extract(pack(archive, {"b/c.jpg": b"c", **dict.fromkeys(added, b"added")}), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b/c.jpg": b"c"}
    assert sorted(path.name for path in (tmp_path / "target").rglob("*")) == ["b", "c.jpg"]


# --- where it goes ----------------------------------------------------------------------------------------------------


def test_an_existing_target_is_left_alone(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        extract(pack(archive, {"b": b"b"}), target)
    assert contents(target) == {"mine": b"mine"}


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../evil", "fine/../../evil"])
def test_paths_that_lead_out_are_refused(archive: Path, name: str) -> None:
    assert_refused(pack(archive, {"fine/b": b"b", name: b"evil"}), "unsafe-path")
    assert_refused(pack(archive.with_name("b.zip"), {"/evil": b"evil"}), "unsafe-path")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
@pytest.mark.parametrize("link", ["b", "/etc/passwd"])
def test_links_and_devices_in_a_tar_are_refused_wherever_they_lead(tmp_path: Path, kind: bytes, link: str) -> None:
    archive = pack(tmp_path / "a.tar", {"b": b"b", tar_kind("evil", kind, link=link): b""})
    assert_refused(archive, "special-file")


def test_a_name_that_a_newer_zipfile_takes_from_a_field_of_its_own_is_kept() -> None:
    name = "\N{CJK UNIFIED IDEOGRAPH-9774}.txt"
    assert archives._zip_name(zipfile.ZipInfo(name)) == name


# --- how much is refused ----------------------------------------------------------------------------------------------


def test_the_limit_is_exact(archive: Path, tmp_path: Path) -> None:
    pack(archive, {"b": b"b" * 600, "c": b"c" * 400})
    assert_refused(archive, "too-many-bytes", max_bytes=999)
    extract(archive, tmp_path / "target", max_bytes=1000)
    assert len(contents(tmp_path / "target")) == 2


# --- what is damaged --------------------------------------------------------------------------------------------------


def test_a_gzip_with_another_checksum_is_refused(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a.tar.gz", {"b": b"b"})
    raw = bytearray(archive.read_bytes())
    raw[-8] ^= 0xFF
    archive.write_bytes(raw)
    assert_refused(archive, "damaged-archive")


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_a_zip_with_other_bytes_is_refused_however_it_is_compressed(tmp_path: Path, method: int) -> None:
    archive = tmp_path / "a.zip"
    with zipfile.ZipFile(archive, "w", method) as file:
        file.writestr("b", bytes(range(256)) * 8)
    raw = archive.read_bytes()
    for place in range(40, 80, 4):  # in the compressed content
        archive.write_bytes(raw[:place] + bytes(4) + raw[place + 4 :])
        assert_refused(archive, "damaged-archive")


def test_a_zip_whose_end_points_nowhere_is_refused(tmp_path: Path) -> None:
    archive = pack(tmp_path / "a.zip", {"b": b"b"})
    raw = archive.read_bytes()
    archive.write_bytes(raw[:-6] + b"\xff\xff\xff\xff" + raw[-2:])  # the place of the directory
    assert_refused(archive, "damaged-archive")


def test_a_full_disk_is_no_damage(archive: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    pack(archive, {"b": b"b"})
    monkeypatch.setattr(shutil, "copyfileobj", refuse)
    monkeypatch.setattr(tarfile, "copyfileobj", refuse)
    with pytest.raises(OSError, match="No space left"):
        extract(archive, tmp_path / "target")
