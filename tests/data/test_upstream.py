"""Published files: downloaded from servers that cut connections, change their files and lie, and held to what they were
at their first use.
"""

import hashlib
import json
import random
import socket
from pathlib import Path

import pytest
from huggingface_hub import constants

from recompose.data.archives import extract
from recompose.data.upstream import LOCK, MIRROR, Content, Expected, download, record, verified_download
from recompose.errors import DataError, DownloadError, UnsafeArchive
from tests.data.mirror import CONTENT, Mirror
from tests.errors import raises

PLACE = "archives/file.bin"
SHA256 = hashlib.sha256(CONTENT).hexdigest()
RECORDED = {PLACE: {"bytes": 1_000_003, "sha256": SHA256}}


@pytest.fixture(autouse=True)
def no_server_of_ones_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(MIRROR, raising=False)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return tmp_path / "project" / "data"


def lock(data: Path) -> dict[str, object]:
    path = data.parent / LOCK
    return json.loads(path.read_text()) if path.exists() else {}


def put(data: Path, content: bytes, place: str = PLACE) -> Path:
    """A file that somebody put there by hand."""
    path = data / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def use(data: Path, *urls: str, sha256: str | None = None, place: str = PLACE) -> bytes:
    with verified_download(data, place, urls, sha256) as path:
        return path.read_bytes()


# the first use, and those after it


def test_the_first_download_is_recorded_and_another_file_refused_from_then_on(mirror: Mirror, data: Path) -> None:
    assert use(data, mirror.url) == CONTENT
    assert lock(data) == RECORDED
    (data / PLACE).unlink()
    mirror.content = CONTENT[:-1] + bytes([CONTENT[-1] ^ 1])
    with raises(DownloadError, "no-delivery", place=data / PLACE):
        use(data, mirror.url)
    mirror.content = CONTENT[:-1]
    with raises(DownloadError, "no-delivery", place=data / PLACE):
        use(data, mirror.url)
    mirror.content = CONTENT
    assert use(data, mirror.url) == CONTENT
    assert lock(data) == RECORDED


def test_a_file_put_there_by_hand_is_recorded_and_checked_alike(data: Path) -> None:
    put(data, CONTENT)
    assert use(data) == CONTENT
    assert lock(data) == RECORDED
    path = put(data, CONTENT[:400_000])
    with raises(DownloadError, "wrong-file", path) as caught:
        use(data)
    assert all(value in str(caught.value) for value in ("400,000", "1,000,003", LOCK))


def test_what_a_block_complains_of_is_not_recorded_and_its_size_told(data: Path) -> None:
    path = put(data, b"<html>no such file</html>", "archives/file.zip")
    with (
        raises(UnsafeArchive, "damaged-archive", path) as caught,
        verified_download(data, "archives/file.zip", (), None) as there,
    ):
        extract(there, data / "unpacked")
    assert all(value in str(caught.value) for value in (" 25 ", LOCK, "params.yaml"))
    assert lock(data) == {}


# params.yaml and the lock


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def test_the_digest_of_params_yaml_goes_before_the_lock(data: Path) -> None:
    put(data, b"new")
    record(data, PLACE, Content(bytes=3, sha256=sha256(b"old")))
    assert use(data, sha256=sha256(b"new")) == b"new"
    assert lock(data) == {PLACE: {"bytes": 3, "sha256": sha256(b"new")}}
    with raises(DownloadError, "wrong-file", place=data / PLACE):
        use(data, sha256=sha256(b"old"))


def test_a_lock_that_cannot_be_read_is_an_error_and_stays(data: Path) -> None:
    text = "<<<<<<< HEAD"
    put(data, CONTENT)
    (data.parent / LOCK).write_text(text)
    with raises(DataError, "damaged-lock", place=LOCK):
        use(data)
    assert (data.parent / LOCK).read_text() == text


# downloads


OTHER = random.Random(1).randbytes(1_000_003)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data" / "file.bin"


def is_delivered(target: Path, content: bytes = CONTENT) -> bool:
    """Return whether a file has this content, and nothing lies beside it, such as what was downloaded of it."""
    return target.read_bytes() == content and [*target.parent.iterdir()] == [target]


# one source


def test_a_file_arrives_with_the_mode_of_other_files(mirror: Mirror, target: Path) -> None:
    download([mirror.url], target, Expected(sha256(CONTENT).upper()))
    assert is_delivered(target)
    assert target.stat().st_mode & 0o777 == 0o644
    assert len(mirror.requests) == 1


def test_compression_belongs_to_the_file(mirror: Mirror, target: Path) -> None:
    """Some servers send an archive.tar.gz as an archive.tar in the encoding gzip."""
    mirror.headers["Content-Encoding"] = "gzip"
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.requests[0]["Accept-Encoding"] == "identity"


# a file that exists


def test_an_existing_file_is_not_downloaded_again(mirror: Mirror, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    download([mirror.url], target)
    download([mirror.url], target, Expected(sha256(OTHER).upper()))
    assert is_delivered(target, OTHER)
    assert mirror.requests == []


# interruptions


def test_a_cut_transfer_is_repeated(mirror: Mirror, target: Path, waits: list[float]) -> None:
    mirror.cuts = [400_000, 100]
    download([mirror.url], target)
    assert is_delivered(target)
    assert (len(mirror.requests), waits) == (3, [1, 2])


# several sources


def test_a_server_that_does_not_answer_is_passed_over(second: Mirror, target: Path) -> None:
    with socket.socket() as unanswered:
        unanswered.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        url = f"http://127.0.0.1:{unanswered.getsockname()[1]}/file.bin"
        with raises(DownloadError, "no-delivery", target) as caught:
            download([url], target)
        download([url, second.url], target)
    assert str(caught.value).partition(url)[2].split(". ")[0].endswith("Connection refused")
    assert is_delivered(target)


def test_a_wrong_file_is_not_stored_and_the_next_source_is_asked(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.content = OTHER
    download([mirror.url, second.url], target, Expected(sha256(CONTENT)))
    assert is_delivered(target)
    assert len(mirror.requests) == 1


def test_a_web_page_is_not_taken_for_the_file(mirror: Mirror, second: Mirror, target: Path) -> None:
    """Some servers answer with a page that says the file is gone, or asks for a name, as if that were it."""
    mirror.headers, mirror.content = {"Content-Type": "text/html; charset=utf-8"}, OTHER
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    assert len(mirror.requests) == 1


def test_one_line_says_what_went_wrong_everywhere_and_what_to_do(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.statuses = [404]
    second.statuses = [503] * 3
    with raises(DownloadError, "no-delivery", target) as caught:
        download([mirror.url, second.url], target)
    (line,) = str(caught.value).splitlines()
    first, other = line.index(mirror.url), line.index(second.url)
    assert first < line.index("404 ") < other < line.index("503 ") < line.index("by hand")


# a hub: its cache and its token

PAGE = "https://huggingface.co/datasets/somebody/something"
URL = f"{PAGE}/resolve/main/data/file.bin"


@pytest.fixture
def hub(mirror: Mirror, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Mirror:
    """A stand-in of the hub; the library reads HF_ENDPOINT and its kin when it is imported."""
    mirror.headers = {"ETag": '"one"', "X-Repo-Commit": "0" * 40}
    monkeypatch.setattr(constants, "ENDPOINT", mirror.address)
    files = mirror.address + "/{repo_id}/resolve/{revision}/{filename}"
    monkeypatch.setattr(constants, "HUGGINGFACE_CO_URL_TEMPLATE", files)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None)
    monkeypatch.delenv("HF_TOKEN", raising=False)
    return mirror


def test_a_file_comes_once_and_then_from_the_cache(hub: Mirror, target: Path, tmp_path: Path) -> None:
    download([URL], target, Expected(sha256(CONTENT)))
    assert target.read_bytes() == CONTENT
    assert hub.paths == ["/datasets/somebody/something/resolve/main/data/file.bin"] * 2
    target.unlink()
    download([URL], target)
    assert target.read_bytes() == CONTENT
    assert len(hub.paths) == 3  # the last one asks for the version
    (blob,) = (tmp_path / "cache").rglob("blobs/one")
    assert target.samefile(blob)


def test_a_gated_file_without_a_token_names_the_page_and_the_variable(hub: Mirror, target: Path) -> None:
    hub.headers["X-Error-Code"] = "GatedRepo"
    hub.statuses = [401] * 9
    with raises(DownloadError, "no-delivery", target) as caught:
        download([URL], target)
    (line,) = str(caught.value).splitlines()
    assert "gated" in line and f"{PAGE}," in line and "HF_TOKEN" in line
