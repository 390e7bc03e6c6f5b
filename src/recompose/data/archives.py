"""Archives from the internet, unpacked so that nothing of them lands outside of their folder."""

import errno
import gzip
import lzma
import shutil
import tarfile
import zipfile
import zlib
from contextlib import suppress
from functools import partial
from pathlib import Path

from recompose.data.paths import is_inside, is_litter
from recompose.errors import UnsafeArchive
from recompose.files import fresh_folder

_CHUNK = 2**20
_UTF_8, _FAT = 0x800, 0  # of a zip: the flag of names in UTF-8, and the system that wrote a member
_ERRORS = (  # of the readers, for damaged archives and for members that must not be unpacked
    ValueError,
    EOFError,
    OSError,
    RuntimeError,  # of zipfile, for encrypted members and for unknown compressions
    lzma.LZMAError,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
)
# of the readers, and of members whose names cannot all be; others are of the disk
_NUMBERS = (None, errno.EINVAL, errno.EEXIST, errno.ENOTDIR, errno.EISDIR)


def extract(archive: Path, target: Path, *, max_bytes: int = 200 * 2**30) -> None:
    """Extract a .zip, .tar, .tar.gz or .tgz into the new folder ``target``, which appears whole or not at all.

    Only what lies inside ``target`` is extracted, with the usual modes of new files, and without the files that macOS
    and Windows add. Names in a zip are those that ``unzip`` reads. In a tar, tarfile's filter for data (PEP 706) checks
    the members.

    Raises:
        UnsafeArchive: the archive holds anything else or more than ``max_bytes`` of content, or is damaged.
        FileExistsError: ``target`` exists; it is left alone.
    """
    if target.exists() or target.is_symlink():
        raise FileExistsError(f"{target} exists already; remove it first to extract {archive} there")
    unfinished = fresh_folder(target.with_name(target.name + ".partial"))
    try:
        if archive.suffix.lower() == ".zip":
            _extract_zip(archive, unfinished, max_bytes)
        elif archive.name.lower().endswith((".tar", ".tar.gz", ".tgz")):
            _extract_tar(archive, unfinished, max_bytes)
        else:
            message = f"{archive} is neither a .zip nor a .tar, .tar.gz or .tgz"
            raise UnsafeArchive(message, code="unknown-format", place=archive)
        unfinished.rename(target)
    except UnsafeArchive:
        raise
    except _ERRORS as error:
        if isinstance(error, OSError) and error.errno not in _NUMBERS:
            raise
        code = "unsafe-path" if isinstance(error, tarfile.FilterError) else "damaged-archive"
        reason = " ".join(str(error).split())
        raise UnsafeArchive(f"{archive}: {reason or 'it ends too early'}", code=code, place=archive) from error
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def _extract_zip(archive: Path, folder: Path, max_bytes: int) -> None:
    with zipfile.ZipFile(archive) as file:
        _check_size(archive, sum(info.file_size for info in file.infolist()), max_bytes)
        for info in file.infolist():
            info.filename = _zip_name(info)
            if not is_inside(info.filename):
                message = f"{archive}: member {info.filename!r}: its path could lead out of the folder"
                raise UnsafeArchive(message, code="unsafe-path", place=archive)
            if not is_litter(info.filename):
                file.extract(info, folder)


def _zip_name(info: zipfile.ZipInfo) -> str:
    """Return the name of a member as ``unzip`` reads it.

    Archives of macOS and Windows have names in UTF-8 without the flag that says so, and those of some programs on
    Windows have backslashes.
    """
    name = info.filename
    if not info.flag_bits & _UTF_8:
        with suppress(UnicodeError):  # of a name that newer versions of zipfile take from a field of its own
            name = name.encode("cp437").decode("utf-8")  # the bytes, all of which have a character in cp437
    return name.replace("\\", "/") if info.create_system == _FAT and "/" not in name else name


def _check_size(archive: Path, size: int, max_bytes: int) -> None:
    """Check the sizes in an archive's headers: no member gives more than its own says."""
    if size > max_bytes:
        message = f"{archive}: the archive holds more than {max_bytes} bytes"
        raise UnsafeArchive(message, code="too-many-bytes", place=archive)


def _extract_tar(archive: Path, folder: Path, max_bytes: int) -> None:
    opener, size = archive.open if archive.suffix.lower() == ".tar" else partial(gzip.open, archive), 0
    with opener("rb") as raw, tarfile.open(fileobj=raw, mode="r:") as file:
        for info in file:
            size += info.size
            _check_size(archive, size, max_bytes)
            if not (info.isreg() or info.isdir()):  # older versions of the filter let chains of links lead out
                message = f"{archive}: member {info.name!r} is neither a plain file nor a folder"
                raise UnsafeArchive(message, code="special-file", place=archive)
            if not is_litter(info.name):
                file.extract(info, folder, set_attrs=False, filter="data")
        raw.seek(file.offset)
        if raw.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
            raise EOFError  # tarfile takes a broken header for the end; the real end is a block of zeros
        while raw.read(_CHUNK):  # the padding after it, so that gzip reaches the checksum
            pass
