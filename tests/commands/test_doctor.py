"""The checks of a machine, against what a profile asks for."""

import json
import shutil
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

import pytest
from typer.testing import CliRunner

from recompose.commands import doctor
from recompose.commands.doctor import FINE, STOPS, WARNING, Check
from recompose.data.upstream import Content, record
from recompose.main import app
from recompose.params.sections import Trainer
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.conftest import ROOT

SMALL = "small (24.0 GB)"
TRAINER = Trainer(precision="32-true", threads=1, accelerator="auto", devices=1)


@pytest.fixture(autouse=True)
def _machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without a GPU and without Slurm, whatever this one has."""
    monkeypatch.setattr(doctor, "torch_gpus", lambda: (None, []))
    monkeypatch.setattr(doctor.shutil, "which", lambda program: None)


@pytest.fixture
def paper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A project with the profile of the papers' own data, of which nothing is there."""
    monkeypatch.delenv("RECOMPOSE_MIRROR", raising=False)
    return new_project(tmp_path, monkeypatch, "paper")


def new_project(root: Path, monkeypatch: pytest.MonkeyPatch, profile: str) -> Workspace:
    (root / "assets").symlink_to(ROOT / "assets")
    write_params(root, profile)
    monkeypatch.chdir(root)
    return Workspace(root)


def checks_of(code: int) -> dict[str, dict[str, str]]:
    """Run the command, which ends with this code."""
    done = CliRunner().invoke(app, ["doctor", "--json"])
    assert done.exit_code == code, done.output
    return {check["subject"]: check for check in json.loads(done.stdout)}


@pytest.mark.slow
def test_missing_and_other_weights_of_the_project_stop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    new_project(tmp_path, monkeypatch, "demo")
    (tmp_path / "assets").unlink()
    shutil.copytree(ROOT / "assets", tmp_path / "assets")
    (tmp_path / "assets/shapes-clip.safetensors").unlink()
    (tmp_path / "assets/shapes-resnet.safetensors").write_bytes(b"others")
    checks = checks_of(1)
    stopping = {name: check for name, check in checks.items() if check["state"] == STOPS}
    assert stopping.keys() == {"shapes-clip", "shapes-resnet"}
    assert "missing" in stopping["shapes-clip"]["finding"]
    assert "sha256" in stopping["shapes-resnet"]["finding"]
    assert all("git checkout" in check["remedy"] for check in stopping.values())


@pytest.mark.slow
def test_what_stops_the_papers_has_a_remedy_and_is_never_cut(paper: Workspace) -> None:
    checks = checks_of(1)
    stopping = {name: check["remedy"] for name, check in checks.items() if check["state"] == STOPS}
    assert "GPU" in stopping and all(stopping.values())  # fine-tuning is in 16-mixed
    (by_hand,) = [check for name, check in checks.items() if name.endswith("data sets")]
    assert "aro, crepe" in by_hand["finding"] and "data/vlc/aro" in by_hand["remedy"]
    text = CliRunner().invoke(app, ["doctor"])
    assert text.exit_code == 1
    assert "…" not in text.output
    assert "RECOMPOSE_PROFILE=demo" in text.output


@pytest.mark.slow
def test_another_file_than_was_recorded_stops_and_is_named(paper: Workspace) -> None:
    path = paper.data / "archives" / "ut-zap50k-images.zip"
    path.parent.mkdir(parents=True)
    path.write_bytes(b"an archive")
    content = Content(bytes=10, sha256=sha256(b"an archive").hexdigest())
    record(paper.data, "archives/ut-zap50k-images.zip", content)

    def check() -> Check:
        return next(checked for checked in doctor.check_data(paper) if checked.subject == "ut-zappos")

    assert check().state == FINE
    path.write_bytes(b"another")
    assert check().state == STOPS
    assert "data/archives/ut-zap50k-images.zip has 7 bytes" in check().remedy


@pytest.mark.parametrize(
    ("gpus", "trainer", "precision", "state"),
    [
        ([SMALL], {}, "16-mixed", FINE),
        ([SMALL], {"devices": 2}, "32-true", STOPS),
        ([SMALL], {"devices": "auto"}, "32-true", FINE),
        ([], {"accelerator": "cpu"}, "32-true", FINE),
        ([], {}, "32-true", WARNING),
        ([], {}, "16-mixed", STOPS),
        ([], {"accelerator": "gpu"}, "32-true", STOPS),
    ],
)
def test_gpus_are_what_training_asks_for(
    gpus: list[str], trainer: Mapping[str, object], precision: str, state: str
) -> None:
    check = doctor.check_gpus("13.0", gpus, TRAINER.model_copy(update=trainer), {precision})
    assert check.state == state
    assert bool(check.remedy) == (state != FINE)
