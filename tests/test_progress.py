"""What a long job says: lines on a pipe, a bar on a terminal."""

import json
from contextvars import ContextVar
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from recompose import progress
from recompose.progress import Progress, ProgressLogger, logged, read_progress, say
from tests.configuration import PROGRESS

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WRITTEN = PROGRESS | {"at": NOON.isoformat()}


def test_what_is_said_goes_to_the_log_in_force_and_details_only_there_where_it_is_quiet(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_QUIET", ContextVar("quiet", default=False))
    progress.be_quiet()
    with logged(tmp_path / "log.txt"):
        say("a headline")
        say("a detail", detail=True)
    say("after it")
    lines = [line[10:] for line in (tmp_path / "log.txt").read_text().splitlines()]
    assert lines == ["a headline", "a detail"]
    assert [line[10:] for line in capsys.readouterr().err.splitlines()] == ["a headline", "after it"]


def test_how_far_it_is_stands_in_a_file_beside_the_log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    (tmp_path / "scratch").mkdir()

    def document_now() -> dict[str, object]:
        document: dict[str, object] = json.loads((tmp_path / "scratch/progress.json").read_text())
        age = datetime.now(UTC) - datetime.fromisoformat(str(document.pop("at")))
        assert 0 <= age.total_seconds() < 60
        return document

    with logged(tmp_path / "log.txt"):
        pace = ProgressLogger("a title", "epoch", 10, done=2)  # resumed
        unknown = {"total": 10, "rate": None, "seconds_left": None, "metrics": ""}
        assert document_now() == PROGRESS | unknown
        clock[0] += 8
        pace.at(6, "loss 1")
    known = {"done": 6, "rate": pytest.approx(0.5), "seconds_left": pytest.approx(8), "metrics": "loss 1"}
    assert document_now() == PROGRESS | unknown | known
    assert "a title: epoch 6/10, 0.5/s, 0:00:08 left, loss 1" in (tmp_path / "log.txt").read_text()


def keep(folder: Path, text: str) -> None:
    (folder / "scratch").mkdir(exist_ok=True)
    (folder / "scratch/progress.json").write_text(text)


@pytest.mark.parametrize(("seconds", "left"), [(0, 30.0), (10, 20.0), (100, 0.0)])
def test_what_is_left_becomes_less_after_it_was_written(tmp_path: Path, seconds: float, left: float) -> None:
    keep(tmp_path, json.dumps(WRITTEN))
    expected = Progress.model_validate(WRITTEN | {"seconds_left": left})
    assert read_progress(tmp_path, NOON + timedelta(seconds=seconds)) == expected


@pytest.mark.parametrize("text", ["{", "[]", json.dumps(WRITTEN | {"done": "many"})])
def test_half_a_file_and_nonsense_say_nothing(tmp_path: Path, text: str) -> None:
    assert read_progress(tmp_path) is None
    keep(tmp_path, text)
    assert read_progress(tmp_path) is None
