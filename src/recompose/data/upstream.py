"""Files published upstream, below ``data``: downloaded unless they exist, and verified against their first use.

The first file that is read without an error, downloaded or added by hand, is trusted, and its size and digest are
recorded. From then on no other file is accepted in its place, here or where the lock was committed to. A digest in
params.yaml has precedence.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from recompose.data.download import Expected, download
from recompose.data.lock import LOCK, Content, content_of, lock_entries, record
from recompose.errors import DataError
from recompose.locks import lock_below
from recompose.progress import say

PARAMETERS = "params.yaml"
MIRROR = "RECOMPOSE_MIRROR"  # the URL of the user's own server, with the same layout as ``data``


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
        content = content_of(path)
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
