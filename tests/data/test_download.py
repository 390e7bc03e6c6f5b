"""Downloads from a real server on the loopback that cuts connections, changes its files and lies."""

import hashlib
import io
import os
import random
import re
import socket
from pathlib import Path

import pytest

from recompose.data import download as module
from recompose.data.download import DownloadError, Expected, download
from tests.data.mirror import CONTENT, Mirror
from tests.errors import raises

OTHER = random.Random(1).randbytes(1_000_003)


def digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def target(tmp_path: Path) -> Path:
    return tmp_path / "data" / "file.bin"


def files_beside(target: Path) -> set[str]:
    return {path.name for path in target.parent.iterdir()}


def is_delivered(target: Path, content: bytes = CONTENT) -> bool:
    return target.read_bytes() == content and files_beside(target) == {target.name}


def interrupted(mirror: Mirror, target: Path, after: int = 400_000) -> None:
    """Leaves the beginning of a download behind, as a call does that ends before its time."""
    mirror.cuts = [after, 0, 0]
    with pytest.raises(DownloadError):
        download([mirror.url], target)
    assert target.with_name("file.bin.part").stat().st_size == after
    mirror.cuts = []
    mirror.requests.clear()


# --- the plain way ----------------------------------------------------------------------------------------------------


def test_a_file_arrives(mirror: Mirror, target: Path) -> None:
    download([mirror.url], target, Expected(digest(CONTENT).upper()))
    assert is_delivered(target)
    assert mirror.ranges == [None]


def test_an_empty_file_arrives(mirror: Mirror, target: Path) -> None:
    mirror.content = b""
    download([mirror.url], target, Expected(digest(b"")))
    assert is_delivered(target, b"")


def test_a_file_of_unsaid_length_arrives(mirror: Mirror, target: Path) -> None:
    mirror.chunked = True
    download([mirror.url], target)
    assert is_delivered(target)


def test_compression_belongs_to_the_file(mirror: Mirror, target: Path) -> None:
    """Some servers send an archive.tar.gz as an archive.tar in the encoding gzip."""
    mirror.headers["Content-Encoding"] = "gzip"
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.requests[0]["Accept-Encoding"] == "identity"


def test_redirects_are_followed(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.location = second.url
    download([mirror.url], target)
    assert is_delivered(target)


# --- a file that is there already -------------------------------------------------------------------------------------


def test_an_existing_file_is_not_fetched_again(mirror: Mirror, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    download([mirror.url], target)
    download([mirror.url], target, Expected(digest(OTHER).upper()))
    assert is_delivered(target, OTHER)
    assert mirror.requests == []


def test_an_existing_file_with_another_digest_is_an_error(mirror: Mirror, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(OTHER)
    with raises(DownloadError, "wrong-file", target) as caught:
        download([mirror.url], target, Expected(digest(CONTENT)))
    assert digest(OTHER) in str(caught.value) and digest(CONTENT) in str(caught.value)
    assert is_delivered(target, OTHER)
    assert mirror.requests == []


def test_an_existing_file_of_another_size_is_told_by_that(mirror: Mirror, target: Path) -> None:
    target.parent.mkdir()
    target.write_bytes(b"<html>no such file</html>")
    with raises(DownloadError, "wrong-file", place=target):
        download([mirror.url], target, Expected(digest(CONTENT), len(CONTENT), "a list"))
    assert mirror.requests == []


# --- interruptions ----------------------------------------------------------------------------------------------------


def test_a_cut_connection_is_continued(mirror: Mirror, target: Path) -> None:
    mirror.cuts = [400_000]
    download([mirror.url], target, Expected(digest(CONTENT)))
    assert is_delivered(target)
    assert mirror.ranges == [None, "bytes=400000-"]
    assert mirror.requests[1]["If-Range"] == '"one"'


def test_a_server_may_cut_often_as_long_as_it_gets_further(mirror: Mirror, target: Path) -> None:
    mirror.cuts = [100_000] * 9
    download([mirror.url], target)
    assert is_delivered(target)
    assert len(mirror.requests) == 10


def test_a_server_may_send_less_than_asked_for(mirror: Mirror, target: Path) -> None:
    mirror.cuts = [400_000]
    mirror.largest_answer = 400_000
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == [None, "bytes=400000-", "bytes=800000-"]


def test_a_server_may_leave_the_total_unsaid(mirror: Mirror, target: Path) -> None:
    mirror.cuts = [400_000]
    mirror.says_total = False
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == [None, "bytes=400000-"]


@pytest.mark.parametrize("shift", [-1, 1])
def test_another_range_than_asked_for_is_not_appended(mirror: Mirror, target: Path, shift: int) -> None:
    interrupted(mirror, target)
    mirror.shifts = [shift]
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == ["bytes=400000-", None]


def test_nothing_is_not_continued(mirror: Mirror, target: Path) -> None:
    interrupted(mirror, target, after=0)
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == [None]


def test_the_next_call_continues(mirror: Mirror, target: Path) -> None:
    interrupted(mirror, target)
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == ["bytes=400000-"]


def test_a_cut_without_a_known_length_is_noticed(mirror: Mirror, target: Path) -> None:
    mirror.chunked = True
    mirror.cuts = [400_000]
    download([mirror.url], target)
    assert is_delivered(target)
    assert len(mirror.requests) == 2


def test_a_server_that_ignores_range_starts_over(mirror: Mirror, target: Path) -> None:
    interrupted(mirror, target)
    mirror.heeds_range = False
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == ["bytes=400000-"]


def test_a_server_that_ignores_range_and_always_cuts_is_given_up(mirror: Mirror, target: Path) -> None:
    mirror.heeds_range = False
    mirror.cuts = [400_000] * 20
    with raises(DownloadError, "no-delivery", place=target):
        download([mirror.url], target)
    assert len(mirror.requests) == 3


@pytest.mark.parametrize("heeds_if_range", [True, False])
def test_a_changed_file_is_not_spliced_onto_old_bytes(mirror: Mirror, target: Path, heeds_if_range: bool) -> None:
    interrupted(mirror, target)
    mirror.content, mirror.headers = OTHER, {"ETag": '"two"'}
    mirror.heeds_if_range = heeds_if_range
    download([mirror.url], target)
    assert is_delivered(target, OTHER)


def test_the_date_tells_versions_apart_where_the_etag_does_not(mirror: Mirror, target: Path) -> None:
    mirror.headers = {"ETag": 'W/"weak"', "Last-Modified": "Sat, 01 Jan 2022 00:00:00 GMT"}
    interrupted(mirror, target)
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.requests[0]["If-Range"] == "Sat, 01 Jan 2022 00:00:00 GMT"


@pytest.mark.parametrize("headers", [{}, {"ETag": 'W/"weak"'}])
def test_without_a_sign_of_the_version_nothing_is_continued(
    mirror: Mirror, target: Path, headers: dict[str, str]
) -> None:
    mirror.headers = headers
    interrupted(mirror, target, after=0)
    mirror.cuts = [400_000]
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == [None, None]


@pytest.mark.parametrize("note", [None, "", "[]", "{}", '{"url": 1}'])
def test_without_a_sound_note_nothing_is_continued(mirror: Mirror, target: Path, note: str | None) -> None:
    interrupted(mirror, target)
    path = target.with_name("file.bin.part.json")
    path.unlink() if note is None else path.write_text(note)
    download([mirror.url], target)
    assert is_delivered(target)
    assert mirror.ranges == [None]


def test_a_part_that_is_whole_already_is_delivered(
    mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: 1 / 0)  # the lights go out after the last byte
        with pytest.raises(ZeroDivisionError):
            download([mirror.url], target)
    assert not target.exists()
    download([mirror.url], target, Expected(digest(CONTENT)))
    assert is_delivered(target)
    assert mirror.ranges == [None, "bytes=1000003-"]


def test_a_part_that_is_longer_than_the_file_starts_over(mirror: Mirror, target: Path) -> None:
    interrupted(mirror, target)
    mirror.content = CONTENT[:300_000]
    download([mirror.url], target)
    assert is_delivered(target, CONTENT[:300_000])
    assert mirror.ranges == ["bytes=400000-", None]


# --- mirrors ----------------------------------------------------------------------------------------------------------


def test_mirrors_are_tried_in_order(mirror: Mirror, second: Mirror, target: Path) -> None:
    download([mirror.url, second.url], target)
    assert (len(mirror.requests), len(second.requests)) == (1, 0)


@pytest.mark.parametrize("status", [403, 404, 410])
def test_a_file_that_a_mirror_lacks_comes_from_the_next(
    mirror: Mirror, second: Mirror, target: Path, status: int
) -> None:
    mirror.statuses = [status] * 9
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    assert len(mirror.requests) == 1


@pytest.mark.parametrize("status", [500, 503, 429])
def test_passing_failures_are_tried_again(mirror: Mirror, second: Mirror, target: Path, status: int) -> None:
    mirror.statuses = [status, status]
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    assert (len(mirror.requests), len(second.requests)) == (3, 0)


def test_the_waits_are_those_of_the_table(mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []
    monkeypatch.setattr(module, "_RETRY_WAITS_S", (1.0, 3.0, 10.0))
    monkeypatch.setattr(module.time, "sleep", waits.append)
    mirror.statuses = [503] * 9
    with raises(DownloadError, "no-delivery", place=target):
        download([mirror.url], target)
    assert waits == [1.0, 3.0, 10.0]
    assert len(mirror.requests) == 4


def test_a_mirror_that_does_not_answer_is_passed_over(second: Mirror, target: Path) -> None:
    with socket.socket() as unanswered:
        unanswered.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused
        download([f"http://127.0.0.1:{unanswered.getsockname()[1]}/file.bin", second.url], target)
    assert is_delivered(target)


@pytest.mark.slow
def test_a_mirror_that_stays_silent_is_asked_again_and_passed_over(
    second: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_TIMEOUT_S", (0.1, 0.1))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        download([f"http://127.0.0.1:{silent.getsockname()[1]}/file.bin", second.url], target)
        silent.settimeout(0.1)
        for _ in range(3):
            silent.accept()[0].close()
        with pytest.raises(TimeoutError):
            silent.accept()
    assert is_delivered(target)


def test_bytes_of_one_mirror_are_not_continued_by_another(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.cuts = [400_000, 0, 0]
    second.content = OTHER  # under the same ETag, which means nothing across servers
    download([mirror.url, second.url], target)
    assert is_delivered(target, OTHER)
    assert second.ranges == [None]


def test_the_mirror_that_began_the_file_continues_it(mirror: Mirror, second: Mirror, target: Path) -> None:
    interrupted(second, target)
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    assert (mirror.ranges, second.ranges) == ([], ["bytes=400000-"])


def test_a_mirror_without_the_file_spares_what_has_arrived(mirror: Mirror, second: Mirror, target: Path) -> None:
    interrupted(mirror, target)
    mirror.statuses = [503] * 3
    second.statuses = [404]
    with pytest.raises(DownloadError):
        download([mirror.url, second.url], target)
    mirror.requests.clear()
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    assert mirror.ranges == ["bytes=400000-"]


def test_a_wrong_file_is_set_aside(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.content = OTHER
    download([mirror.url, second.url], target, Expected(digest(CONTENT)))
    assert target.read_bytes() == CONTENT
    assert target.with_name("file.bin.mismatch").read_bytes() == OTHER
    assert files_beside(target) == {"file.bin", "file.bin.mismatch"}


def test_wrong_files_everywhere_are_an_error(mirror: Mirror, target: Path) -> None:
    mirror.content = OTHER
    with raises(DownloadError, "no-delivery", target) as caught:
        download([mirror.url], target, Expected(digest(CONTENT)))
    for words in (digest(OTHER), digest(CONTENT), "file.bin.mismatch"):
        assert words in str(caught.value)
    assert files_beside(target) == {"file.bin.mismatch"}


def test_a_mirror_that_offers_another_size_is_passed_over_at_once(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.content = b"another file"
    download([mirror.url, second.url], target, Expected(digest(CONTENT), len(CONTENT)))
    assert is_delivered(target)


def test_what_is_offered_and_what_is_expected_is_told(mirror: Mirror, target: Path) -> None:
    mirror.content = b"another file"
    with raises(DownloadError, "no-delivery", target) as caught:
        download([mirror.url], target, Expected(digest(CONTENT), len(CONTENT), "a list"))
    assert all(value in str(caught.value) for value in (mirror.url, " 12 ", "1,000,003", "a list", digest(CONTENT)))
    assert files_beside(target) == set()


def test_a_web_page_is_not_taken_for_the_file(mirror: Mirror, second: Mirror, target: Path) -> None:
    """Some servers answer with a page that says the file is gone, or asks for a name, as if that were it."""
    mirror.content, mirror.headers = b"<html>gone</html>", {"Content-Type": "text/html; charset=utf-8"}
    download([mirror.url, second.url], target)
    assert is_delivered(target)
    second.content, second.headers = mirror.content, mirror.headers
    target.unlink()
    with raises(DownloadError, "no-delivery", place=target):
        download([mirror.url, second.url], target)


def test_one_error_tells_what_went_wrong_everywhere(mirror: Mirror, second: Mirror, target: Path) -> None:
    mirror.statuses = [404]
    second.statuses = [503] * 3
    with raises(DownloadError, "no-delivery", target) as caught:
        download([mirror.url, second.url], target)
    lines = str(caught.value).splitlines()
    assert [line for line in lines if mirror.url in line and "404" in line]
    assert [line for line in lines if second.url in line and "503" in line]


def test_without_mirrors_the_error_says_where_the_file_belongs(target: Path) -> None:
    with raises(DownloadError, "no-delivery", target):
        download([], target)


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/file.bin", "/etc/hostname"])
def test_only_http_is_spoken(mirror: Mirror, target: Path, url: str) -> None:
    with raises(DownloadError, "no-delivery", place=target):
        download([url], target)
    mirror.location = url if ":" in url else f"file://{url}"
    with raises(DownloadError, "no-delivery", place=target):
        download([mirror.url], target)
    assert files_beside(target) == set()
    assert len(mirror.requests) == 1


def test_a_full_disk_is_not_blamed_on_the_mirror(mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError) as caught:
        download([mirror.url], target)
    assert caught.value.errno == 28
    assert len(mirror.requests) == 1


# --- progress ---------------------------------------------------------------------------------------------------------


def test_lines_tell_of_the_progress(
    mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module, "_LINE_EVERY_S", 0.0)
    download([mirror.url], target)
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(r"file\.bin: 1\.0 MB of 1\.0 MB, .+/s, 0 s left", err.splitlines()[-1])


def test_lines_are_rare(mirror: Mirror, target: Path, capsys: pytest.CaptureFixture[str]) -> None:
    download([mirror.url], target)
    assert capsys.readouterr() == ("", "")


def test_lines_do_without_a_total(
    mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mirror.chunked = True
    monkeypatch.setattr(module, "_LINE_EVERY_S", 0.0)
    download([mirror.url], target)
    assert re.fullmatch(r"file\.bin: 1\.0 MB, .+/s", capsys.readouterr().err.splitlines()[-1])


def test_a_terminal_gets_a_bar(mirror: Mirror, target: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setattr("sys.stderr", terminal)
    download([mirror.url], target.with_name("[bold]file.bin"))
    assert "[bold]file.bin" in terminal.getvalue()
    assert "1.0/1.0 MB" in terminal.getvalue()
