"""Archives from the internet, unpacked as if every one of them were hostile."""

import gzip
import re
import shutil
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path, PurePosixPath

from recompose.data.paths import is_litter
from recompose.errors import UnsafeArchive
from recompose.files import fresh_folder

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


def extract(archive: Path, target: Path, *, max_bytes: int = 200 * 2**30) -> None:
    """Extract a .zip, .tar, .tar.gz or .tgz into the new folder ``target``, which appears whole or not at all.

    Only plain files and folders inside ``target`` are extracted, with the usual modes of new files, and without the
    files that macOS and Windows add. Names in a zip are those that ``unzip`` reads. In a tar, tarfile's filter for data
    (PEP 706) checks the paths, and makes absolute ones relative.

    Raises:
        UnsafeArchive: the archive holds anything else or more than ``max_bytes`` of content, or is damaged.
        FileExistsError: ``target`` exists; it is left alone.
    """
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists already; remove it first to extract {archive} there")
    unfinished = fresh_folder(target.with_name(target.name + ".partial"))
    try:
        with _name_culprit(str(archive)):
            if archive.suffix.lower() == ".zip":
                _extract_zip(archive, unfinished, max_bytes)
            elif archive.name.lower().endswith((".tar", ".tar.gz", ".tgz")):
                _extract_tar(archive, unfinished, max_bytes)
            else:
                raise UnsafeArchive("is neither a .zip nor a .tar, .tar.gz or .tgz", code="unknown-format")
        unfinished.rename(target)
    except BaseException:
        shutil.rmtree(unfinished)
        raise


@contextmanager
def _name_culprit(culprit: str) -> Iterator[None]:
    """Turn every error of the block into an ``UnsafeArchive`` that names the culprit, unless it names one already."""
    try:
        yield
    except (FileExistsError, NotADirectoryError) as error:  # the folder was empty at first
        raise UnsafeArchive(
            f"{culprit}: an earlier member has this path", code="repeated-member", place=culprit
        ) from error
    except _ERRORS as error:
        if isinstance(error, UnsafeArchive) and error.place:
            raise
        code = "unsafe-path" if isinstance(error, tarfile.FilterError) else "damaged-archive"
        code = error.code if isinstance(error, UnsafeArchive) else code
        raise UnsafeArchive(f"{culprit}: {error}", code=code, place=culprit) from error


def _extract_zip(archive: Path, folder: Path, max_bytes: int) -> None:
    with zipfile.ZipFile(archive) as file:
        _check_size(sum(info.file_size for info in file.infolist()), max_bytes)
        for info in file.infolist():
            name = _zip_name(info)
            with _name_culprit(f"{archive}: member {name!r}"):
                path = folder / _safe_path(name)
                if info.flag_bits & 0x1:
                    raise UnsafeArchive("is encrypted", code="encrypted-member")
                kind = stat.S_IFMT(info.external_attr >> 16)
                if kind not in (0, stat.S_IFREG, stat.S_IFDIR):  # 0: written by a system without such kinds
                    raise UnsafeArchive("is neither a plain file nor a folder", code="special-file")
                if is_litter(name):
                    continue
                if name.endswith("/"):
                    path.mkdir(parents=True, exist_ok=True)
                    continue
                path.parent.mkdir(parents=True, exist_ok=True)
                with file.open(info) as source, path.open("xb") as target:
                    shutil.copyfileobj(source, target, _CHUNK)


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


def _check_size(size: int, max_bytes: int) -> None:
    """Check the sizes in an archive's headers: no member gives more than its own says."""
    if size > max_bytes:
        raise UnsafeArchive(f"the archive holds more than {max_bytes} bytes", code="too-many-bytes")


def _extract_tar(archive: Path, folder: Path, max_bytes: int) -> None:
    opener, size = archive.open if archive.suffix.lower() == ".tar" else partial(gzip.open, archive), 0
    with opener("rb") as raw, tarfile.open(fileobj=raw, mode="r:") as file:
        for info in file:
            with _name_culprit(f"{archive}: member {info.name!r}"):
                size += info.size
                _check_size(size, max_bytes)
                if not (info.isreg() or info.isdir()):
                    raise UnsafeArchive("is neither a plain file nor a folder", code="special-file")
                if is_litter(info.name):
                    continue
                if info.isreg() and (folder / info.name.lstrip("/")).exists():
                    raise FileExistsError
                file.extract(info, folder, set_attrs=False, filter="data")
        raw.seek(file.offset)
        if raw.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            # tarfile takes a broken header for the end; the real end is a block of zeros.
            raise UnsafeArchive("it is damaged, or ends too early", code="damaged-archive")
        while raw.read(_CHUNK):  # the padding after it, so that gzip reaches the checksum
            pass
