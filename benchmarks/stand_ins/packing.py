"""Archives written as a stream: never more than one member in memory."""

import io
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path

Members = Iterable[tuple[str, bytes]]  # name and content


def pack(path: Path, members: Members) -> None:
    """Write a .zip, .whl, .tar.gz or .tgz with these members, whole or not at all, where it is not there yet."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".partial")
    if path.suffix in (".zip", ".whl"):
        with zipfile.ZipFile(partial, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            for name, content in members:
                archive.writestr(name, content)
    else:
        with tarfile.open(partial, "w:gz", compresslevel=1) as packed:
            for name, content in members:
                info = tarfile.TarInfo(name)
                info.size = len(content)
                packed.addfile(info, io.BytesIO(content))
    partial.rename(path)
