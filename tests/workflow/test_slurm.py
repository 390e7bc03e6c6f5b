"""The profile `slurm`, on a Slurm of one node that is started for it."""

import importlib.util
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.conftest import PATIENCE, ROOT, Project, wait_for
from tests.workflow.test_kills import stored

SCRIPT = ROOT / "benchmarks" / "slurm.sh"
SNAKEMAKE = ("snakemake", "runs", "--workflow-profile", "slurm", "--slurm-init-seconds-before-status-checks", "1")


def profile(name: str) -> dict[str, object]:
    settings: dict[str, object] = yaml.safe_load((ROOT / "workflow/profiles" / name / "profile.yaml").read_text())
    return settings


def test_the_profile_has_all_of_the_default_one_but_the_limit_of_one_machine() -> None:
    default, slurm = profile("default"), profile("slurm")
    assert default.pop("resources") == ["gpu=1"]
    assert default.pop("cores") == "all"
    assert default.pop("max-jobs-per-timespan")  # a scheduler's own limit stays
    assert {name: slurm.pop(name) for name in default} == default
    assert all(name in ("executor", "jobs") or name.startswith("slurm-") for name in slurm)


def _lacking() -> str | None:
    """What is not here, and how to have it."""
    path = f"{os.environ['PATH']}:/usr/sbin:/sbin"
    if any(
        subprocess.run(["which", name], env={"PATH": path}, capture_output=True).returncode
        for name in ("slurmctld", "slurmd", "munged")
    ):
        return "Slurm is not installed: `benchmarks/slurm.sh start` installs and starts one on Debian"
    if importlib.util.find_spec("snakemake_executor_plugin_slurm") is None:
        return "Snakemake's plugin for Slurm is not installed: uv pip install -e '.[slurm]'"
    if os.geteuid() != 0:
        return "only root may start a Slurm"
    if subprocess.run(["timeout", "5", "sinfo"], capture_output=True).returncode == 0:
        return "another Slurm is up on this machine: it is left alone"
    return None


@pytest.fixture(scope="session")
def possible() -> None:
    """Skips, before anything is made for it, what needs a Slurm of its own where there can be none."""
    if lacking := _lacking():
        pytest.skip(lacking)


@pytest.fixture
def slurm(possible: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A Slurm of one node."""
    folder = tmp_path / "slurm"
    subprocess.run([SCRIPT, "start", folder, "27817"], check=True)
    monkeypatch.setenv("SLURM_CONF", str(folder / "slurm.conf"))
    try:
        yield
    finally:
        subprocess.run([SCRIPT, "stop", folder], check=True)


def queue(what: str = "%k") -> dict[str, str]:
    """The jobs that wait or run: number -> what is said of it."""
    command = ["squeue", "--noheader", f"--format=%i {what}"]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return dict(line.split(maxsplit=1) for line in listed.splitlines())


@pytest.mark.engines
@pytest.mark.slow  # a minute
@pytest.mark.usefixtures("possible", "slurm")
def test_killed_with_its_jobs_snakemake_gives_the_same_numbers(trained: Project, trained_project: Project) -> None:
    for kind in ("runs", "evaluations"):
        shutil.rmtree(trained.root / "results" / kind)

    # Snakemake is killed: its jobs go on, and those of the next Snakemake wait for the contents that these make
    first = trained.start(*SNAKEMAKE)
    wait_for(lambda: len(queue()) > 1, first)  # else the next Snakemake would have a run to itself
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    left = list(queue())
    second = trained.start(*SNAKEMAKE)

    # those jobs are killed: the next ones resume
    wait_for(lambda: list(trained.root.glob("results/runs/*/scratch/last.ckpt")), second)
    subprocess.run(["scancel", *left], check=True)
    stderr = second.communicate(timeout=PATIENCE)[1]
    assert second.returncode == 0, stderr[-3000:]

    assert stored(trained) == stored(trained_project)
    logs = "".join(path.read_text() for path in trained.root.glob("results/runs/*/log.txt"))
    assert "resuming from the last whole epoch" in logs
