"""Processes side by side take different GPUs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recompose.training import devices
from recompose.training.devices import VISIBLE, own_devices

HELD = """
import sys
from pathlib import Path
from recompose.training.devices import own_devices
with own_devices(Path(sys.argv[1]), 1) as own:
    print(own[0], flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """How long a process would have waited; the second wait is an error."""
    slept: list[float] = []

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        if len(slept) > 1:
            raise TimeoutError

    monkeypatch.setattr(devices.time, "sleep", sleep)
    return slept


def test_each_takes_its_own_and_returns_it(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, waits: list[float]) -> None:
    monkeypatch.setenv(VISIBLE, "2, 5,GPU-8")
    with own_devices(tmp_path, 1) as first:
        assert (first, os.environ[VISIBLE]) == (["2"], "2")
        os.environ[VISIBLE] = "2,5,GPU-8"  # as another process has it
        with own_devices(tmp_path, 2) as others:
            assert (others, os.environ[VISIBLE]) == (["5", "GPU-8"], "5,GPU-8")
        with own_devices(tmp_path, 1) as another:
            assert another == ["5"]
            os.environ[VISIBLE] = "2,5,GPU-8"
            with pytest.raises(TimeoutError), own_devices(tmp_path, 2):
                pass
    assert os.environ[VISIBLE] == "2, 5,GPU-8"
    assert len(waits) == 2
    with own_devices(tmp_path, 2) as own:  # what the one that gave up had taken is free, too
        assert own == ["2", "5"]


def test_a_killed_process_gives_its_own_back(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, waits: list[float]
) -> None:
    monkeypatch.setenv(VISIBLE, "0,1")
    with subprocess.Popen(
        [sys.executable, "-c", HELD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == "0\n"
        with own_devices(tmp_path, 1) as own:
            assert own == ["1"]
        other.kill()
    with own_devices(tmp_path, 1) as own:
        assert own == ["0"]
    assert not waits


@pytest.mark.parametrize("given", ["", "7", "7,8"])
def test_a_process_keeps_what_it_needs_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, given: str) -> None:
    """As a job of a scheduler does, whose GPUs may go by the name of another's."""
    monkeypatch.setenv(VISIBLE, given)
    with own_devices(tmp_path, 2), own_devices(tmp_path, 2):
        assert os.environ[VISIBLE] == given
    assert not list(tmp_path.iterdir())
