"""Archives come out whole and unharmed, or not at all: most of these are made by hand to do harm."""

import gzip
import io
import os
import random
import shutil
import stat
import struct
import subprocess
import tarfile
import tracemalloc
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


@pytest.fixture(params=["a.zip", "a.tar", "a.tar.gz", "a.tgz"])
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


def test_folders_may_be_named_more_than_once(tmp_path: Path) -> None:
    extract(make_zip(tmp_path / "a.zip", ("b/", b""), ("b/c", b"c"), ("b/", b""), ("d/", b"")), tmp_path / "zip")
    folders = [(tar_kind(name, tarfile.DIRTYPE), b"") for name in ("./", "b", "b/", "d")]
    extract(make_tar(tmp_path / "a.tar", *folders, ("b/c", b"c")), tmp_path / "tar")
    for target in (tmp_path / "zip", tmp_path / "tar"):
        assert sorted(str(path.relative_to(target)) for path in target.rglob("*")) == ["b", "b/c", "d"]


def test_an_empty_archive_is_an_empty_folder(archive: Path, tmp_path: Path) -> None:
    extract(make(archive), tmp_path / "target")
    assert list((tmp_path / "target").iterdir()) == []


def test_modes_are_not_taken_from_the_archive(tmp_path: Path) -> None:
    suid = stat.S_ISUID | 0o777
    info = tar_kind("b", tarfile.REGTYPE)
    info.mode = suid
    extract(make_zip(tmp_path / "a.zip", (unix_kind("b", stat.S_IFREG | suid), b"b")), tmp_path / "zip")
    extract(make_tar(tmp_path / "a.tar", (info, b"b")), tmp_path / "tar")
    (tmp_path / "usual").touch()
    usual = (tmp_path / "usual").stat().st_mode
    assert [(tmp_path / kind / "b").stat().st_mode for kind in ("zip", "tar")] == [usual, usual]


@pytest.mark.parametrize("name", ["A.ZIP", "A.TAR", "A.TGZ"])
def test_the_case_of_an_archive_s_name_does_not_matter(tmp_path: Path, name: str) -> None:
    archive = make(tmp_path / name.lower(), ("b", b"b")).rename(tmp_path / name)
    extract(archive, tmp_path / "target")
    assert contents(tmp_path / "target") == {"b": b"b"}


def test_very_long_names_are_read(tmp_path: Path) -> None:
    name = "/".join(["n" * 100] * 5)
    extract(make_tar(tmp_path / "a.tar", (name, b"n")), tmp_path / "target")
    assert contents(tmp_path / "target") == {name: b"n"}


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


def test_names_of_an_older_code_page_are_read_as_before(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", zipped_by(FAT, "Cafe/1.jpg"))
    archive.write_bytes(archive.read_bytes().replace(b"Cafe/1", "Café/1".encode("cp437")))
    extract(archive, tmp_path / "target")
    assert contents(tmp_path / "target") == {"Café/1.jpg": b"x"}


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


@pytest.mark.parametrize("name", ["..\\evil", "b\\..\\..\\evil", "\\evil", "C:\\evil", "\\\\host\\evil", "b/c\\evil"])
def test_backslashes_of_windows_lead_nowhere_else(tmp_path: Path, name: str) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", zipped_by(FAT, name)), "unsafe-path")


def test_what_macos_and_windows_add_is_left_out(archive: Path, tmp_path: Path) -> None:
    added = ["__MACOSX/b/._c.jpg", ".DS_Store", "b/.DS_Store", "b/._c.jpg", "b/Thumbs.db", "desktop.ini"]
    extract(make(archive, ("b/c.jpg", b"c"), *((name, b"added") for name in added)), tmp_path / "target")
    assert contents(tmp_path / "target") == {"b/c.jpg": b"c"}
    assert sorted(path.name for path in (tmp_path / "target").rglob("*")) == ["b", "c.jpg"]


def test_what_is_left_out_is_checked_all_the_same(tmp_path: Path) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", ("../__MACOSX/evil", b"evil")), "unsafe-path")
    assert_refused(make_tar(tmp_path / "a.tar", (".DS_Store", bytes(2000))), "too-many-bytes", max_bytes=1000)


@pytest.mark.skipif(not shutil.which("unzip"), reason="unzip is not installed")
def test_names_are_those_that_unzip_reads(tmp_path: Path) -> None:
    members = [(name, b"x") for name in NAMES] + [zipped_by(FAT, "b\\c.txt"), zipped_by(UNIX, "d/e.txt")]
    archive = without_flag(make_zip(tmp_path / "a.zip", *members))
    command = ["unzip", "-q", str(archive), "-d", str(tmp_path / "unzip")]
    subprocess.run(command, env={"LC_ALL": "C.UTF-8", "PATH": os.environ["PATH"]}, capture_output=True, check=False)
    extract(archive, tmp_path / "target")
    assert sorted(contents(tmp_path / "target")) == sorted(contents(tmp_path / "unzip"))


# --- where it goes ----------------------------------------------------------------------------------------------------


def test_an_existing_target_is_left_alone(archive: Path, tmp_path: Path) -> None:
    target = tmp_path / "target"
    target.mkdir()
    (target / "mine").write_bytes(b"mine")
    with pytest.raises(FileExistsError):
        extract(make(archive, ("b", b"b")), target)
    assert contents(target) == {"mine": b"mine"}


def test_a_dangling_link_at_the_target_counts_as_existing(tmp_path: Path) -> None:
    (tmp_path / "target").symlink_to(tmp_path / "nowhere")
    with pytest.raises(FileExistsError):
        extract(make_zip(tmp_path / "a.zip", ("b", b"b")), tmp_path / "target")


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


@pytest.mark.parametrize("name", ["/evil", "//evil", "..\\evil", "fine\\evil", "C:/evil", "fine/c:evil"])
def test_paths_that_lead_out_on_some_systems_are_refused_or_stay_inside(tmp_path: Path, name: str) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", ("fine/b", b"b"), (name, b"evil")), "unsafe-path", name)
    extract(make_tar(tmp_path / "a.tar", ("fine/b", b"b"), (name, b"evil")), tmp_path / "target")
    assert contents(tmp_path / "target") == {"fine/b": b"b", name.lstrip("/"): b"evil"}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar", "a.zip", "target"]


def test_folders_that_lead_out_are_refused(tmp_path: Path) -> None:
    assert_refused(make_zip(tmp_path / "a.zip", ("../evil/", b"")), "unsafe-path", "../evil/")
    tar = make_tar(tmp_path / "a.tar", (tar_kind("../evil", tarfile.DIRTYPE), b""))
    assert_refused(tar, "unsafe-path", "../evil")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.CHRTYPE, tarfile.BLKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_in_a_tar_are_refused(tmp_path: Path, kind: bytes) -> None:
    archive = make_tar(tmp_path / "a.tar", ("b", b"b"), (tar_kind("evil", kind, link="b"), b""))
    assert_refused(archive, "special-file", "evil")


@pytest.mark.parametrize("kind", [stat.S_IFLNK, stat.S_IFCHR, stat.S_IFIFO])
def test_links_and_devices_in_a_zip_are_refused(tmp_path: Path, kind: int) -> None:
    archive = make_zip(tmp_path / "a.zip", ("b", b"b"), (unix_kind("evil", kind), b"/etc/passwd"))
    assert_refused(archive, "special-file", "evil")


@pytest.mark.parametrize("again", ["b/c", "./b/c", "b//c", "b/c/d", "b/c/d/e", "b"])
def test_a_member_in_the_place_of_an_earlier_one_is_refused(archive: Path, again: str) -> None:
    assert_refused(make(archive, ("b/c", b"first"), ("x", b"x"), (again, b"second")), "repeated-member", again)


def test_encrypted_members_are_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", ("secret", b"secret"))
    raw = bytearray(archive.read_bytes())
    raw[raw.index(b"PK\1\2") + 8] |= 0x1
    archive.write_bytes(raw)
    assert_refused(archive, "encrypted-member", "secret")


# --- how much is refused ----------------------------------------------------------------------------------------------


def test_the_limits_are_exact(archive: Path, tmp_path: Path) -> None:
    make(archive, ("b", b"b" * 600), ("c", b"c" * 400))
    assert_refused(archive, "too-many-bytes", max_bytes=999)
    assert_refused(archive, "too-many-members", max_files=1)
    extract(archive, tmp_path / "target", max_bytes=1000, max_files=2)
    assert len(contents(tmp_path / "target")) == 2


def test_folders_count_as_members(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", *((f"{number}/", b"") for number in range(4)))
    assert_refused(archive, "too-many-members", max_files=3)


def lie_about_size(archive: Path, size: int) -> None:
    """Has both headers of a zip's only member claim another size than it has."""
    raw = bytearray(archive.read_bytes())
    struct.pack_into("<I", raw, raw.index(b"PK\3\4") + 22, size)
    struct.pack_into("<I", raw, raw.index(b"PK\1\2") + 24, size)
    archive.write_bytes(raw)


def test_a_zip_bomb_that_claims_to_be_small_is_refused(tmp_path: Path) -> None:
    archive = make_zip(tmp_path / "a.zip", ("bomb", bytes(10_000_000)))
    lie_about_size(archive, 10)
    assert_refused(archive, "damaged-archive", "bomb", max_bytes=1000)


def test_zip_members_that_share_their_bytes_all_count(tmp_path: Path) -> None:
    """The bomb whose many entries all point at one compressed stretch of the file."""
    archive = make_zip(tmp_path / "a.zip", ("bomb", bytes(100_000)))
    raw = archive.read_bytes()
    start, end = raw.index(b"PK\1\2"), raw.index(b"PK\5\6")
    entry, tail = raw[start:end], bytearray(raw[end:])
    struct.pack_into("<HHII", tail, 8, 3, 3, 3 * len(entry), start)
    archive.write_bytes(raw[:start] + entry * 3 + tail)
    assert_refused(archive, "repeated-member", "bomb", max_bytes=250_000)


def test_a_sparse_tar_that_unpacks_to_much_from_nothing_is_refused(tmp_path: Path) -> None:
    info = tar_kind("bomb", tarfile.REGTYPE)
    info.pax_headers = {"GNU.sparse.map": "0,0", "GNU.sparse.realsize": str(2**50), "GNU.sparse.size": str(2**50)}
    assert_refused(make_tar(tmp_path / "a.tar", (info, b"")), "special-file", "bomb", max_bytes=5_000_000)


def test_a_bomb_is_stopped_before_it_is_all_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    removed = []
    monkeypatch.setattr("recompose.data.archives.shutil.rmtree", lambda path: removed.append(contents(path)))
    with pytest.raises(UnsafeArchive):
        extract(make_tar(tmp_path / "a.tgz", ("bomb", bytes(5_000_000))), tmp_path / "target", max_bytes=2_000_000)
    assert [len(files.get("bomb", b"")) <= 2_000_000 for files in removed] == [True]


def test_a_huge_tar_header_does_not_fill_the_memory(tmp_path: Path) -> None:
    size = 50_000_000
    header = tar_kind("././@LongLink", tarfile.GNUTYPE_LONGNAME)
    header.size = size
    archive = tmp_path / "a.tar.gz"
    with gzip.open(archive, "wb", compresslevel=1) as file:
        file.write(header.tobuf(tarfile.GNU_FORMAT))
        for _ in range(50):
            file.write(b"n" * (size // 50))
    tracemalloc.start()
    assert_refused(archive, "large-header")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < size // 5


# --- what is damaged --------------------------------------------------------------------------------------------------


def test_an_archive_that_ends_too_early_is_refused(archive: Path) -> None:
    noise = random.Random(0)  # which no compression makes any smaller
    whole = make(archive, *((name, noise.randbytes(512 * 8)) for name in "bcd")).read_bytes()
    for length in (0, 100, 512, 512 * 9, 512 * 10, 512 * 18, len(whole) * 2 // 3):
        assert length < len(whole)
        archive.write_bytes(whole[:length])
        assert_refused(archive, "damaged-archive")


@pytest.mark.parametrize("kept", [-4, -8])
def test_a_gzip_without_its_checksum_is_refused(tmp_path: Path, kept: int) -> None:
    archive = make_tar(tmp_path / "a.tar.gz", ("b", b"b"))
    archive.write_bytes(archive.read_bytes()[:kept])
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


def test_changed_content_of_a_zip_is_refused(tmp_path: Path) -> None:
    info = zipfile.ZipInfo("b")
    archive = make_zip(tmp_path / "a.zip", (info, b"right" * 10))
    archive.write_bytes(archive.read_bytes().replace(b"right", b"wrong", 1))
    assert_refused(archive, "damaged-archive", "b")


def test_other_kinds_of_files_are_refused(tmp_path: Path) -> None:
    other = tmp_path / "a.rar"
    other.write_bytes(b"Rar!")
    assert_refused(other, "unknown-format")
