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

from recompose.papers.declaration import PAPERS, artifact_files, load_paper
from recompose.plan import Batch
from recompose.workspace import Workspace
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
    for paper in map(load_paper, PAPERS):
        declared = {file for name, artifact in paper.artifacts.items() for file in artifact_files(name, artifact)}
        assert {path.name for path in (smoke.root / "reports" / paper.name).iterdir()} == declared
    twice = {method: 2 for method in ("chance", "coop", "csp", "gipcol", "c-s-o", "troika")}
    ablated = {"dfsp": 2 + 2, "msci": 2 + 9, "duplex": 2 + 2 * 2 + 10 + 2}
    tested = 6 * 2 + 1  # of duplex, from checkpoints
    ablated["duplex"] += tested
    assert Counter(methods_of(smoke, set(smoke.runs()))) == {"clip": 1, **twice, **ablated}
    assert behind(smoke) == set(smoke.runs())
    checkpoints = list(smoke.root.glob("results/runs/*/checkpoint.safetensors"))
    assert len(checkpoints) == sum(twice.values()) - 2 + sum(ablated.values()) - tested


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


def batches(project: Project, *methods: str) -> list[Batch]:
    """The batches that train these methods."""
    plan = Workspace(project.root).plan
    return [batch for batch in plan.batches if any(run.method in methods for run in batch.runs)]


def forget(project: Project, *methods: str) -> None:
    """Remove the runs of these methods."""
    for run in Workspace(project.root).plan.runs:
        if run.method in methods:
            shutil.rmtree(project.root / "results/runs" / run.folder)


def contents(project: Project) -> dict[str, bytes]:
    """The bytes of every number and weight."""
    names = ("metrics.json", "scores.safetensors", "checkpoint.safetensors", "weights.safetensors", "embeddings.npy")
    return {str(p.relative_to(project.root)): p.read_bytes() for p in project.root.glob("results/*/*/*") if p.name in names}


def test_killed_at_several_moments_it_resumes_to_the_same_bytes(smoke: Project) -> None:
    whole, table, curves = contents(smoke), smoke.table(), smoke.table("msci/figure-curves.csv")
    forget(smoke, "coop", "csp")
    for kind in ("backbones", "features", "receipts"):
        shutil.rmtree(smoke.root / "results" / kind)
    kill_at(smoke, "backbone shapes-clip: epoch 1/2", "backbone", "shapes-clip")
    assert not list(smoke.root.glob("results/backbones/*/record.json"))
    assert list(smoke.root.glob("results/backbones/*/scratch/last.ckpt"))
    said = smoke.recompose("backbone", "shapes-clip").stderr
    assert "resuming from the last whole epoch" in said
    assert "epoch 1/2" not in said
    smoke.recompose("features", "shapes-pairs", "shapes-clip")
    for method in ("coop", "csp"):
        run = next(run for batch in batches(smoke, method) for run in batch.runs if run.method == method)
        kill_at(smoke, f"{run.title}: epoch 1/2", "train", run.folder)
    status = smoke.recompose("status").stdout
    assert "interrupted" in status
    smoke.snakemake()
    assert contents(smoke) == whole
    assert (smoke.table(), smoke.table("msci/figure-curves.csv")) == (table, curves)


def test_two_processes_that_want_the_same_runs_train_each_once(smoke: Project) -> None:
    forget(smoke, "coop", "csp")
    batch = batches(smoke, "csp")[0]
    command = [sys.executable, "-m", "recompose", "train", batch.name]
    both = [
        subprocess.Popen(command, cwd=smoke.root, env=environment(), stderr=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = [process.communicate(timeout=300)[1] for process in both]
    assert [process.returncode for process in both] == [0, 0]
    for run in batch.runs:
        if run.method in ("coop", "csp"):
            assert sum(text.count(f"{run.title}: epoch 1/2") for text in said) == 1
