"""Killed at any moment, the same command goes on and ends with what it would have given; elsewhere and at another
time, too.
"""

import os
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Project
from tests.workflow.processes import parent_of, processes_of, stored

pytestmark = pytest.mark.engines
# what is measured in seconds and bytes, and what shows it
OF_COSTS = {
    "reports/smoke/made.json",
    *(
        f"reports/smoke/duplex/{name}.{ending}"
        for name in ("table-10", "claims")
        for ending in ("csv", "md", "tex", "lineage.json")
    ),
}
SHOW_THEM = {f"reports/smoke/{name}" for name in ("README.md", "duplex/README.md", "index.html", "index.json")}
ELSEWHERE = "import socket\n\nsocket.gethostname = lambda: 'elsewhere'\n"


def kill_all(process: "subprocess.Popen[str]") -> None:
    """As a machine that goes down does."""
    for pid, _ in list(processes_of(process.pid)):
        with suppress(ProcessLookupError):  # it ended by itself, or with one that was killed before it
            os.kill(pid, signal.SIGKILL)


def kill_what_makes(process: "subprocess.Popen[str]") -> None:
    """As the system does where memory runs out: Snakemake lives, and so does the server, whose children carry out jobs.
    Where none does at the moment, the next ones are killed.
    """
    until = time.monotonic() + PATIENCE
    while process.poll() is None and not _killed_children(process):
        assert time.monotonic() < until, "no child of the server came"
        time.sleep(0.02)


def kill_what_makes_and_all(process: "subprocess.Popen[str]") -> None:
    """Kill the rest, too: otherwise Snakemake tries the job once more, which resumes."""
    kill_what_makes(process)
    kill_all(process)


def _killed_children(process: "subprocess.Popen[str]") -> int:
    """Kill the server's children and count those that were alive."""
    servers = {pid for pid, command in processes_of(process.pid) if "-m recompose.worker.server" in command}
    killed = 0
    for pid in servers:
        if parent_of(pid) in servers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


def killed_when(project: Project, pattern: str, count: int, kill, process: "subprocess.Popen[str]") -> str:
    """Kill when so many files are there; gives what the engine said."""
    until = time.monotonic() + PATIENCE
    while len(list(project.root.glob(pattern))) < count:
        assert process.poll() is None, f"it ended before {pattern} was there"
        assert time.monotonic() < until, f"{pattern} did not come"
        time.sleep(0.02)
    kill(process)
    said = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode
    return said


def test_a_fresh_clone_elsewhere_that_is_killed_again_and_again_ends_with_the_same_reports(
    trained_project: Project, tmp_path: Path
) -> None:
    clone = trained_project.clone(tmp_path / "clone")
    clone.call("git", "checkout", "--quiet", "HEAD~1")
    assert not (clone.root / "results").exists()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(ELSEWHERE)
    place = {"PYTHONPATH": f"src{os.pathsep}{tmp_path / 'site'}", "TZ": "Asia/Tokyo"}
    said = ""
    for pattern, count, kill in (
        ("results/data/*/scratch", 1, kill_all),
        ("results/backbones/*/scratch/last.ckpt", 1, kill_what_makes_and_all),
        ("results/runs/*/scratch/last.ckpt", 1, kill_all),
        ("results/evaluations/*/scratch", 1, kill_what_makes_and_all),
        ("reports/smoke/*/*.csv", 3, kill_all),
    ):
        said += killed_when(clone, pattern, count, kill, clone.start("snakemake", "--cores", "all", **place))
    last = clone.start("snakemake", "--cores", "all", **place)
    said += last.communicate(timeout=PATIENCE)[1]
    assert last.returncode == 0, said[-3000:]
    assert "LockException" not in said
    assert "Nothing to be done" in clone.snakemake().stderr
    assert stored(clone) == stored(trained_project)
    logs = "".join(path.read_text() for path in clone.root.glob("results/*/*/log.txt"))
    assert logs.count("resuming from the last whole epoch") >= 2
    clone.call("git", "add", "reports")
    differing = clone.call("git", "diff", "--cached", "--name-only", "main", "--", "reports").stdout.split()
    assert "elsewhere" in (clone.published / "made.json").read_text()
    assert "reports/smoke/made.json" in differing
    assert set(differing) <= OF_COSTS | SHOW_THEM


def test_two_processes_that_want_the_same_run_train_it_once(trained: Project) -> None:
    run = next(trained.root.glob("results/runs/*/record.json")).parent
    trained.recompose("store", "discard", f"runs/{run.name}")
    both = [trained.start(sys.executable, "-m", "recompose", "make", f"runs/{run.name}") for _ in range(2)]
    said = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0], said
    assert sum(text.count("epoch 1/2") for text in said) == 1
    assert (run / "record.json").exists()
