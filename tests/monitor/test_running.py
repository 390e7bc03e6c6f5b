"""How far a process is, from the file that it keeps of it."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recompose import progress
from recompose.monitor.running import Progress, read_progress

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
WRITTEN: dict[str, Any] = {
    "unit": "epoch",
    "done": 2,
    "total": 5,
    "rate": 0.1,
    "seconds_left": 30.0,
    "at": NOON.isoformat(),
    "metrics": "val_auc 0.2385, loss 5.25",
}


def keep(folder: Path, text: str) -> None:
    (folder / "scratch").mkdir(exist_ok=True)
    (folder / "scratch/progress.json").write_text(text)


@pytest.mark.parametrize(
    ("seconds", "left"),
    [(0, 30.0), (10, 20.0), (30, 0.0), (100, 0.0)],
)
def test_what_is_left_becomes_less_after_it_was_written(tmp_path: Path, seconds: float, left: float) -> None:
    keep(tmp_path, json.dumps(WRITTEN))
    expected = Progress("epoch", 2, 5, 0.1, left, "val_auc 0.2385, loss 5.25")
    assert read_progress(tmp_path, NOON + timedelta(seconds=seconds)) == expected


def test_where_nothing_is_known_of_the_rate_nothing_is_said_of_what_is_left(tmp_path: Path) -> None:
    keep(tmp_path, json.dumps(WRITTEN | {"rate": None, "seconds_left": None, "metrics": ""}))
    assert read_progress(tmp_path, NOON) == Progress("epoch", 2, 5, None, None, "")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "3", "{}", json.dumps(WRITTEN | {"done": "many"}), json.dumps(WRITTEN | {"at": "noon"}), "\x00"],
)
def test_half_a_file_and_nonsense_say_nothing(tmp_path: Path, text: str) -> None:
    assert read_progress(tmp_path) is None
    keep(tmp_path, text)
    assert read_progress(tmp_path) is None


@pytest.mark.parametrize("total", [5, 100_000_000])
def test_what_a_pace_says_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, total: int) -> None:
    clock = [7.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: clock[0])
    (tmp_path / "scratch").mkdir()
    with progress.logged(tmp_path / "log.txt"):
        pace = progress.ProgressLogger("a [b] on c, seed 1", "epoch", total)
        assert read_progress(tmp_path) == Progress("epoch", 0, total, None, None, "")
        clock[0] += 6
        pace.at(3, "loss 1")
    found = read_progress(tmp_path)
    assert found
    assert (found.unit, found.done, found.total, found.metrics) == ("epoch", 3, total, "loss 1")
    assert found.rate == pytest.approx(0.5)
    assert found.seconds_left == pytest.approx(2 * (total - 3), rel=0.01, abs=1)


def test_another_attempt_that_goes_on_says_from_where_at_once(tmp_path: Path) -> None:
    keep(tmp_path, json.dumps(WRITTEN))
    with progress.logged(tmp_path / "log.txt"):
        progress.ProgressLogger("a title", "epoch", 5, done=2)
    assert read_progress(tmp_path) == Progress("epoch", 2, 5, None, None, "")
    with progress.logged(tmp_path / "log.txt"):
        progress.ProgressLogger("a title", "epoch", 5)
    assert read_progress(tmp_path) == Progress("epoch", 0, 5, None, None, "")
