"""The libraries that transfer files: huggingface_hub those of its hub, pooch those of any other server.

Import this module where a file is missing: the libraries take a while to load.
"""

import sys
from pathlib import Path
from textwrap import shorten
from typing import Any

import pooch
import requests
from huggingface_hub import hf_hub_download, parse_hf_uri
from huggingface_hub.errors import GatedRepoError, HTTPError

from recompose.files import link, usual_mode
from recompose.progress import printable, say

HUB = "https://huggingface.co/"
TIMEOUT_S = (10.0, 60.0)  # to connect, and between two chunks of the answer
CHUNK = 2**20
RETRIES = 2  # of a transfer that breaks off; each starts over, after one second more
LONGEST = 300  # characters of a library's reason

pooch.get_logger().setLevel("WARNING")  # it tells which digest to hard-code


class SourceError(Exception):
    """The reason why a source does not deliver a file."""


def fetch(url: str, folder: Path, name: str) -> None:
    """Download a file into a folder; one of a hub is linked there from the hub's cache.

    Raises:
        SourceError: the source does not deliver it.
        OSError: it cannot be stored.
    """
    say(f"{name}: downloading from {printable(url)}")
    try:
        if url.startswith(HUB):
            link(_from_hub(url), folder / name)
        else:
            _from_server(url, folder, name)
    except GatedRepoError:
        page = url.partition("/resolve/")[0]
        reason = f"gated: ask for access at {page}, then set HF_TOKEN to a token of the account that has it"
        raise SourceError(reason) from None
    except SourceError:
        raise
    except Exception as error:  # of the hub's library, its HTTP client, its transfer in Rust: they share no class
        network = HTTPError | ConnectionError | requests.RequestException
        if isinstance(error, OSError) and error.errno and not isinstance(error, network):
            raise
        raise SourceError(_reason(error)) from None


def _from_hub(url: str) -> Path:
    """Return the path of a file in the hub's cache, where it is downloaded to unless it is there."""
    file = parse_hf_uri(url)
    return Path(hf_hub_download(file.id, file.path_in_repo, repo_type=file.type, revision=file.revision))


def _from_server(url: str, folder: Path, name: str) -> None:
    def check(response: requests.Response, **_: Any) -> None:
        # Undecoded: some servers call the compression of a .tar.gz its Content-Encoding.
        response.raw.headers.pop("Content-Encoding", None)
        status, kind = response.status_code, response.headers.get("Content-Type", "")
        if 400 <= status < 500 and status not in (408, 429):  # another attempt would get the same
            raise SourceError(f"the server answers {status} {printable(response.reason or '')}".rstrip())
        if status == 200 and kind.startswith("text/html"):  # a page of errors, a login
            raise SourceError("the server answers with a web page in place of the file")

    get = pooch.HTTPDownloader(
        progressbar=sys.stderr.isatty(),
        chunk_size=CHUNK,
        timeout=TIMEOUT_S,
        headers={"Accept-Encoding": "identity"},
        hooks={"response": check},
    )
    files = pooch.create(folder, base_url="", registry={name: None}, urls={name: url}, retry_if_failed=RETRIES)
    files.fetch(name, downloader=get)
    (folder / name).chmod(usual_mode(folder))  # pooch leaves the mode of a temporary file


def _reason(error: BaseException) -> str:
    """Return the first line of the error that others follow from, such as "Connection refused", or its kind."""
    while origin := error.__cause__ or (None if error.__suppress_context__ else error.__context__):
        error = origin
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return shorten(printable(lines[0]), LONGEST, placeholder=" ...")
