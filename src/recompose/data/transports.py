"""The libraries that transfer files: huggingface_hub those of its hub, pooch those of any other server.

Import this module where a file is missing: the libraries take a while to load.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import pooch
import requests
from huggingface_hub import HfUri, hf_hub_download, parse_hf_uri
from huggingface_hub.errors import GatedRepoError, HTTPError, RepositoryNotFoundError
from tqdm import tqdm

from recompose.data.download import Expected
from recompose.files import link, usual_mode
from recompose.progress import printable, say

HUB = "https://huggingface.co/"
TIMEOUT_S = (10.0, 60.0)  # to connect, and between two chunks of the answer
RETRIES = 2  # of a transfer that breaks off; each starts over, after one second more
CHUNK = 2**20
LINE_EVERY_S = 10.0  # between two lines of progress where stderr is no terminal
LONGEST = 300  # characters of a library's reason

pooch.get_logger().setLevel("WARNING")  # it tells which digest to hard-code


class SourceError(Exception):
    """The reason why a source does not deliver a file."""


def fetch(url: str, folder: Path, name: str, expected: Expected | None) -> None:
    """Download a file into a folder; one of a hub is linked there from the hub's cache.

    Raises:
        SourceError: the source does not deliver it.
        OSError: it cannot be stored.
    """
    if url.startswith(HUB):
        link(_from_hub(url), folder / name)
    else:
        _from_server(url, folder, name, expected)


def _from_hub(url: str) -> Path:
    """Return the path of a file in the hub's cache, where it is downloaded to unless it is there."""
    with _hub_file(url) as file:
        kind, version = file.type, file.revision
        path = hf_hub_download(file.id, file.path_in_repo, repo_type=kind, revision=version, tqdm_class=Progress)
    return Path(path)


@contextmanager
def _hub_file(url: str) -> Iterator[HfUri]:
    """Yield a file of the hub; what its library raises becomes a reason, unless a disk cannot be written to."""
    page = url.partition("/resolve/")[0]
    try:
        yield parse_hf_uri(url)
    except GatedRepoError:
        reason = f"gated: ask for access at {page}, then set HF_TOKEN to a token of the account that has it"
        raise SourceError(reason) from None
    except RepositoryNotFoundError:
        raise SourceError(f"{page} does not exist, or is private and needs HF_TOKEN") from None
    except Exception as error:  # of its own, of its HTTP client and of its transfer in Rust: they share no class
        if isinstance(error, OSError) and error.errno and not isinstance(error, HTTPError | ConnectionError):
            raise
        raise SourceError(_reason(error)) from None


def _from_server(url: str, folder: Path, name: str, expected: Expected | None) -> None:
    def check(response: requests.Response, **_: Any) -> None:
        # Undecoded: some servers call the compression of a .tar.gz its Content-Encoding.
        response.raw.headers.pop("Content-Encoding", None)
        if not response.is_redirect:
            _check_offer(response, expected)

    def transfer(url: str, file: str, files: pooch.Pooch) -> None:
        with Progress(desc=name, total=0, unit="B", unit_scale=True) as progress:
            get = pooch.HTTPDownloader(
                progressbar=progress,
                chunk_size=CHUNK,
                timeout=TIMEOUT_S,
                headers={"Accept-Encoding": "identity"},
                hooks={"response": check},
            )
            get(url, file, files)

    files = pooch.create(folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES)
    with _server_reasons():
        files.fetch(name, downloader=transfer)
    (folder / name).chmod(usual_mode(folder))  # pooch leaves the mode of a temporary file


@contextmanager
def _server_reasons() -> Iterator[None]:
    try:
        yield
    except (requests.RequestException, ValueError) as error:
        raise SourceError(_reason(error)) from None


def _check_offer(response: requests.Response, expected: Expected | None) -> None:
    """Refuse an answer that cannot be the file, before its content is transferred and without another attempt."""
    status, size = response.status_code, _content_length(response)
    if 400 <= status < 500 and status not in (408, 429):
        raise SourceError(f"the server answers {status} {printable(response.reason or '')}".rstrip())
    if status == 200 and response.headers.get("Content-Type", "").startswith("text/html"):  # an error or login page
        raise SourceError("the server answers with a web page in place of the file")
    if status == 200 and expected and None not in (expected.size, size) and expected.size != size:
        raise SourceError(f"the server offers {size:,} bytes, where {expected.source} expects {expected.size:,}")


def _content_length(response: requests.Response) -> int | None:
    length = response.headers.get("Content-Length", "")
    return int(length) if length.isdecimal() else None


def _reason(error: BaseException) -> str:
    """Return the first line of the error that others follow from, such as "Connection refused", or its kind."""
    while origin := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = origin
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(printable(lines[0]), LONGEST, placeholder=" ...")


class _Lines:
    """A file for tqdm that makes lines of its rewritten one."""

    def write(self, text: str) -> None:
        if line := text.strip():
            say(line)

    def flush(self) -> None:
        """Do nothing: every line is flushed."""


class Progress(tqdm):
    """The progress of a download: a bar in a terminal, otherwise a line at times, none for a short one."""

    def __init__(self, **options: Any) -> None:
        if not sys.stderr.isatty():
            options |= {"file": _Lines(), "ncols": 0, "mininterval": LINE_EVERY_S, "delay": LINE_EVERY_S}
        super().__init__(**options)

    def __bool__(self) -> bool:
        """Return True: pooch asks whether there is one."""
        return True

    def reset(self, total: float | None = None) -> None:
        """Start at zero, which pooch does once it is complete, without a line that says so."""
        self.n = 0
