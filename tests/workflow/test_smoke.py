"""The whole workflow at its smallest: trained methods, both engines, edits, and kills."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.conftest import Project, environment, new_project

pytestmark = pytest.mark.xdist_group("smoke")


@pytest.fixture(scope="module")
def smoke_project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """A fresh clone, carried out by Snakemake."""
    origin = new_project(tmp_path_factory.mktemp("origin") / "project")
    origin.commit("The project")
    clone = origin.clone(tmp_path_factory.mktemp("smoke") / "project")
    clone.snakemake()
    return clone


@pytest.fixture
def smoke(smoke_project: Project, tmp_path: Path) -> Project:
    return smoke_project.copy(tmp_path / "project")


def methods_of(project: Project, names: set[str]) -> list[str]:
    records = [json.loads((project.root / "results/runs" / name / "run.json").read_text()) for name in names]
    return sorted(record["recipe"]["method"] for record in records)


def behind(project: Project) -> set[str]:
    """The runs behind the cells of all artifacts."""
    lineages = [json.loads(path.read_text()) for path in project.root.glob("reports/*/*.lineage.json")]
    keys = {key for lineage in lineages for cell in lineage["cells"] for key in cell["made_from"]}
    return {key.removeprefix("runs/") for key in keys if key.startswith("runs/")}


def edit_setting(project: Project, method: str, old: str, new: str) -> None:
    """Edit a general setting of one method in params.yaml."""
    path = project.root / "params.yaml"
    head, section = re.split(rf"(?<=\n  {method}:\n)", path.read_text(), maxsplit=1)
    assert old in section
    path.write_text(head + section.replace(old, new, 1))


def test_every_artifact_is_there_and_every_cell_has_its_runs(smoke: Project) -> None:
    names = {path.name for path in (smoke.root / "reports/msci").iterdir()}
    for table in ("table-1", "table-2", "table-3", "table-4"):
        assert {f"{table}.{ending}" for ending in ("csv", "md", "tex", "lineage.json")} <= names
    for figure in ("figure-4", "figure-curves"):
        assert {f"{figure}.{ending}" for ending in ("svg", "png", "csv", "lineage.json")} <= names
    trained = {method: 2 for method in ("chance", "coop", "csp", "c-s-o", "troika")}
    assert Counter(methods_of(smoke, set(smoke.runs()))) == {"clip": 1, "msci": 2 + 8, **trained}
    assert behind(smoke) == set(smoke.runs())


def test_an_edit_of_a_method_trains_its_runs_and_no_others_through_either_engine(smoke: Project) -> None:
    before, table = set(smoke.runs()), smoke.table()
    smoke.call("dvc", "repro")
    assert set(smoke.runs()) == before
    edit_setting(smoke, "csp", "lr: 5e-3", "lr: 6e-3")
    smoke.snakemake()
    csp = set(smoke.runs()) - before
    assert methods_of(smoke, csp) == ["csp", "csp"]
    assert csp <= behind(smoke)
    edit_setting(smoke, "coop", "lr: 5e-3", "lr: 6e-3")
    smoke.call("dvc", "repro")
    coop = set(smoke.runs()) - before - csp
    assert methods_of(smoke, coop) == ["coop", "coop"]
    assert csp | coop <= behind(smoke)
    count = len(smoke.runs())
    edit_setting(smoke, "coop", "lr: 6e-3", "lr: 5e-3")
    edit_setting(smoke, "csp", "lr: 6e-3", "lr: 5e-3")
    smoke.call("dvc", "repro")
    assert len(smoke.runs()) == count
    assert behind(smoke) == before
    assert smoke.table() == table


def kill_at(project: Project, message: str, *command: str) -> None:
    """Run a command until it says something, then kill it as ``kill -9`` does."""
    process = subprocess.Popen(
        [sys.executable, "-m", "recompose", *command], cwd=project.root, env=environment(), stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    for line in process.stderr:
        if message in line:
            os.kill(process.pid, signal.SIGKILL)
            break
    assert process.wait() == -signal.SIGKILL, f"it ended before it said '{message}'"


def contents(project: Project) -> dict[str, bytes]:
    """The bytes of every number and weight."""
    names = ("metrics.json", "scores.safetensors", "checkpoint.safetensors", "weights.safetensors", "embeddings.npy")
    return {str(p.relative_to(project.root)): p.read_bytes() for p in project.root.glob("results/*/*/*") if p.name in names}


def test_killed_at_several_moments_it_resumes_to_the_same_bytes(smoke: Project) -> None:
    whole, table, curves = contents(smoke), smoke.table(), smoke.table("msci/figure-curves.csv")
    for kind in ("runs", "backbones", "features", "receipts"):
        shutil.rmtree(smoke.root / "results" / kind)
    kill_at(smoke, "backbone shapes-clip: epoch 1/2", "backbone")
    assert not list(smoke.root.glob("results/backbones/*/record.json"))
    assert list(smoke.root.glob("results/backbones/*/scratch/last.ckpt"))
    said = smoke.recompose("backbone").stderr
    assert "resuming from the last whole epoch" in said
    assert "epoch 1/2" not in said
    smoke.recompose("features", "shapes-pairs")
    batch = next(line.split()[2].rstrip(":") for line in smoke.recompose("plan").stdout.splitlines() if " csp" in line)
    kill_at(smoke, "coop on shapes-pairs, seed 0: epoch 1/2", "train", batch)
    kill_at(smoke, "csp on shapes-pairs, seed 1: epoch 1/2", "train", batch)
    status = smoke.recompose("status").stdout
    assert "interrupted" in status
    smoke.snakemake()
    assert contents(smoke) == whole
    assert (smoke.table(), smoke.table("msci/figure-curves.csv")) == (table, curves)


def test_two_processes_that_want_the_same_runs_train_each_once(smoke: Project) -> None:
    shutil.rmtree(smoke.root / "results/runs")
    batch = next(line.split()[2].rstrip(":") for line in smoke.recompose("plan").stdout.splitlines() if " csp" in line)
    command = [sys.executable, "-m", "recompose", "train", batch]
    both = [
        subprocess.Popen(command, cwd=smoke.root, env=environment(), stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    for run in ("coop on shapes-pairs, seed 0", "csp on shapes-pairs, seed 1"):
        assert sum(text.count(f"{run}: epoch 1/2") for text in said) == 1
