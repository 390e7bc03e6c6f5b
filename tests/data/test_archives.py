"""Archives come out whole and unharmed, or not at all: most of these are made by hand to do harm."""

import io
import random
import stat
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path

import pytest

from recompose.data.archives import UnsafeArchive, extract
from tests.errors import raises

Entry = tuple[str, bytes]

pytestmark = pytest.mark.filterwarnings("ignore:Duplicate name:UserWarning")  # zipfile's, where the tests mean it


def make_zip(path: Path, *entries: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in entries:
            file.writestr(name, content)
    return path


def make_tar(path: Path, *entries: tuple[str | tarfile.TarInfo, bytes]) -> Path:
    with tarfile.open(path, "w" if path.suffix == ".tar" else "w:gz") as file:
        for name, content in entries:
            info = tarfile.TarInfo(name) if isinstance(name, str) else name
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    return path


def make(path: Path, *entries: Entry) -> Path:
    return make_zip(path, *entries) if path.suffix == ".zip" else make_tar(path, *entries)


def unix_kind(name: str, kind: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (kind | 0o777) << 16
    return info


def tar_kind(name: str, kind: bytes, link: str = "") -> tarfile.TarInfo:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def assert_refused(archive: Path, code: str | None, member: str = "", **limits: int) -> None:
    """Check that an archive is refused for a reason, with nothing left of it."""
    before = sorted(archive.parent.rglob("*"))
    with raises(UnsafeArchive, code, archive) as caught:
        extract(archive, archive.parent / "target", **limits)
    assert sorted(archive.parent.rglob("*")) == before
    assert repr(member)[1:-1] in (caught.value.place or "")


@pytest.fixture(params=["a.zip", "a.tar", "a.tgz"])
def archive(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Where to make an archive, once for each kind."""
    return tmp_path / request.param


# --- what is fine -----------------------------------------------------------------------------------------------------


def test_files_come_out_as_they_went_in(archive: Path, tmp_path: Path) -> None:
    # Sizes around the blocks of tar and the pieces in which the content is copied.
    files = {"a": b"", "./b/c.txt": b"c" * 512, "b/d": bytes(range(256)) * 4096, "b/e/..f": b"f" * 1_100_001}
    extract(make(archive, *files.items()), tmp_path / "new" / "target")
    assert contents(tmp_path / "new" / "target") == {name.removeprefix("./"): data for name, data in files.items()}
    assert not list(tmp_path.rglob("*.partial"))


def test_modes_are_not_taken_from_the_archive(tmp_path: Path) -> None:
    suid = stat.S_ISUID | 0o777
    info = tar_kind("b", tarfile.REGTYPE)
    info.mode = suid
    extract(make_zip(tmp_path / "a.zip", (unix_kind("b", stat.S_IFREG | suid), b"b")), tmp_path / "zip")
    extract(make_tar(tmp_path / "a.tar", (info, b"b")), tmp_path / "tar")
    (tmp_path / "usual").touch()
    usual = (tmp_path / "usual").stat().st_mode
    assert [(tmp_path / kind / "b").stat().st_mode for kind in ("zip", "tar")] == [usual, usual]


# --- how others pack it -----------------------------------------------------------------------------------------------

NAMES = ["images/Levi's® Kids/1.jpg", "images/Café/2.jpg", "images/犬/3.jpg", "plain.txt"]
FAT, UNIX = 0, 3  # systems of a zip


def without_flag(archive: Path) -> Path:
    """Clear the flag of names in UTF-8 in all headers of a zip."""
    raw = bytearray(archive.read_bytes())
    for mark, place in ((b"PK\3\4", 7), (b"PK\1\2", 9)):
        start = -1
        while (start := raw.find(mark, start + 1)) >= 0:
            raw[start + place] &= ~0x08
    archive.write_bytes(raw)
    return archive


def zipped_by(system: int, name: str, content: bytes = b"x", extra: bytes = b"") -> tuple[zipfile.ZipInfo, bytes]:
    info = zipfile.ZipInfo(name)
    info.create_system, info.extra = system, extra
    return info, content


def test_names_in_utf_8_are_read_without_their_flag(tmp_path: Path) -> None:
    archive = without_flag(make_zip(tmp_path / "a.zip", *((name, name.encode()) for name in NAMES)))
    with zipfile.ZipFile(archive) as file:
        assert NAMES[0] not in file.namelist()
    extract(archive, tmp_path / "target")
    assert contents(tmp_path / "target") == {name: name.encode() for name in NAMES}


@pytest.mark.parametrize(("of", "read"), [(b"Cafe/1.jpg", "Café/1.jpg"), (b"Renamed", "Cafe/1.jpg")])
def test_a_name_in_a_field_of_its_own_is_read_if_it_is_of_this_name(tmp_path: Path, of: bytes, read: str) -> None:
    field = struct.pack("<BI", 1, zlib.crc32(of)) + "Café/1.jpg".encode()
    extra = struct.pack("<HH", 0x7075, len(field)) + field
    extract(make_zip(tmp_path / "a.zip", zipped_by(FAT, "Cafe/1.jpg", extra=extra)), tmp_path / "target")
    assert contents(tmp_path / "target") == {read: b"x"}


def test_backslashes_of_windows_part_folders(tmp_path: Path) -> None:
    members = [zipped_by(FAT, "b\\", b""), zipped_by(FAT, "b\\c\\d.txt"), zipped_by(FAT, "e/f.txt")]
    extract(make_zip(tmp_path / "a.zip", *members), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b/c/d.txt": b"x", "e/f.txt": b"x"}


@pytest.mark.parametrize("name", ["b\\..\\..\\evil", "C:\\evil"])
def test_backslashes_of_windows_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", zipped_by(FAT, name)), "unsafe-path")


def test_what_macos_and_windows_add_is_left_out(archive: Path, tmp_path: Path) -> None:
    added = ["__MACOSX/b/._c.jpg", ".DS_Store", "b/.DS_Store", "b/._c.jpg", "b/Thumbs.db", "desktop.ini"]
    extract(make(archive, ("b/c.jpg", b"c"), *((name, b"added") for name in added)), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b/c.jpg": b"c"}
    assert sorted(path.name for path in (tmp_path / "target").rglob("*")) == ["b", "c.jpg"]


def test_what_is_left_out_is_checked_all_the_same(tmp_path: Path) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", ("../__MACOSX/evil", b"evil")), "unsafe-path")
    assert_refused(make_tar(tmp_path / "a.tar", (tar_kind(".DS_Store", tarfile.SYMTYPE, "b"), b"")), "special-file")


# --- where it goes ----------------------------------------------------------------------------------------------------


def test_an_existing_target_is_left_alone(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        extract(make(archive, ("b", b"b")), target)
    assert contents(target) == {"mine": b"mine"}


def test_leftovers_of_an_earlier_attempt_are_cleared(tmp_path: Path) -> None:
    leftovers = tmp_path / "target.partial"
    leftovers.mkdir()
    (leftovers / "old").write_bytes(b"old")
    extract(make_zip(tmp_path / "a.zip", ("b", b"b")), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b": b"b"}
    assert not leftovers.exists()


# --- what is refused --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["../evil", "fine/../../evil", "fine/.."])
def test_paths_that_lead_out_are_refused(archive: Path, name: str) -> None:
    assert_refused(make(archive, ("fine/b", b"b"), (name, b"evil")), None, name)


@pytest.mark.parametrize("name", ["/evil", "..\\evil", "fine/c:evil"])
def test_paths_that_lead_out_on_some_systems_are_refused_or_stay_inside(tmp_path: Path, name: str) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", ("fine/b", b"b"), (name, b"evil")), "unsafe-path", name)
    extract(make_tar(tmp_path / "a.tar", ("fine/b", b"b"), (name, b"evil")), tmp_path / "target")
    assert contents(tmp_path / "target") == {"fine/b": b"b", name.lstrip("/"): b"evil"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "a.zip", "target"]


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = make_tar(tmp_path / "a.tar", ("b", b"b"), (tar_kind("evil", kind, link="b"), b""))
    assert_refused(archive, "special-file", "evil")


def test_links_in_a_zip_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", ("b", b"b"), (unix_kind("evil", stat.S_IFLNK), b"/etc/passwd"))
    assert_refused(archive, "special-file", "evil")


@pytest.mark.parametrize("again", ["b/c", "./b/c", "b/c/d", "b"])
def test_a_member_in_the_place_of_an_earlier_one_is_refused(archive: Path, again: str) -> None:
    assert_refused(make(archive, ("b/c", b"first"), ("x", b"x"), (again, b"second")), "repeated-member", again)


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", ("secret", b"secret"))
    raw = bytearray(archive.read_bytes())
    raw[raw.index(b"PK\1\2") + 8] |= 0x1
    archive.write_bytes(raw)
    assert_refused(archive, "encrypted-member", "secret")


# --- how much is refused ----------------------------------------------------------------------------------------------


def test_the_limit_is_exact(archive: Path, tmp_path: Path) -> None:
    make(archive, ("b", b"b" * 600), ("c", b"c" * 400))
    assert_refused(archive, "too-many-bytes", max_bytes=999)
    extract(archive, tmp_path / "target", max_bytes=1000)
    assert len(contents(tmp_path / "target")) == 2


def test_a_bomb_that_states_a_small_size_does_not_go_off(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", ("bomb", bytes(5_000_000)))
    raw = archive.read_bytes().replace(struct.pack("<I", 5_000_000), struct.pack("<I", 5))
    archive.write_bytes(raw)
    assert_refused(archive, "damaged-archive", "bomb", max_bytes=10)


# --- what is damaged --------------------------------------------------------------------------------------------------


def test_an_archive_that_ends_too_early_is_refused(archive: Path) -> None:
    noise = random.Random(0)  # which no compression makes any smaller
    whole = make(archive, *((name, noise.randbytes(512 * 8)) for name in "bcd")).read_bytes()
    for length in (0, 100, 512, 512 * 9, 512 * 10, 512 * 18, len(whole) * 2 // 3):
        assert length < len(whole)
        archive.write_bytes(whole[:length])
        assert_refused(archive, "damaged-archive")


def test_a_gzip_with_another_checksum_is_refused(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "a.tar.gz", ("b", b"b"))
    raw = bytearray(archive.read_bytes())
    raw[-8] ^= 0xFF
    archive.write_bytes(raw)
    assert_refused(archive, "damaged-archive")


def test_a_broken_header_is_not_taken_for_the_end_of_a_tar(tmp_path: Path) -> None:
    archive = make_tar(tmp_path / "a.tar", ("b", b"b" * 512), ("c", b"c" * 512), ("d", b"d" * 512))
    raw = bytearray(archive.read_bytes())
    raw[1024] ^= 0xFF
    archive.write_bytes(raw)
    assert_refused(archive, "damaged-archive")
