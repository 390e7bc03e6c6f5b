"""Raw data and weights: there, reachable, absent, or another file than is expected."""

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from recompose.data.download import Expected
from recompose.data.lock import Content, record
from recompose.monitor.doctor.check import FINE, STOPS, WARNING
from recompose.monitor.doctor.inputs import (
    ABSENT,
    NO_FOLDER,
    OFFERED,
    THERE,
    WRONG,
    InputSource,
    UpstreamFile,
    check_checksums,
    check_sources,
    input_sources,
    query_mirrors,
)
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.data.mirror import Mirror

pytestmark = pytest.mark.slow

NOWHERE = "http://127.0.0.1:9/file.bin"  # the port that discards: nobody listens


@pytest.fixture
def mirror() -> Iterator[Mirror]:
    server = Mirror()
    server.content = b"an archive"
    yield server
    server.close()


def test_a_mirror_is_asked_and_nothing_is_fetched(mirror: Mirror) -> None:
    assert query_mirrors("archives/x.zip", [NOWHERE, mirror.url], None).state == OFFERED
    assert query_mirrors("archives/x.zip", [mirror.url], None).bytes == 10
    assert query_mirrors("archives/x.zip", [NOWHERE], None).state == ABSENT
    assert query_mirrors("archives/x.zip", [], None).why == "params.yaml has no address for it"
    other = query_mirrors("archives/x.zip", [mirror.url], Expected("0" * 64, 7, "archives.lock"))
    assert (other.state, other.why) == (ABSENT, "the server offers 10 bytes, where archives.lock expects 7")
    mirror.statuses = [404]
    assert query_mirrors("archives/x.zip", [mirror.url], None).why == "the server answers 404 Not Found"
    mirror.headers = {"Content-Type": "text/html; charset=utf-8"}
    assert (
        query_mirrors("archives/x.zip", [mirror.url], None).why
        == "the server answers with a web page in place of the file"
    )


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with the profile of the papers' data, whose publishers all are one server that has nothing."""
    write_params(tmp_path, "paper")
    monkeypatch.delenv("RECOMPOSE_MIRROR", raising=False)
    monkeypatch.setattr("recompose.monitor.doctor.inputs.mirrors", lambda place, urls: [NOWHERE])
    return Workspace(tmp_path)


def states(work: Workspace) -> dict[str, list[str]]:
    return {source.name: [source.state, *(file.state for file in source.files)] for source in input_sources(work)}


def test_data_sets_and_weights_of_a_profile_are_found_where_they_lie(work: Workspace) -> None:
    before = states(work)
    assert before["mit-states"] == [NO_FOLDER, ABSENT, ABSENT]
    assert before["glove"] == [NO_FOLDER, ABSENT]
    assert len(before["cub"]) == 4  # images, splits and vectors of words
    assert before["aro"] == [NO_FOLDER]
    assert before["clip-vit-l-14"] == [NO_FOLDER, ABSENT]
    archives = work.data / "archives"
    archives.mkdir(parents=True)
    for name in ("ut-zap50k-images.zip", "compositional_split_natural.tar.gz"):
        (archives / name).write_bytes(b"an archive")
    (work.data / "mit-states").mkdir()
    (work.data / "vlc" / "aro").mkdir(parents=True)
    after = states(work)
    assert after["mit-states"] == [THERE]
    assert after["ut-zappos"] == [NO_FOLDER, THERE, THERE]
    assert after["aro"] == [THERE]
    assert after["crepe"] == [NO_FOLDER]


def file_of(found: list[InputSource], place: str) -> UpstreamFile:
    return next(file for source in found for file in source.files if file.place == place)


def test_another_file_than_was_recorded_stops_and_is_named(work: Workspace) -> None:
    path = work.data / "archives" / "ut-zap50k-images.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"an archive")
    place = "archives/ut-zap50k-images.zip"
    record(work.data, place, Content(bytes=10, sha256=sha256(b"an archive").hexdigest()))
    file = file_of(input_sources(work), place)
    assert (file.state, file.bytes) == (THERE, 10)
    assert check_checksums(input_sources(work), work) is not None
    path.write_bytes(b"another")
    found = input_sources(work)
    file = file_of(found, place)
    assert (file.state, file.why) == (WRONG, "7 bytes, where archives.lock expects 10")
    zappos = next(check for check in check_sources(found, work) if check.subject == "ut-zappos")
    assert zappos.state == STOPS
    assert f"data/{place} has 7 bytes" in zappos.remedy


def test_what_is_put_there_by_hand_is_one_line(work: Workspace) -> None:
    lines = list(check_sources(input_sources(work), work))
    (by_hand,) = [check for check in lines if check.subject.endswith("data sets")]
    assert by_hand.state == STOPS
    assert "aro, crepe" in by_hand.finding
    assert "data/vlc/aro" in by_hand.remedy
    assert next(check for check in lines if check.subject == "mit-states").state == STOPS
    assert check_checksums(input_sources(work), work) is None


def test_what_is_not_recorded_yet_is_said(work: Workspace) -> None:
    (work.data / "archives").mkdir(parents=True)
    (work.data / "archives" / "cgqa.zip").write_bytes(b"an archive")
    check = check_checksums(input_sources(work), work)
    assert check is not None
    assert (check.state, check.finding) == (WARNING, "1 of 1 are not in archives.lock yet")
    content = Content(bytes=10, sha256=sha256(b"an archive").hexdigest())
    record(work.data, "archives/cgqa.zip", content)
    assert check_checksums(input_sources(work), work) == type(check)("checksums", FINE, "all 1 match archives.lock")
