"""A report shared with its scores: pushed to a remote, pulled into a clone that has nothing else, and audited there."""

import json
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
