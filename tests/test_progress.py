"""What a long job says: lines on a pipe, a bar on a terminal."""

import pytest

from recompose import progress
from recompose.progress import bar


def test_steps_come_out_as_they_are_and_short_work_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert list(bar(["a", "b", "c"], "title", "steps")) == ["a", "b", "c"]
    assert capsys.readouterr().err == ""


def test_long_work_says_how_far_it_is_but_not_that_it_is_done(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SAY_EVERY", -1.0)
    assert list(bar([1, 2, 3], "open world", "blocks of pairs")) == [1, 2, 3]
    lines = capsys.readouterr().err.splitlines()
    assert ["open world: 1/3" in lines[0], "open world: 2/3" in lines[1]] == [True, True]
    assert len(lines) == 2
    assert all("left (blocks of pairs)" in line for line in lines)


def test_on_a_terminal_there_is_a_bar(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert list(bar([1, 2], "open world", "blocks of pairs")) == [1, 2]
