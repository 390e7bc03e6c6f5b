"""Training resumes exactly, and batches are what they say."""

from collections import Counter
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_lightning.callbacks import Callback
from torch import Tensor, nn
from torch.utils.data import TensorDataset

from recompose.errors import ArgumentError
from recompose.training.hardware import Hardware
from recompose.training.loop import Data, TrainingModule, balanced_batches, fit, shuffled_batches
from tests.errors import raises
from tests.training.killing import KilledError, KillIn

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)


@given(st.integers(1, 60), st.integers(1, 8), st.integers(1, 4), st.integers(0, 9))
def test_processes_share_every_batch_and_no_sample(length: int, share: int, world: int, seed: int) -> None:
    size = share * world
    parts = [shuffled_batches(length, size, seed, rank, world) for rank in range(world)]
    together = [sorted(chain.from_iterable(batches)) for batches in zip(*parts, strict=True)]
    samples = [sample for batch in together for sample in batch]
    assert len(set(samples)) == len(samples) == length - length % world
    assert all(len(batch) == size for batch in together[:-1])
    assert len({len(batches[-1]) for batches in parts if batches} or {0}) == 1
    if share == 1:
        assert len(together) == length // world


@given(counts=st.lists(st.integers(1, 9), min_size=1, max_size=12), size=st.integers(1, 30), seed=st.integers(0, 10**6))
def test_a_balanced_batch_has_as_many_samples_of_each_class_that_it_draws(
    counts: list[int], size: int, seed: int
) -> None:
    labels = np.repeat(np.arange(len(counts)) * 3, counts)  # the labels need not be consecutive
    batches = balanced_batches(labels, size, seed)
    assert len(batches) == max(sum(counts) // size, 1)
    for batch in batches:
        drawn = Counter(labels[batch].tolist())
        assert len(drawn) == min(len(counts), size)
        assert set(drawn.values()) == {max(size // len(counts), 1)}
    assert batches == balanced_batches(labels, size, seed)


def test_balanced_batches_draw_rare_classes_as_often_as_frequent_ones() -> None:
    labels = np.array([0] * 96 + [1] * 4)
    drawn = Counter(labels[list(chain(*balanced_batches(labels, 10, 1)))].tolist())
    assert drawn[0] == drawn[1] == 50


def test_a_batch_that_cannot_be_shared_is_an_error() -> None:
    with raises(ArgumentError, place="batch_size"):
        shuffled_batches(50, 8, 1, 0, 3)


class Small(TrainingModule):
    """A regression with dropout, a frozen part and a buffer."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(5)
        self.frozen = nn.Linear(4, 4).requires_grad_(False)
        self.layer = nn.Linear(4, 1)
        self.dropout = nn.Dropout(0.5)
        self.register_buffer("steps", torch.zeros(()))

    def training_step(self, batch: list[Tensor], _: int) -> Tensor:
        x, y = batch
        self.steps += 1
        loss = (self.layer(self.dropout(self.frozen(x))).squeeze(1) - y).square().mean()
        self.log("loss", loss, on_step=False, on_epoch=True)
        return loss

    def configure_optimizers(self) -> torch.optim.Optimizer:
        return torch.optim.Adam(self.layer.parameters(), lr=0.05)


def train(scratch: Path, callbacks: list[Callback] | None = None, seed: int = 3) -> tuple[dict[str, Tensor], float]:
    generator = torch.Generator().manual_seed(0)
    data = TensorDataset(torch.randn(50, 4, generator=generator), torch.randn(50, generator=generator))
    scratch.mkdir(exist_ok=True)
    module = Small()
    trainer = fit(
        module,
        Data(data, None, batch_size=8, seed=seed),
        scratch,
        CPU,
        title="t",
        epochs=4,
        seed=seed,
        callbacks=callbacks,
    )
    return module.trained_state(), float(trainer.callback_metrics["loss"])


@pytest.mark.slow
@pytest.mark.parametrize(("epoch", "batch"), [(1, 0), (2, 6)])
def test_a_training_that_was_killed_ends_as_one_that_was_not(tmp_path: Path, epoch: int, batch: int) -> None:
    expected, loss = train(tmp_path / "whole")
    with pytest.raises(KilledError):
        train(tmp_path / "killed", [KillIn(epoch, batch)])
    found, again = train(tmp_path / "killed")
    assert again == loss
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert expected["steps"] == 4 * 7


def test_checkpoints_hold_what_trains_and_not_what_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        train(tmp_path / "a", [KillIn(3, 3)])
    state = torch.load(tmp_path / "a" / "last.ckpt", weights_only=True)["state_dict"]
    assert set(state) == {"layer.weight", "layer.bias", "steps"}
