"""The profile `slurm`, on a Slurm of one node that is started for it."""

import importlib.util
import os
import signal
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import ROOT, Project, with_methods
from tests.workflow.test_kills import stored

SCRIPT = ROOT / "benchmarks" / "slurm.sh"
PATIENCE = 400  # seconds until a moment has to come
SNAKEMAKE = ("snakemake", "--workflow-profile", "slurm")


def profile(name: str) -> dict[str, object]:
    settings: dict[str, object] = yaml.safe_load((ROOT / "workflow/profiles" / name / "profile.yaml").read_text())
    return settings


def test_the_profile_has_all_of_the_default_one_but_the_limit_of_one_machine() -> None:
    default, slurm = profile("default"), profile("slurm")
    assert default.pop("resources") == ["gpu=1"]
    assert {name: slurm.pop(name) for name in default} == default
    assert all(name in ("executor", "jobs", "retries") or name.startswith("slurm-") for name in slurm)


def _lacking() -> str | None:
    """What is not here, and how to have it."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if any(
        subprocess.run(["which", name], env={"PATH": path}, capture_output=True).returncode
        for name in ("slurmctld", "slurmd", "munged")
    ):
        return "Slurm is not installed: `benchmarks/slurm.sh start` installs and starts one on Debian"
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "Snakemake's plugin for Slurm is not installed: pip install -e '.[slurm]'"
    return None


@pytest.fixture
def slurm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Slurm of one node."""
    if lacking := _lacking():
        pytest.skip(lacking)
    folder = tmp_path / "slurm"
    subprocess.run([SCRIPT, "start", folder, "27817"], check=True)
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    try:
        yield
    finally:
        subprocess.run([SCRIPT, "stop", folder], check=True)


def queue() -> dict[str, str]:
    """The jobs that wait or run: id -> what is said of it."""
    listed = subprocess.run(
        ["squeue", "--noheader", "--format=%i %k"], capture_output=True, text=True, check=True
    ).stdout
    return dict(line.split(maxsplit=1) for line in listed.splitlines())


def until(happens: Callable[[], object], process: "subprocess.Popen[str]") -> None:
    end = time.monotonic() + PATIENCE
    while not happens():
        assert process.poll() is None, process.communicate()[1][-3000:]
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.1)


@pytest.mark.engines
@pytest.mark.slow
@pytest.mark.usefixtures("slurm")
def test_jobs_that_are_killed_and_a_workflow_that_is_give_the_same_numbers(
    trained_project: Project, tmp_path: Path
) -> None:
    project = with_methods(tmp_path / "project", "chance", "c-s-o")

    # Snakemake is killed: its job goes on, and the next Snakemake's waits for it
    first = project.start(*SNAKEMAKE)
    until(lambda: list(project.root.glob("results/backbones/*/scratch")), first)
    assert any("make_backbones" in said and "shapes-clip" in said for said in queue().values())
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    assert queue()

    # a job is killed: it is tried again, and resumes
    second = project.start(*SNAKEMAKE)
    until(lambda: list(project.root.glob("results/runs/*/scratch/last.ckpt")), second)
    training = [job for job, said in queue().items() if "make_runs" in said and "c-s-o" in said]
    subprocess.run(["scancel", *training], check=True)
    said = second.communicate(timeout=PATIENCE)[1]
    assert second.returncode == 0, said[-3000:]

    assert "Nothing to be done" in project.snakemake().stderr
    assert stored(project) == stored(trained_project)
    logs = "".join(path.read_text() for path in project.root.glob("results/runs/*/log.txt"))
    assert "resuming from the last whole epoch" in logs
    names = [path.name for path in project.root.glob("results/logs/runs/*.log")]
    assert any("c-s-o-on-shapes-pairs-seed-0" in name for name in names)
