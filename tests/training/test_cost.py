"""What runs and evaluations cost: counts of parameters in closed form, seconds by a clock that tests turn, memory by
a known allocation.
"""

import json
from pathlib import Path

import pytest
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn

from recompose.training import cost, resources
from recompose.training.cost import Epochs, RunCosts
from recompose.training.resources import EvaluationCosts, trainable
from tests.training.small import KilledError, KillIn, Small, train


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


class Timed(Small):
    """A training whose batches take a second, and whose validation takes 100."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock = clock

    def training_step(self, batch: list[Tensor], index: int) -> Tensor:
        self.clock.now += 1
        return super().training_step(batch, index)

    def validation_step(self, batch: list[Tensor], _: int) -> None:
        self.clock.now += 100

    def on_train_epoch_end(self) -> None:
        self.clock.now += 1000


def epochs_of(clock: Clock, scratch: Path, *others: Callback, validates: bool = True, accumulate: int = 1) -> Epochs:
    """The costs of three epochs of seven batches."""
    epochs = Epochs()
    train(Timed(clock), scratch, *others, epochs, epochs=3, validates=validates, accumulate=accumulate)
    return epochs


# parameters


def test_what_trains_is_counted_number_by_number() -> None:
    module = nn.Sequential(nn.Linear(3, 5), nn.BatchNorm1d(5), nn.Linear(5, 2, bias=False))
    assert trainable(module) == (3 * 5 + 5) + (5 + 5) + 5 * 2
    module[0].weight.requires_grad_(False)
    assert trainable(module) == 5 + (5 + 5) + 5 * 2
    assert trainable(module.requires_grad_(False)) == 0


# seconds


def test_each_epoch_counts_where_none_is_validated_and_steps_are_of_several_batches(
    tmp_path: Path, clock: Clock
) -> None:
    assert epochs_of(clock, tmp_path / "scratch", validates=False, accumulate=2).seconds == [7.0, 7.0, 7.0]


@pytest.mark.parametrize(("epoch", "batch"), [(1, 0), (2, 6)])
def test_a_killed_training_counts_whole_epochs_once(tmp_path: Path, clock: Clock, epoch: int, batch: int) -> None:
    with pytest.raises(KilledError):
        epochs_of(clock, tmp_path / "scratch", KillIn(epoch, batch))
    clock.now += 1e6
    assert epochs_of(clock, tmp_path / "scratch").seconds == [7.0, 7.0, 7.0]


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


@pytest.mark.parametrize("refused", ["clear_refs", "status"])
def test_where_a_system_does_not_tell_its_memory_a_peak_is_unknown(tmp_path: Path, proc: Path, refused: str) -> None:
    say(proc, highest=30, now=7)
    (proc / refused).unlink()
    (proc / refused).mkdir()  # it can be neither read nor written, by root either
    costs = EvaluationCosts(20, torch.device("cpu"))
    costs.write(tmp_path / "costs.json")
    assert json.loads((tmp_path / "costs.json").read_text())["peak_memory_bytes"] is None


def test_where_a_system_tells_no_peak_it_is_unknown(proc: Path) -> None:
    (proc / "status").write_text("Name:\tpython\nVmRSS:\t  7 kB\n")
    assert resources.Peak(torch.device("cpu")).bytes is None


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
