"""Training in a process that Slurm started."""

import warnings
from pathlib import Path

import pytest
from pytorch_lightning import Trainer
from pytorch_lightning.plugins.environments import LightningEnvironment, SLURMEnvironment
from pytorch_lightning.strategies import DDPStrategy

from recompose.phases import make
from recompose.workspace import Workspace

STARTED = {
    "SLURM_NTASKS": "2",
    "SLURM_NODEID": "0",
    "SLURM_LOCALID": "0",
    "SLURM_NTASKS_PER_NODE": "2",
    "SLURM_PROCID": "0",
}


@pytest.fixture
def in_a_job(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The variables of a job with two tasks, and a command srun."""
    for name, value in STARTED.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "srun").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))


def environment() -> object:
    trainer = Trainer(accelerator="cpu", devices=2, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    assert isinstance(trainer.strategy, DDPStrategy)
    return trainer.strategy.cluster_environment


@pytest.mark.usefixtures("in_a_job")
def test_the_processes_of_several_devices_are_started_by_the_run_and_not_by_slurm(tmp_path: Path) -> None:
    assert isinstance(environment(), SLURMEnvironment)  # Lightning by itself waits for another task
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(Workspace(tmp_path), [])
        assert isinstance(environment(), LightningEnvironment)
