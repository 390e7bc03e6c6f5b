"""The cores that a process may use."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from recompose import cores

ASK = "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); from recompose.cores import usable_cores; "


def test_a_process_that_is_kept_to_one_core_has_one() -> None:
    asked = subprocess.run([sys.executable, "-c", ASK + "print(usable_cores())"], capture_output=True, check=True)
    assert asked.stdout.split() == [b"1"]


@pytest.mark.parametrize(
    ("limit", "expected"),
    [
        ("max 100000\n", 64),
        ("200000 100000\n", 2),
        ("150000 100000\n", 2),
        ("1000 100000\n", 1),
        ("9900000 100000\n", 64),  # more than the scheduler gave
        ("", 64),
        (None, 64),  # no container
    ],
)
def test_a_container_has_as_many_as_its_time_is_worth(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str | None, expected: int
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(64)))
    monkeypatch.setattr(os, "cpu_count", lambda: 256)
    monkeypatch.setattr(cores, "LIMIT", tmp_path / "cpu.max")
    if limit is not None:
        cores.LIMIT.write_text(limit)
    assert cores.usable_cores() == expected
