"""Published files, from the first source that delivers the expected one."""

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from recompose.digest import sha256_file
from recompose.errors import DownloadError
from recompose.files import fresh_folder, sync


@dataclass(frozen=True)
class Expected:
    """The expected digest and size of a file, and the file that specifies them."""

    sha256: str
    size: int | None = None
    source: str = "params.yaml"

    def difference(self, path: Path) -> str:
        """Describe how a file differs from the expected one; empty where it does not."""
        size = path.stat().st_size
        if self.size is not None and self.size != size:
            return f"{size:,} bytes, where {self.source} expects {self.size:,}"
        sha256 = sha256_file(path)
        if sha256 != self.sha256.lower():
            return f"{size:,} bytes with the sha256 {sha256}, where {self.source} expects the sha256 {self.sha256}"
        return ""


def download(urls: Sequence[str], target: Path, expected: Expected | None = None) -> None:
    """Download ``target`` from the first of ``urls`` that delivers it; return at once if it exists.

    A file other than the expected one is never stored as ``target``. A killed download leaves the folder
    ``<target>.download``, which the next one replaces: it starts over.

    Raises:
        DownloadError: no source delivers the file, or ``target`` exists and is another file.
        OSError: the file cannot be stored.
    """
    if target.exists():
        if expected and (difference := expected.difference(target)):
            remedy = (
                f"Move or delete it to download it again; or correct {expected.source} if this file is the right one."
            )
            raise DownloadError(f"{target} has {difference}. {remedy}", code="wrong-file", place=target)
        return
    failures = []
    for url in urls:
        if failure := _failure(url, target, expected):
            failures.append(f"{url}: {failure}")
        else:
            return
    reasons = "; ".join(failures) or "no address is known"
    size = f"{expected.size:,} bytes with " if expected and expected.size is not None else ""
    which = f" ({expected.source} expects {size}the sha256 {expected.sha256})" if expected else ""
    message = f"{target} could not be downloaded: {reasons}. To go on, put the file there by hand{which}."
    raise DownloadError(message, code="no-delivery", place=target)


def _failure(url: str, target: Path, expected: Expected | None) -> str:
    """Download a file from one source; return why that did not succeed, empty where it did."""
    from recompose.data import transports  # its libraries take a while to load

    folder = fresh_folder(target.with_name(f"{target.name}.download"))
    try:
        transports.fetch(url, folder, target.name)
        arrived = folder / target.name
        if expected and (difference := expected.difference(arrived)):
            return f"delivers {difference}"
        sync(arrived)
        arrived.replace(target)
    except transports.SourceError as error:
        return str(error)
    finally:
        shutil.rmtree(folder)
    return ""
