"""Killed at any moment, the same command goes on and ends with what it would have given; elsewhere and at another
time, too.
"""

import os
import signal
import subprocess
from contextlib import suppress
from pathlib import Path

import pytest

from tests.conftest import PATIENCE, Project, wait_for
from tests.workflow.processes import parent_of, processes_of, stored

pytestmark = pytest.mark.engines
# what is measured in seconds and bytes, and what shows it
OF_COSTS = {
    "reports/smoke/made.json",
    *(f"reports/smoke/duplex/{name}.{ending}" for name in ("table-10", "claims") for ending in ("csv", "md", "tex")),
}
SHOW_THEM = {f"reports/smoke/{name}" for name in ("README.md", "duplex/README.md", "index.html", "provenance.json")}
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
    wait_for(lambda: process.poll() is not None or _killed_children(process))


def kill_what_makes_and_all(process: "subprocess.Popen[str]") -> None:
    """Kill the rest, too: otherwise Snakemake tries the job once more, which resumes."""
    kill_what_makes(process)
    kill_all(process)


def _killed_children(process: "subprocess.Popen[str]") -> int:
    """Kill the server's children and count those that were alive."""
    servers = {pid for pid, command in processes_of(process.pid) if "-m recompose.workflow.worker.server" in command}
    killed = 0
    for pid in servers:
        if parent_of(pid) in servers:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
                killed += 1
    return killed


def killed_when(project: Project, pattern: str, count: int, kill, process: "subprocess.Popen[str]") -> str:
    """Kill when so many files are there; gives what the engine said."""
    wait_for(lambda: len(list(project.root.glob(pattern))) >= count, process)
    kill(process)
    output = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode
    return output


def test_a_clone_elsewhere_that_is_killed_often_gives_the_same_reports(
    trained_project: Project, tmp_path: Path
) -> None:
    clone = trained_project.clone(tmp_path / "clone")
    clone.call("git", "checkout", "--quiet", "HEAD~1")
    assert not (clone.root / "results").exists()
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(ELSEWHERE)
    place = {"PYTHONPATH": f"src{os.pathsep}{tmp_path / 'site'}", "TZ": "Asia/Tokyo"}
    output = ""
    for pattern, count, kill in (
        ("results/data/*/scratch", 1, kill_all),
        ("results/backbones/*/scratch/last.ckpt", 1, kill_what_makes_and_all),
        ("results/runs/*/scratch/last.ckpt", 1, kill_all),
        ("results/evaluations/*/scratch", 1, kill_what_makes_and_all),
        ("reports/smoke/*/*.csv", 3, kill_all),
    ):
        output += killed_when(clone, pattern, count, kill, clone.start("snakemake", "--cores", "all", **place))
    last = clone.start("snakemake", "--cores", "all", **place)
    output += last.communicate(timeout=PATIENCE)[1]
    assert last.returncode == 0, output[-3000:]
    assert "LockException" not in output
    assert "Nothing to be done" in clone.snakemake().stderr
    assert stored(clone) == stored(trained_project)
    logs = "".join(path.read_text() for path in clone.root.glob("results/*/*/log.txt"))
    assert logs.count("resuming from the last whole epoch") >= 2
    clone.call("git", "add", "reports")
    differing = clone.call("git", "diff", "--cached", "--name-only", "main", "--", "reports").stdout.split()
    assert "elsewhere" in (clone.published / "made.json").read_text()
    assert "reports/smoke/made.json" in differing
    assert set(differing) <= OF_COSTS | SHOW_THEM
