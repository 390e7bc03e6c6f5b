"""What runs and evaluations cost: counts of parameters in closed form, seconds by a clock that tests turn, memory by
a known allocation.
"""

import json
from pathlib import Path

import pytest
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from recompose.training import cost, resources
from recompose.training.cost import Epochs, RunCosts
from recompose.training.hardware import Hardware
from recompose.training.loop import Data, TrainingModule, fit
from recompose.training.resources import EvaluationCosts, trainable
from tests.training.killing import KilledError, KillIn

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)


class Clock:
    """Time that passes only where it is told to, in the place of the module ``time``."""

    now = 1000.0

    def perf_counter(self) -> float:
        return self.now


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    clock = Clock()
    for module in (cost, resources):
        monkeypatch.setattr(module, "time", clock)
    return clock


class Small(TrainingModule):
    """A regression whose training batches take a second, and whose validation takes 100."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock
        self.layer = nn.Linear(4, 1)

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        self.clock.now += 1
        loss: Tensor = self.layer(batch[0]).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        self.clock.now += 100

    def on_train_epoch_end(self) -> None:
        self.clock.now += 1000

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.layer.parameters(), lr=0.05)


def train(scratch: Path, clock: Clock, *others: Callback, validates: bool = True, accumulate: int = 1) -> Epochs:
    """Three epochs of seven batches."""
    scratch.mkdir(exist_ok=True)
    epochs, images = Epochs(), TensorDataset(torch.randn(50, 4, generator=torch.Generator().manual_seed(0)))
    data = Data(images, images if validates else None, batch_size=8, seed=3)
    callbacks = [*others, epochs]
    fit(Small(clock), data, scratch, CPU, title="t", epochs=3, seed=3, accumulate=accumulate, callbacks=callbacks)
    return epochs


# parameters


def test_what_trains_is_counted_number_by_number() -> None:
    module = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2, bias=False))
    assert trainable(module) == (3 * 5 + 5) + (5 + 5) + 5 * 2
    module[0].weight.requires_grad_(False)
    assert trainable(module) == 5 + (5 + 5) + 5 * 2
    assert trainable(module.requires_grad_(False)) == 0


# seconds


@pytest.mark.parametrize(("validates", "accumulate"), [(True, 1), (False, 2)])
def test_each_epoch_counts_without_validation(tmp_path: Path, clock: Clock, validates: bool, accumulate: int) -> None:
    epochs = train(tmp_path / "scratch", clock, validates=validates, accumulate=accumulate)
    assert epochs.seconds == [7.0, 7.0, 7.0]


@pytest.mark.parametrize(("epoch", "batch"), [(1, 0), (2, 6)])
def test_a_killed_training_counts_whole_epochs_once(tmp_path: Path, clock: Clock, epoch: int, batch: int) -> None:
    with pytest.raises(KilledError):
        train(tmp_path / "scratch", clock, KillIn(epoch, batch))
    clock.now += 1e6
    assert train(tmp_path / "scratch", clock).seconds == [7.0, 7.0, 7.0]


@pytest.fixture
def proc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Linux's files of a process, empty."""
    for name in ("STATUS", "CLEAR_REFS"):
        (tmp_path / name.lower()).write_text("")
        monkeypatch.setattr(resources, name, tmp_path / name.lower())
    return tmp_path


def say(proc: Path, highest: int, now: int) -> None:
    (proc / "status").write_text(f"Name:\tpython: a\nVmPeak:\t   99 kB\nVmHWM:\t  {highest} kB\nVmRSS:\t   {now} kB\n")


# the files


def test_costs_of_a_run_are_written(tmp_path: Path, proc: Path) -> None:
    say(proc, highest=30, now=7)
    costs = RunCosts(nn.Linear(3, 5), 1_234_567, torch.device("cpu"))
    costs.epochs.seconds = [2.0, 5.0, 3.5]
    say(proc, highest=12, now=9)
    costs.write(tmp_path / "costs.json")
    assert json.loads((tmp_path / "costs.json").read_text()) == {
        "trainable_parameters": 20,
        "trainable_parameters_at_vit_l_14": 1_234_567,
        "epoch_seconds": 3.5,
        "peak_memory_bytes": 5 * 1024,
    }


def test_an_evaluation_of_a_shared_pass_has_its_seconds_alone(tmp_path: Path, clock: Clock, proc: Path) -> None:
    say(proc, highest=30, now=7)
    costs = EvaluationCosts(20, torch.device("cpu"), 3)
    with costs.scoring():
        clock.now += 10  # for all of them
        for place, seconds in enumerate((1.0, 2.0, 4.0)):
            with costs.time_separately(place):
                clock.now += seconds
        with costs.time_separately(0, 2):
            clock.now += 0.5
    for place, seconds in enumerate((11.5, 12.0, 14.5)):
        costs.write(tmp_path / "costs.json", place)
        found = json.loads((tmp_path / "costs.json").read_text())
        assert found["test_seconds"] == seconds
        assert (found["pass_evaluations"], found["pass_seconds"]) == (3, 17.5)
