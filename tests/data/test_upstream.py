"""Published files: trusted at their first use, and held to what they were then, whoever downloaded them."""

import hashlib
import json
from pathlib import Path

import pytest

from recompose.data.archives import extract
from recompose.data.upstream import LOCK, MIRROR, Content, record, verified_download
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
