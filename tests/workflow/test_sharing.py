"""A report shared with its scores: pushed to a remote, pulled into a clone that has nothing else, and audited there."""

import json
import re
import shutil
import tarfile
from pathlib import Path

import pytest

from tests.conftest import Project

pytestmark = pytest.mark.engines


def test_a_release_that_is_pulled_is_audited_without_training(chance: Project, tmp_path: Path) -> None:
    archive = "release.tar.gz"
    chance.recompose("release", archive)
    chance.call("dvc", "remote", "add", "--quiet", "--default", "lab", str(tmp_path / "remote"))
    chance.call("dvc", "add", "--quiet", archive)
    chance.call("dvc", "push", "--quiet", f"{archive}.dvc")
    chance.commit("A release")
    clone = chance.clone(tmp_path / "clone")
    audit = clone.recompose("audit", check=False).stdout
    assert "clean as far as values show" in audit
    assert "remedy: `snakemake --cores all` makes missing results; a release has the scores" in audit
    clone.call("dvc", "pull", "--quiet", f"{archive}.dvc")
    audited = json.loads(clone.recompose("audit", "--release", archive, "--json").stdout)
    assert (audited["evaluations"], audited["recomputed"], audited["findings"]) == (2, 2, [])


def test_scores_without_their_runs_blame_neither_costs_nor_figures(trained_project: Project, tmp_path: Path) -> None:
    """What runs cost stands with them, and some figures show images: without both they are not checked."""
    project = trained_project.copy(tmp_path / "project")
    assert json.loads(project.recompose("audit", "--json").stdout)["clean"]
    shutil.rmtree(project.root / "data")
    for kind in {path.name for path in (project.root / "results").iterdir() if path.is_dir()} - {"data", "evaluations"}:
        shutil.rmtree(project.root / "results" / kind)
    audit = json.loads(project.recompose("audit", "--json", check=False).stdout)
    assert (audit["findings"], audit["recomputed"]) == ([], audit["evaluations"])
    assert audit["cells"].keys() == {"current", "unchecked"}
    lineages = {
        path.parent.name + "/" + path.name.partition(".")[0]: json.loads(path.read_text())["cells"]
        for path in project.root.glob("reports/smoke/*/*.lineage.json")
    }
    undrawn = {
        line.partition(": ")[0]
        for line in audit["unchecked"]
        if line.endswith("images, features or models, which are not on this disk")
    }
    costs = sum(cell.get("metric", "").startswith("cost/") for cells in lineages.values() for cell in cells)
    shown = sum(len(lineages[name]) for name in undrawn)
    assert 0 < costs + shown == audit["cells"]["unchecked"] - audit["followed"]
    project.recompose("release", str(tmp_path / "r.tar.gz"))
    release = json.loads(project.recompose("audit", "--release", str(tmp_path / "r.tar.gz"), "--json").stdout)
    assert {name: release[name] for name in ("cells", "followed", "findings")} == {
        name: audit[name] for name in ("cells", "followed", "findings")
    }
    assert "/" not in {line[0] for line in release["unchecked"]} and "recompose-release-" not in str(release)
    with tarfile.open(tmp_path / "r.tar.gz") as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
        readme = archive.extractfile("r/README.md").read().decode()
    named = {name for name in re.findall(r"`([^` ]+)`", readme) if name != "index.html"}
    assert all(any(file.startswith(name) for file in names) for name in named - {"dvc.lock"})
