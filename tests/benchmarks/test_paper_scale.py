"""The profile ``paper`` on stand-ins, carried out."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.stand_ins.measuring import TOO_LONG, taken
from benchmarks.stand_ins.project import ROOT
from benchmarks.stand_ins.steps import Step, Steps
from tests.conftest import PATIENCE

REAL = os.environ.get("RECOMPOSE_REAL_DATA", "")
needs_real = pytest.mark.skipif(not REAL, reason="RECOMPOSE_REAL_DATA names no folder of real annotation files")


def test_a_step_that_is_made_again_takes_its_own_place(tmp_path: Path) -> None:
    path = tmp_path / "steps.json"
    steps = Steps(path)
    steps.add(Step("cub", "runs", "crest", 64, 10.0, 0, 2**30, code=1))
    steps.add(Step("cub", "evaluations", "crest", 1234, 20.0, 2**20, 2**31, making=15.04, attempts=2))
    assert [step.of for step in steps.failed] == ["crest"] and "crest (ended with 1)" in steps.table
    steps = Steps(path)
    steps.add(Step("cub", "runs", "crest", 64, 12.0, 3 * 2**19, 2**30))
    assert not steps.failed
    assert steps.table.splitlines()[2:] == [
        "| cub | runs | crest | 64 | 12.0 |  | 1.5 | 1,024 |  |",
        "| cub | evaluations | crest (2 attempts) | 1,234 | 20.0 | 15.0 | 1.0 | 2,048 |  |",
    ]


@pytest.mark.slow
def test_a_command_that_takes_too_long_is_ended(tmp_path: Path) -> None:
    sleeps = [sys.executable, "-c", "import time; time.sleep(60)"]
    assert taken(sleeps, tmp_path, {}, tmp_path / "log", longest=0.5).code == TOO_LONG


@needs_real
@pytest.mark.slow
def test_ut_zappos_goes_from_archives_to_a_clean_audit_and_on_where_it_was_ended(tmp_path: Path) -> None:
    options = "--share 0.01 --datasets ut-zappos --methods chance --batches 1"
    command = [sys.executable, "-m", "benchmarks.paper_scale", "--folder", str(tmp_path), *options.split()]
    begun = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    results = tmp_path / "project" / "results"
    ends = time.monotonic() + PATIENCE
    while not list(results.glob("data/*/record.json")):
        assert begun.poll() is None and time.monotonic() < ends
        time.sleep(0.05)
    begun.send_signal(signal.SIGTERM)
    begun.communicate(timeout=PATIENCE)
    assert begun.returncode == 128 + signal.SIGTERM
    made = {path: path.stat().st_mtime_ns for path in results.glob("data/*/record.json")}

    whole = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert {path: path.stat().st_mtime_ns for path in made} == made
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in whole.stdout.splitlines()[4:]]
    steps = {(row[1], row[0], row[2]) for row in rows}
    assert steps >= {
        ("stand-ins", "czsl", ""),
        ("evaluations", "ut-zappos", "chance"),
        ("artifacts", "msci", ""),
        ("report", "", ""),
        ("audit", "", ""),
    }
    assert "clean: everything in the reports follows from its runs" in (
        tmp_path / "logs" / "audit" / "audit.log"
    ).read_text(encoding="utf-8")
