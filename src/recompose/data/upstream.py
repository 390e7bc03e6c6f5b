"""Files that upstream publishes, below ``data``: fetched where they are not there, and held to what they were.

Whatever is first read without complaint, downloaded or put there by hand, is trusted, and its size and digest are
recorded. From then on no other file is taken for it, here or where the lock was committed to. A digest in params.yaml
goes before that.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from recompose.data.download import Expected, download
from recompose.data.lock import LOCK, Content, alone, content_of, record, recorded
from recompose.errors import DataError
from recompose.progress import say

PARAMETERS = "params.yaml"
MIRROR = "RECOMPOSE_MIRROR"  # the address of a server of one's own, whose files lie as they do below ``data``


@contextmanager
def verified_download(data: Path, place: str, urls: Sequence[str], sha256: str | None) -> Iterator[Path]:
    """A published file for the block that reads it: its path, once it is there and is what it has to be.

    Args:
        data: the folder of all raw inputs.
        place: of the file below it, such as ``archives/cgqa.zip``.
        urls: where upstream publishes it.
        sha256: its digest, where params.yaml gives one.

    Raises:
        DownloadError: no mirror delivers it, or what is there is another file.
        DataError: the block's own, with what is known of the file.
    """
    path = data / place
    with alone(data, place):  # files are shared, and wanted side by side
        before = recorded(data).get(place)
        expected = expectation(before, sha256)
        download(mirrors(place, urls), path, expected)
    try:
        yield path
    except DataError as error:
        raise type(error)(f"{error}\n{_known(path, expected)}") from None
    if before is None or before.sha256 != (sha256 or before.sha256):
        content = content_of(path)
        record(data, place, content)
        say(f"{LOCK}: {place} is recorded, {content.bytes:,} bytes: commit it, and no other file is taken for it")


def expectation(before: Content | None, sha256: str | None) -> Expected | None:
    """What a file has to be, from what is recorded of it and the digest that params.yaml gives; None where nothing
    is known.
    """
    if sha256 is not None:
        return Expected(sha256, before.bytes if before and before.sha256 == sha256 else None, PARAMETERS)
    return Expected(before.sha256, before.bytes, LOCK) if before else None


def mirrors(place: str, urls: Sequence[str]) -> list[str]:
    """Where a file may be had: from the server of one's own first, where one is named."""
    own = os.environ.get(MIRROR, "").rstrip("/")
    return [*([f"{own}/{place}"] if own else []), *urls]


def _known(path: Path, expected: Expected | None) -> str:
    """What is known of a file that cannot be used, and what to do."""
    size = f"{path} has {path.stat().st_size:,} bytes"
    if expected is None:
        return (
            f"{size}; neither {LOCK} nor {PARAMETERS} says how many it should have. Delete it, and it is downloaded "
            "again, or put the right one there."
        )
    return (
        f"{size} and the sha256 {expected.sha256}, as {expected.source} expects: that is of a file that is no good. "
        f"Delete the file, correct {expected.source}, and it is downloaded again."
    )
