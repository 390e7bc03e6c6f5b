"""Archives from the internet, unpacked as if every one of them were hostile."""

import gzip
import io
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path, PurePosixPath

from recompose.data.paths import is_litter
from recompose.errors import UnsafeArchive

_CHUNK = 2**20
_UTF_8, _FAT, _UNICODE_PATH = 0x800, 0, 0x7075  # of a zip: a flag, the system that wrote a member, an extra field

_ERRORS = (
    ValueError,  # this module's own among them, and the readers' for malformed headers
    EOFError,
    NotImplementedError,  # a compression unknown to zipfile
    gzip.BadGzipFile,
    struct.error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)


def extract(archive: Path, target: Path, *, max_bytes: int = 200 * 2**30, max_files: int = 2_000_000) -> None:
    """Extract a .zip, .tar, .tar.gz or .tgz into the new folder ``target``, which appears whole or not at all.

    Only plain files and folders inside ``target`` are extracted, with the usual modes of new files, and without the
    files that macOS and Windows add. Names in a zip are those that ``unzip`` reads. In a tar, tarfile's filter for data
    (PEP 706) checks the paths, and makes absolute ones relative.

    Raises:
        UnsafeArchive: the archive holds anything else, more than ``max_bytes`` of content, or more than ``max_files``
            members.
        FileExistsError: ``target`` exists; it is left alone.
    """
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists already; remove it first to extract {archive} there")
    unfinished = target.with_name(target.name + ".partial")
    if unfinished.exists():
        shutil.rmtree(unfinished)
    unfinished.mkdir(parents=True)
    try:
        with _name_culprit(str(archive)):
            _unpacker(archive)(archive, unfinished, _Budget(max_bytes, max_files))
        unfinished.rename(target)
    except BaseException:
        shutil.rmtree(unfinished)
        raise


@contextmanager
def _name_culprit(culprit: str) -> Iterator[None]:
    """Turn every error of the block into an ``UnsafeArchive`` that names the culprit, unless it names one already."""
    try:
        yield
    except _ERRORS as error:
        if isinstance(error, UnsafeArchive) and error.place:
            raise
        raise UnsafeArchive(f"{culprit}: {error}", code=_code(error), place=culprit) from error


def _code(error: Exception) -> str:
    """Return the code of an error of this module or of the readers."""
    if isinstance(error, UnsafeArchive):
        return error.code
    return "unsafe-path" if isinstance(error, tarfile.FilterError) else "damaged-archive"


@dataclass
class _Budget:
    """The bytes and files that may still be extracted, spent on what is written: sizes in headers are not trusted."""

    max_bytes: int
    max_files: int
    bytes_spent: int = 0
    files_spent: int = 0

    def spend_file(self) -> None:
        self.files_spent += 1
        if self.files_spent > self.max_files:
            raise UnsafeArchive(f"the archive has more than {self.max_files} members", code="too-many-members")

    def spend_bytes(self, count: int) -> None:
        self.bytes_spent += count
        if self.bytes_spent > self.max_bytes:
            raise UnsafeArchive(f"the archive holds more than {self.max_bytes} bytes", code="too-many-bytes")


def _unpacker(archive: Path) -> Callable[[Path, Path, _Budget], None]:
    name = archive.name.lower()
    if name.endswith(".zip"):
        return _extract_zip
    if name.endswith((".tar", ".tar.gz", ".tgz")):
        return _extract_tar
    raise UnsafeArchive("is neither a .zip nor a .tar, .tar.gz or .tgz", code="unknown-format")


@contextmanager
def _name_member(archive: Path, name: str, budget: _Budget) -> Iterator[None]:
    """Count a member, and name it in every error of the block, which extracts it."""
    with _name_culprit(f"{archive}: member {name!r}"):
        budget.spend_file()
        try:
            yield
        except (FileExistsError, NotADirectoryError) as error:
            # The folder was empty at first, so the path is that of another member.
            raise UnsafeArchive("an earlier member has this path", code="repeated-member") from error


def _extract_zip(archive: Path, folder: Path, budget: _Budget) -> None:
    with zipfile.ZipFile(archive) as file:
        for info in file.infolist():
            name = _zip_name(info)
            with _name_member(archive, name, budget):
                _check_zip_member(info)
                path = folder / _safe_path(name)
                if is_litter(name):
                    continue
                if name.endswith("/"):
                    path.mkdir(parents=True, exist_ok=True)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with file.open(info) as source, path.open("xb") as target:
                    while chunk := source.read(_CHUNK):
                        budget.spend_bytes(len(chunk))
                        target.write(chunk)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member as ``unzip`` reads it.

    Archives of macOS and Windows have names in UTF-8 without the flag that says so, or in a field of their own, and
    those of some programs on Windows have backslashes.
    """
    name = info.filename
    if not info.flag_bits & _UTF_8:
        stored = info.orig_filename.encode("cp437")  # the bytes, all of which have a character there
        with suppress(UnicodeDecodeError):
            name = (_unicode_path(info.extra, stored) or stored.partition(b"\0")[0]).decode("utf-8")
    return name.replace("\\", "/") if info.create_system == _FAT and "/" not in name else name


def _unicode_path(extra: bytes, stored: bytes) -> bytes:
    """Return the name in UTF-8 of a member's extra fields, unless it belongs to another name than the stored one."""
    while len(extra) >= 4:
        kind, size = struct.unpack("<HH", extra[:4])
        field, extra = extra[4 : 4 + size], extra[4 + size :]
        if kind == _UNICODE_PATH and field[:5] == struct.pack("<BI", 1, zlib.crc32(stored)):
            return field[5:]
    return b""


def _check_zip_member(info: zipfile.ZipInfo) -> None:
    if info.flag_bits & 0x1:
        raise UnsafeArchive("is encrypted", code="encrypted-member")
    kind = stat.S_IFMT(info.external_attr >> 16)
    if kind not in (0, stat.S_IFREG, stat.S_IFDIR):  # 0: written by a system without such kinds
        raise UnsafeArchive("is neither a plain file nor a folder", code="special-file")


def _safe_path(name: str) -> PurePosixPath:
    """Return the relative path of a member's name.

    Raises:
        UnsafeArchive: the path could lead out of the folder.
    """
    path = PurePosixPath(name)
    if path.is_absolute():
        raise UnsafeArchive("its path is absolute", code="unsafe-path")
    if ".." in path.parts:
        raise UnsafeArchive("its path contains '..'", code="unsafe-path")
    if "\\" in name or "\0" in name or re.search(r"(^|/)[A-Za-z]:", name):
        raise UnsafeArchive("its path contains a backslash, a NUL or a drive letter", code="unsafe-path")
    return path


def _extract_tar(archive: Path, folder: Path, budget: _Budget) -> None:
    opener = archive.open if archive.name.lower().endswith(".tar") else partial(gzip.open, archive)
    with opener("rb") as raw, _TarStream(raw) as stream, tarfile.open(fileobj=stream, mode="r:") as file:
        for info in file:
            # tarfile keeps all members that it has read; millions of them would fill the memory.
            file.members.clear()  # type: ignore[attr-defined]
            with _name_member(archive, info.name, budget):
                if not (info.isreg() or info.isdir()) or info.issparse():  # a sparse file may hide how much it writes
                    raise UnsafeArchive("is neither a plain file nor a folder", code="special-file")
                budget.spend_bytes(info.size)  # no more than this is read
                if is_litter(info.name):
                    continue
                if info.isreg() and (folder / info.name.lstrip("/")).exists():
                    raise FileExistsError
                file.extract(info, folder, set_attrs=False, filter="data")
        if stream.last_read != bytes(tarfile.BLOCKSIZE):
            # tarfile takes a broken header for the end; the real end is a block of zeros.
            raise UnsafeArchive("it is damaged, or ends too early", code="damaged-archive")
        stream.read(_CHUNK)  # the padding after it, so that gzip reaches the checksum


class _TarStream(io.BufferedIOBase):
    """The bytes of a tar. It refuses large reads, because tarfile reads a long header into memory whole."""

    def __init__(self, raw: io.BufferedIOBase) -> None:
        self._raw = raw
        self.last_read = b""

    def read(self, size: int | None = -1) -> bytes:
        if size is None or not 0 <= size <= _CHUNK:
            raise UnsafeArchive("it has a header of an absurd size", code="large-header")
        self.last_read = self._raw.read(size)
        return self.last_read

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._raw.seek(offset, whence)

    def tell(self) -> int:
        return self._raw.tell()
