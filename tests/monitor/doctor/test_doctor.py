"""`recompose doctor` as users call it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.cli import app
from recompose.monitor import doctor
from recompose.monitor.doctor import STOPS, Machine
from tests.conftest import ROOT

HERE = Machine((3, 12, 1), {"torch": "2.13.0"}, None, (), slurm=None, plugin=False)


@pytest.fixture(autouse=True)
def _here(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU, whatever this one has, and no network."""
    monkeypatch.setattr(doctor.Machine, "here", classmethod(lambda cls: HERE))
    monkeypatch.setattr("recompose.monitor.doctor.inputs.mirrors", lambda place, urls: [])


def project(root: Path, profile: str) -> None:
    text = (ROOT / "params.yaml").read_text()
    (root / "params.yaml").write_text(text.replace("\nprofile: demo\n", f"\nprofile: {profile}\n"))


def test_nothing_stops_the_demo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project(tmp_path, "demo")
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0, done.output
    assert "nothing would stop the workflow" in done.output
    assert not [path for path in tmp_path.iterdir() if path.name not in ("params.yaml", "results")]


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
    assert checks["profile"]["remedy"].endswith("demo, smoke")
    text = CliRunner().invoke(app, ["doctor"])
    assert text.exit_code == 1
    assert "would stop the workflow" in text.output
    folded = "".join(text.output.split())
    assert "data/archives/compositional_split_natural.tar.gzand1moretherebyhand" in folded  # whole, however narrow
    assert "…" not in text.output
