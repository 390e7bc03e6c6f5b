"""Interrupted, a workflow says one sentence and leaves no process behind, and the same command goes on."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest

from recompose.interrupts import INTERRUPTED, SENTENCE
from recompose.workspace import Workspace
from tests.conftest import PATIENCE, Project, wait_for
from tests.workflow.processes import processes_of, stored

pytestmark = pytest.mark.engines
TABLE = "reports/smoke/msci/table-2.csv"  # making more tables would show nothing else
SNAKEMAKE = ("snakemake", "--cores", "all", TABLE)

Interrupt = Callable[[int], None]


def group(pid: int) -> None:
    """Interrupt all processes at once, as a terminal does."""
    os.killpg(pid, signal.SIGINT)


def alone(pid: int) -> None:
    """Interrupt the command that was called, and none of those that it started."""
    os.kill(pid, signal.SIGINT)


@contextmanager
def a_job_that_waits(project: Project) -> Iterator[str]:
    """Be at an evaluation of the table's last method, so that the job that wants it waits until this ends or the job
    does; gives its key. No other evaluation has to be made.
    """
    work = Workspace(project.root)
    evaluation = [each for each in work.plan.of("evaluations") if each.labels["name"] == each.labels["method"]][-1]
    work.store.discard(evaluation.key)
    shutil.rmtree(project.root / "results/logs")
    with suppress(KeyboardInterrupt), work.store.build(evaluation):
        yield evaluation.key
        raise KeyboardInterrupt  # the evaluation is left to be made


def until_a_job_waits(project: Project, process: "subprocess.Popen[str]") -> None:
    logs = project.root / "results/logs"
    wait_for(lambda: any("waiting" in path.read_text() for path in logs.glob("*/*.log")), process)


@pytest.mark.parametrize("interrupt", [group, alone])
def test_server_and_children_end_with_the_workflow(
    interrupt: Interrupt, trained: Project, trained_project: Project
) -> None:
    with a_job_that_waits(trained):
        process = trained.start(*SNAKEMAKE)
        until_a_job_waits(trained, process)
        assert any("-m recompose.workflow.worker.server" in command for _, command in processes_of(process.pid))
        interrupt(process.pid)
        output = process.communicate(timeout=PATIENCE)[1]
        left = list(processes_of(process.pid))
    assert process.returncode == INTERRUPTED
    assert output.count(SENTENCE) == 1 and left == []
    assert "Traceback" not in output and "Error" not in output
    trained.call(*SNAKEMAKE)
    assert stored(trained) == stored(trained_project)


def test_a_job_that_is_interrupted_ends_without_a_trace(chance: Project) -> None:
    with a_job_that_waits(chance) as evaluation:
        process = chance.start(sys.executable, "-m", "recompose", "make", evaluation)
        assert process.stderr
        assert any("waiting" in line for line in process.stderr)
        group(process.pid)
        output = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == -signal.SIGINT and output == ""


def test_what_is_started_to_ignore_interrupts_goes_on_through_them(chance: Project) -> None:
    with a_job_that_waits(chance):
        process = chance.start("sh", "-c", f'trap "" INT; exec {" ".join(SNAKEMAKE)}')
        until_a_job_waits(chance, process)
        group(process.pid)
    output = process.communicate(timeout=PATIENCE)[1]
    assert process.returncode == 0, output[-3000:]
