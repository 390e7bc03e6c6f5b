"""DVC over a stand-in for Snakemake: what experiments change, keep, find and show."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests.conftest import PATIENCE, ROOT, environment

pytestmark = [pytest.mark.engines, pytest.mark.slow]

SNAKEMAKE = """#!/usr/bin/env python3
import hashlib, json, pathlib, sys
phases = {"data": ["data"], "features": ["backbones", "features", "grids", "pixels"], "runs": ["runs", "evaluations"]}
text = pathlib.Path("params.yaml").read_text()
digest = hashlib.sha256(text.encode()).hexdigest()[:12]
for kind in phases.get(sys.argv[-1], []):
    folder = pathlib.Path("results", kind, digest if kind in phases["runs"] else "0")
    if not folder.exists():
        folder.mkdir(parents=True)
        (folder / "weights").write_text("w" * 9)
        (folder / "record.json").write_text(digest)
reports = pathlib.Path("reports/demo")
reports.mkdir(parents=True, exist_ok=True)
(reports / "metrics.json").write_text(json.dumps({"csp": int(digest[:3], 16), "details": [{"n": 2}]}))
"""
LR, SEEDS = "czsl.methods.csp.training.lr", "profiles.large.gzsl.seeds"


class Toy:
    """A repository with the project's parameters and stages, and a program in place of Snakemake."""

    def __init__(self, root: Path) -> None:
        self.root, program = root, root.parent / "bin" / "snakemake"
        for name in ("params.yaml", "dvc.yaml", ".dvcignore", ".dvc/config", "workflow/scripts/share_results.py"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, root / name)
        (root / "src/recompose").mkdir(parents=True)
        (root / "src/recompose/code.py").touch()
        (root / ".gitignore").write_text("/results/\n/data/\n")
        program.parent.mkdir()
        program.write_text(SNAKEMAKE)
        program.chmod(0o755)
        self.variables = environment()
        self.variables["PATH"] = f"{program.parent}{os.pathsep}{self.variables['PATH']}"
        self.call("git", "init", "--quiet")
        self.commit()
        self.call("dvc", "repro", "--quiet")
        self.commit()

    def call(self, *command: str) -> str:
        done = subprocess.run(
            command, cwd=self.root, env=self.variables, capture_output=True, text=True, timeout=PATIENCE
        )
        assert done.returncode == 0, (command, done.stdout[-2000:], done.stderr[-2000:])
        return done.stdout

    def commit(self) -> None:
        self.call("git", "add", "--all")
        self.call("git", "commit", "--quiet", "--message", "all")

    def runs(self) -> set[str]:
        return {path.parent.name for path in self.root.glob("results/runs/*/weights")}


@pytest.fixture
def toy(tmp_path: Path) -> Toy:
    return Toy(tmp_path / "toy")


def changed_lines(diff: str) -> list[str]:
    return [line for line in diff.splitlines() if line[0] in "-+" and not line.startswith(("---", "+++"))]


def test_experiments_change_a_line_train_what_is_new_and_take_nothing_away(toy: Toy) -> None:
    assert "up to date" in toy.call("dvc", "repro")
    lock = yaml.safe_load((toy.root / "dvc.lock").read_text())["stages"]
    assert {out["path"]: out["nfiles"] for out in lock["runs"]["outs"]} == {
        "results/runs": 1,
        "results/evaluations": 1,
    }  # records
    (first,) = toy.runs()
    (toy.root / "results/runs/of-another-profile").mkdir()
    (toy.root / "results/runs/of-another-profile/weights").touch()  # is in no lock
    toy.call("dvc", "exp", "run", "-S", f"{LR}=0.01", "-S", f"{SEEDS}=[0, 1, 2, 3, 4]")
    assert changed_lines(toy.call("git", "diff", "-U0", "params.yaml")) == [
        "+      - 4",
        "-        lr: 5e-3",
        "+        lr: 0.01",
    ]
    changes = json.loads(toy.call("dvc", "params", "diff", "--json"))["params.yaml"]
    assert changes.keys() == {LR, SEEDS}
    assert changes[LR] == {"old": 0.005, "new": 0.01, "diff": pytest.approx(0.005)}
    assert set(json.loads(toy.call("dvc", "metrics", "diff", "--json"))["reports/demo/metrics.json"]) == {"csp"}
    toy.call("git", "checkout", "--quiet", ".")
    toy.call("dvc", "exp", "run", "--temp", "-S", f"{LR}=0.02")
    toy.call("dvc", "exp", "run", "--queue", "-S", f"{LR}=0.03")
    toy.call("dvc", "exp", "run", "--run-all")
    assert {first, "of-another-profile"} < toy.runs()
    assert len(toy.runs()) == 5
    assert len(list(toy.root.glob("results/features/*"))) == 1
    shown = toy.call("dvc", "exp", "show", "--only-changed", "--csv")
    assert all(f",{lr}" in shown for lr in (0.01, 0.02, 0.03)) and "csp" in shown.splitlines()[0]
    toy.call("dvc", "repro", "--quiet")
    assert "up to date" in toy.call("dvc", "status")


def test_the_lock_is_read_by_people_and_has_the_stages_that_there_are() -> None:
    lock, stages = (yaml.safe_load((ROOT / name).read_text())["stages"] for name in ("dvc.lock", "dvc.yaml"))
    assert lock.keys() == stages.keys()
    assert len((ROOT / "dvc.lock").read_text().splitlines()) < 200
    assert all("params" not in stage for stage in lock.values())
