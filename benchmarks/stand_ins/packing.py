"""Archives written as a stream: never more than one member in memory, and the same bytes each time."""

import gzip
import io
import tarfile
import zipfile
from collections.abc import Callable, Iterable
from pathlib import Path

Members = Iterable[tuple[str, bytes]]  # name and content
PACKED_ALREADY = (".jpg", ".jpeg", ".png")


def pack(path: Path, members: Members) -> None:
    """Write a .zip, .whl, .tar.gz or .tgz with these members, whole or not at all, where it is not there yet."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    writer: Callable[[Path, Members], None] = _zip if path.suffix in (".zip", ".whl") else _tar
    writer(partial, members)
    partial.rename(path)


def _zip(path: Path, members: Members) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members:
            info = zipfile.ZipInfo(name)  # of 1980, whenever it is written
            stored = name.endswith(PACKED_ALREADY)
            info.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            archive.writestr(info, content, compresslevel=1)


def _tar(path: Path, members: Members) -> None:
    with (
        path.open("wb") as raw,
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w|") as archive,
    ):
        for name, content in members:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
