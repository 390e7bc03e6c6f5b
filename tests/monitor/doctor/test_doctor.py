"""`recompose doctor` as users call it."""

import json
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.monitor import doctor
from recompose.monitor.doctor import STOPS, SystemInfo
from tests.configuration import write_params
from tests.conftest import ROOT

pytestmark = pytest.mark.slow

HERE = SystemInfo((3, 12, 1), {"torch": "2.13.0"}, None, (), slurm=None, plugin=False)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has, and no network."""
    monkeypatch.setattr(doctor.SystemInfo, "here", classmethod(lambda cls: HERE))
    monkeypatch.setattr("recompose.monitor.doctor.inputs.mirrors", lambda place, urls: [])


def project(root: Path, profile: str) -> None:
    """What a clone has that is checked."""
    (root / "assets").symlink_to(ROOT / "assets")
    write_params(root, profile)


def test_nothing_stops_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, "demo")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0, done.output
    assert "nothing would stop the workflow" in done.output
    assert not [path for path in tmp_path.iterdir() if path.name not in ("params.yaml", "assets", "results")]


def test_weights_that_are_released_with_the_project_are_there_and_the_right_ones(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project(tmp_path, "demo")
    (tmp_path / "assets").unlink()
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    (tmp_path / "assets/shapes-clip.safetensors").unlink()
    (tmp_path / "assets/shapes-resnet.safetensors").write_bytes(b"others")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == 1
    checks = {check["what"]: check for check in json.loads(done.stdout)}
    stopping = {what: check["found"] for what, check in checks.items() if check["state"] == STOPS}
    assert stopping.keys() == {"shapes-clip", "shapes-resnet"}
    assert stopping["shapes-clip"].endswith("shapes-clip.safetensors is missing")
    assert stopping["shapes-resnet"].endswith("does not match its sha256 in params.yaml")
    assert {checks[name]["remedy"] for name in stopping} == {"`git checkout -- assets` restores it"}
    assert checks["shapes-clip-fine"]["found"].startswith("released with the project, ")


def test_what_stops_the_papers_is_said_with_remedies(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, "paper")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == 1
    checks = {check["what"]: check for check in json.loads(done.stdout)}
    assert all(check["remedy"] for check in checks.values() if check["state"] == STOPS)
    assert {name for name in ("mit-states", "clip-vit-l-14", "GPU") if checks[name]["state"] == STOPS} == {
        "mit-states",
        "clip-vit-l-14",
        "GPU",  # fine-tuning is in 16-mixed
    }
    assert {"demo", "study", "smoke"} <= set(checks["profile"]["remedy"].replace(",", "").split())
    text = CliRunner().invoke(app, ["doctor"])
    assert text.exit_code == 1
    assert "would stop the workflow" in text.output
    folded = "".join(text.output.split())
    assert "data/archives/compositional_split_natural.tar.gzand1moremanually" in folded  # whole, however narrow
    assert "…" not in text.output
