"""Files published upstream, below ``data``: from the first source that delivers the expected one, and verified against
their first use.

The first file that is read without an error, downloaded or added by hand, is trusted, and its size and digest are
recorded in ``archives.lock``, by its path below ``data``. From then on no other file is accepted in its place, here or
where the lock was committed to. A digest in params.yaml has precedence. The lock lies beside ``data``, in the project's
folder. It is no part of a recipe: adding, correcting or removing an entry makes nothing stale.
"""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field, TypeAdapter, ValidationError

from recompose.digest import sha256_file
from recompose.errors import DataError, DownloadError
from recompose.files import fresh_folder, sync, write_json
from recompose.params.sections import Digest, Section
from recompose.progress import say
from recompose.recipes.locks import lock_below
from recompose.recipes.records import complaint

LOCK = "archives.lock"
PARAMETERS = "params.yaml"
MIRROR = "RECOMPOSE_MIRROR"  # the URL of the user's own server, with the same layout as ``data``


class Content(Section):
    """The size and digest of a file."""

    bytes: Annotated[int, Field(ge=0)]
    sha256: Digest


_CONTENTS = TypeAdapter(dict[str, Content])


def lock_entries(data: Path) -> dict[str, Content]:
    """Return the recorded sizes and digests of files by their paths below ``data``; empty where none is recorded.

    Raises:
        DataError: the lock cannot be read.
    """
    path = data.parent / LOCK
    try:
        return _CONTENTS.validate_json(path.read_bytes())
    except FileNotFoundError:
        return {}
    except ValidationError as error:
        message = (
            f"{path} is not a list of files with their bytes and sha256 ({complaint(error)}): restore it with `git "
            f"checkout -- {LOCK}`; if a merge left conflict markers in it, keep the entries of both sides"
        )
        raise DataError(message, code="damaged-lock", place=path) from None


def record(data: Path, place: str, content: Content) -> None:
    """Record the size and digest of the file at a path, replacing an earlier entry."""
    with lock_below(data, LOCK):
        entries = lock_entries(data) | {place: content}
        write_json(data.parent / LOCK, {name: entries[name].model_dump() for name in sorted(entries)})


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


@contextmanager
def verified_download(data: Path, place: str, urls: Sequence[str], sha256: str | None) -> Iterator[Path]:
    """Yield the path of a published file once it exists and is verified.

    Args:
        data: the folder of all raw inputs.
        place: the path of the file below it, such as ``archives/cgqa.zip``.
        urls: the URLs that upstream publishes it at.
        sha256: its digest, if params.yaml has one.

    Raises:
        DownloadError: no source delivers it, or the existing file is another one.
        DataError: the block's own, with a description of the file.
    """
    path = data / place
    with lock_below(data, place):  # concurrent calls may need the same file
        before = lock_entries(data).get(place)
        expected = expectation(before, sha256)
        download(mirrors(place, urls), path, expected)
    try:
        yield path
    except DataError as error:
        message = f"{error}; {_describe_unusable(path, expected)}"
        raise type(error)(message, code=error.code, place=error.place or path) from None
    if before is None or before.sha256 != (sha256 or before.sha256):
        content = Content(bytes=path.stat().st_size, sha256=sha256_file(path))
        record(data, place, content)
        say(f"{LOCK}: {place} is recorded, {content.bytes:,} bytes; commit {LOCK} so that no other file is accepted")


def expectation(before: Content | None, sha256: str | None) -> Expected | None:
    """Return the expected content of a file by its record and the digest in params.yaml; None without either."""
    if sha256 is not None:
        return Expected(sha256, before.bytes if before and before.sha256 == sha256 else None, PARAMETERS)
    return Expected(before.sha256, before.bytes, LOCK) if before else None


def mirrors(place: str, urls: Sequence[str]) -> list[str]:
    """Return the URLs of a file: first on the user's own server, if one is set."""
    server = os.environ.get(MIRROR, "").rstrip("/")
    return [*([f"{server}/{place}"] if server else []), *urls]


def _describe_unusable(path: Path, expected: Expected | None) -> str:
    """Describe a file that cannot be used, and the remedy."""
    size = f"{path} has {path.stat().st_size:,} bytes"
    if expected is None:
        return (
            f"{size}; neither {LOCK} nor {PARAMETERS} has its expected size. Delete it to download it again, or put "
            "the right one there."
        )
    return (
        f"{size} and the sha256 {expected.sha256}, as {expected.source} expects, but the file is unusable. Delete the "
        f"file and correct {expected.source}; then it is downloaded again."
    )
