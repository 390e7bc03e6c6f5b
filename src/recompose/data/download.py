"""Downloads over HTTP from the first mirror that has a file, resumed where an earlier attempt was interrupted."""

import json
import os
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
import urllib3
from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn, TransferSpeedColumn

from recompose.digest import sha256_file
from recompose.errors import DownloadError

_CHUNK = 2**17
_TIMEOUT_S = (10.0, 60.0)  # to connect, and between two chunks of the answer
_RETRY_WAITS_S = (1.0, 3.0, 10.0)  # while no new bytes arrive; then the next mirror is tried
_LINE_EVERY_S = 10.0  # between two lines of progress where stderr is no terminal


@dataclass(frozen=True)
class Expected:
    """The expected digest and size of a file, and the file that specifies them."""

    sha256: str
    size: int | None = None
    source: str = "params.yaml"


class _MirrorError(Exception):
    """The reason why a mirror does not deliver a file."""


class _InterruptedError(_MirrorError):
    """A failure that another attempt at the same mirror may overcome."""


def download(urls: Sequence[str], target: Path, expected: Expected | None = None) -> None:
    """Download ``target`` from the first of the mirrors ``urls`` that delivers it; return at once if it exists.

    Partial content is stored in ``<target>.part``. The next call resumes it at the mirror that it came from, as long as
    that mirror serves the same version of the file. A file other than the expected one is never stored as ``target``:
    it is moved to ``<target>.mismatch``. A mirror whose file has another size is skipped before the transfer.

    Raises:
        DownloadError: no mirror delivers the file, or ``target`` exists and is another file.
    """
    if target.exists():
        _check_existing(target, expected)
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    part = _Part(target, expected)
    failures = []
    with requests.Session() as session:
        for url in part.order_mirrors(urls):
            try:
                _fetch(session, url, part)
                _deliver(part, target, expected)
                return
            except _MirrorError as failure:
                failures.append(f"  {url}: {failure}")
    raise DownloadError(_total_failure(target, expected, failures), code="no-delivery", place=target)


def _total_failure(target: Path, expected: Expected | None, failures: Sequence[str]) -> str:
    reasons = failures or ["  no mirror is known"]
    size = f"{expected.size:,} bytes with " if expected and expected.size is not None else ""
    which = f"; {expected.source} expects {size}the sha256 {expected.sha256}" if expected else ""
    remedy = f"To go on, put the file at {target} by hand{which}."
    return "\n".join([f"{target.name} could not be downloaded:", *reasons, remedy])


def _check_existing(target: Path, expected: Expected | None) -> None:
    if expected and (difference := _difference(target, expected)):
        remedy = f"Move or delete it to download it again; or correct {expected.source} if this file is the right one."
        raise DownloadError(f"{target} has {difference}. {remedy}", code="wrong-file", place=target)


def _difference(path: Path, expected: Expected) -> str:
    """Describe how a file differs from the expected one; empty where it does not."""
    size = path.stat().st_size
    if expected.size is not None and expected.size != size:
        return f"{size:,} bytes, where {expected.source} expects {expected.size:,}"
    digest, expected_digest = sha256_file(path), expected.sha256.lower()
    if digest != expected_digest:
        return f"{size:,} bytes with the sha256 {digest}, where {expected.source} expects the sha256 {expected_digest}"
    return ""


def _deliver(part: "_Part", target: Path, expected: Expected | None) -> None:
    """Rename a complete part to the target, or move it aside if it is not the expected file."""
    if expected and (difference := _difference(part.path, expected)):
        aside = target.with_name(target.name + ".mismatch")
        part.move_to(aside)
        raise _MirrorError(f"delivered {difference}; stored as {aside}")
    with part.path.open("rb+") as file:
        os.fsync(file.fileno())
    part.move_to(target)


class _Part:
    """The partial content of a file, and a note that names the version and the URL of the remote file."""

    def __init__(self, target: Path, expected: Expected | None) -> None:
        self.name, self.expected = target.name, expected
        self.path = target.with_name(target.name + ".part")
        self._note = target.with_name(target.name + ".part.json")

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def order_mirrors(self, urls: Sequence[str]) -> list[str]:
        """Return the mirrors in order, but first the one that can resume this part."""
        return sorted(urls, key=lambda url: self.version_from(url) is None)

    def version_from(self, url: str) -> str | None:
        """Return the validator with which ``url`` may resume this part; None where it has to start over."""
        try:
            note = json.loads(self._note.read_text())
            return note["version"] if note["url"] == url and self.size > 0 else None
        except (OSError, ValueError, KeyError, TypeError):
            return None  # no note, or a broken one

    def begin(self, url: str, version: str | None) -> None:
        self.path.write_bytes(b"")  # before the note: old bytes must never carry a new version
        self._note.write_text(json.dumps({"url": url, "version": version}))

    def discard(self) -> None:
        self.path.unlink(missing_ok=True)
        self._note.unlink(missing_ok=True)

    def move_to(self, path: Path) -> None:
        self.path.replace(path)
        self._note.unlink(missing_ok=True)


def _fetch(session: requests.Session, url: str, part: _Part) -> None:
    """Complete the part from one mirror, with new attempts as long as they make progress or waits remain."""
    furthest = part.size
    waits = iter(_RETRY_WAITS_S)
    while True:
        try:
            _request(session, url, part)
            return
        except _InterruptedError:
            if part.size > furthest:
                furthest = part.size
                waits = iter(_RETRY_WAITS_S)
            wait = next(waits, None)
            if wait is None:
                raise
            time.sleep(wait)


def _request(session: requests.Session, url: str, part: _Part) -> None:
    """Request the missing bytes of the part once and append the answer; return when the part is complete."""
    version = part.version_from(url)
    headers = {"Accept-Encoding": "identity"}  # a range of a compressed answer would not fit the bytes on disk
    if version is not None:
        headers |= {"Range": f"bytes={part.size}-", "If-Range": version}
    with _translate_errors(), session.get(url, headers=headers, stream=True, timeout=_TIMEOUT_S) as response:
        if version is not None and response.status_code in (206, 416):
            if not _continues(response, part, version):
                part.discard()
                raise _InterruptedError("the answer does not continue the stored part, which is discarded")
            if response.status_code == 416:  # no bytes after these: the part is complete
                return
        else:
            _check_status(response)
            _check_offer(response, part.expected)
            part.begin(url, _version(response))
        _append(response, part)


@contextmanager
def _translate_errors() -> Iterator[None]:
    """Sort network errors into temporary and permanent failures."""
    try:
        yield
    except (requests.ConnectionError, requests.Timeout, urllib3.exceptions.HTTPError) as error:
        raise _InterruptedError(f"connection failed: {error}") from error
    except requests.RequestException as error:  # for example URLs and redirects that are not http or https
        raise _MirrorError(str(error)) from error


def _check_status(response: requests.Response) -> None:
    status = response.status_code
    if status == 200:
        return
    answer = f"answered {status} {response.reason}"
    raise _InterruptedError(answer) if status >= 500 or status in (408, 429) else _MirrorError(answer)


def _check_offer(response: requests.Response, expected: Expected | None) -> None:
    """Refuse an answer that cannot be the file, before its content is transferred."""
    if response.headers.get("Content-Type", "").startswith("text/html"):  # an error or login page with status 200
        raise _MirrorError("answered with a web page in place of the file")
    size, total = expected.size if expected else None, _total(response, 0)
    if expected and size is not None and total is not None and size != total:
        raise _MirrorError(f"offers {total:,} bytes, where {expected.source} expects {size:,}")


def _version(response: requests.Response) -> str | None:
    """Return the validator that identifies this version of the file byte for byte; weak ETags do not."""
    etag = response.headers.get("ETag")
    if etag and not etag.startswith("W/"):
        return etag
    return response.headers.get("Last-Modified")


def _continues(response: requests.Response, part: _Part, version: str) -> bool:
    """Return whether a 206 or 416 fits the part: some servers know Range but ignore If-Range."""
    start, total = _content_range(response)
    if response.status_code == 416:
        return total == part.size
    return start == part.size and _version(response) in (version, None)


def _content_range(response: requests.Response) -> tuple[int | None, int | None]:
    """Return the first byte and the total size of ``Content-Range: bytes 5-9/10`` or ``bytes */10``, where present."""
    match = re.fullmatch(r"bytes (?:(\d+)-\d+|\*)/(?:(\d+)|\*)", response.headers.get("Content-Range", ""))
    if match is None:
        return None, None
    start, total = match.groups()
    return int(start) if start else None, int(total) if total else None


def _append(response: requests.Response, part: _Part) -> None:
    total = _total(response, part.size)
    with part.path.open("ab") as file, _progress(part.name, part.size, total) as advance:
        # Undecoded: some servers call the compression of a .tar.gz its Content-Encoding.
        for chunk in response.raw.stream(_CHUNK, decode_content=False):
            file.write(chunk)
            advance(len(chunk))
    if total is not None and part.size != total:
        raise _InterruptedError(f"the connection ended after {part.size} of {total} bytes")


def _total(response: requests.Response, done: int) -> int | None:
    """Return the size of the whole file, of which ``done`` bytes are stored, if the server states it."""
    _, total = _content_range(response)
    if total is not None:
        return total
    length = response.headers.get("Content-Length", "")
    return done + int(length) if length.isdecimal() else None


def _progress(name: str, done: int, total: int | None) -> AbstractContextManager[Callable[[int], None]]:
    """Show the progress of the download on stderr; yield a function that takes the size of each new chunk."""
    return _bar(name, done, total) if sys.stderr.isatty() else _lines(name, done, total)


@contextmanager
def _bar(name: str, done: int, total: int | None) -> Iterator[Callable[[int], None]]:
    description = TextColumn("{task.description}", markup=False)
    columns = (description, BarColumn(), DownloadColumn(), TransferSpeedColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True)) as progress:
        task = progress.add_task(name, total=total, completed=done)
        yield lambda count: progress.advance(task, count)


@contextmanager
def _lines(name: str, done: int, total: int | None) -> Iterator[Callable[[int], None]]:
    began = reported = time.monotonic()
    arrived = 0

    def advance(count: int) -> None:
        nonlocal arrived, reported
        arrived += count
        now = time.monotonic()
        if now - reported >= _LINE_EVERY_S:
            reported = now
            print(_line(name, done + arrived, total, arrived / (now - began)), file=sys.stderr, flush=True)

    yield advance


def _line(name: str, done: int, total: int | None, rate: float) -> str:
    if total is None:
        return f"{name}: {decimal(done)}, {decimal(int(rate))}/s"
    return f"{name}: {decimal(done)} of {decimal(total)}, {decimal(int(rate))}/s, {(total - done) / rate:.0f} s left"
