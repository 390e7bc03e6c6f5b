"""Training resumes exactly, in batches of equal parts; its best epoch, its rows, and a job of Slurm."""

import warnings
from collections import Counter
from itertools import chain
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from hypothesis import given
from hypothesis import strategies as st
from pytorch_lightning import Trainer
from pytorch_lightning.callbacks import Callback, LambdaCallback
from pytorch_lightning.plugins.environments import LightningEnvironment, SLURMEnvironment
from pytorch_lightning.strategies import DDPStrategy
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from recompose.errors import ArgumentError, CheckpointError
from recompose.phases import make
from recompose.training.augmentation import Augmentation
from recompose.training.checkpoint import METHOD, restore
from recompose.training.loop import BestEpoch, Rows, TrainingModule, balanced_batches, shuffled_batches
from recompose.workspace import Workspace
from tests.errors import raises
from tests.training.small import KilledError, KillIn, Small, train


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
def test_a_balanced_batch_has_as_many_samples_of_each_drawn_class(counts: list[int], size: int, seed: int) -> None:
    labels = np.repeat(np.arange(len(counts)) * 3, counts)  # the labels need not be consecutive
    batches = balanced_batches(labels, size, seed)
    assert len(batches) == max(sum(counts) // size, 1)
    for batch in batches:
        drawn = Counter(labels[batch].tolist())
        assert len(drawn) == min(len(counts), size)
        assert set(drawn.values()) == {max(size // len(counts), 1)}
    assert batches == balanced_batches(labels, size, seed)


def test_a_batch_that_cannot_be_shared_is_an_error() -> None:
    with raises(ArgumentError, place="batch_size"):
        shuffled_batches(50, 8, 1, 0, 3)


def train_small(scratch: Path, *callbacks: Callback) -> tuple[dict[str, Tensor], float]:
    """The trained state and the last loss of a training."""
    module = Small()
    trainer = train(module, scratch, *callbacks)
    return module.trained_state(), float(trainer.callback_metrics["loss"])


@pytest.mark.slow
@pytest.mark.parametrize(("epoch", "batch"), [(1, 0), (2, 6)])
def test_a_training_that_was_killed_ends_as_one_that_was_not(tmp_path: Path, epoch: int, batch: int) -> None:
    expected, loss = train_small(tmp_path / "whole")
    with pytest.raises(KilledError):
        train_small(tmp_path / "killed", KillIn(epoch, batch))
    found, again = train_small(tmp_path / "killed")
    assert again == loss
    assert all(torch.equal(found[name], expected[name]) for name in expected)
    assert expected["steps"] == 4 * 7


def test_each_epoch_has_an_order_of_its_own(tmp_path: Path) -> None:
    first: list[tuple[float, ...]] = []  # the targets of the first batch of each epoch

    def note(trainer: pl.Trainer, module: pl.LightningModule, batch: Any, index: int) -> None:
        if index == 0:
            first.append(tuple(batch[1].tolist()))

    train_small(tmp_path / "whole", LambdaCallback(on_train_batch_start=note))
    assert len({*first}) == len(first) == 4


def test_checkpoints_hold_what_trains_and_not_what_is_frozen(tmp_path: Path) -> None:
    with pytest.raises(KilledError):
        train_small(tmp_path / "a", KillIn(3, 3))
    state = torch.load(tmp_path / "a" / "last.ckpt", weights_only=True)["state_dict"]
    assert set(state) == {"layer.weight", "layer.bias", "steps"}


class Counted(TrainingModule):
    """A module whose trained state is the number of its epoch."""

    def __init__(self) -> None:
        pl.LightningModule.__init__(self)
        self.epoch = 0

    def trained_state(self) -> dict[str, torch.Tensor]:
        return {"epoch": torch.tensor(self.epoch)}


def validate(callback: BestEpoch, module: Counted, metric: float, *, first_process: bool = True) -> None:
    module.epoch += 1
    trainer: Any = SimpleNamespace(callback_metrics={"auc": torch.tensor(metric)}, is_global_zero=first_process)
    callback.on_validation_end(trainer, module)


@pytest.mark.parametrize("resumed", [False, True])
def test_the_first_epoch_of_the_highest_metric_is_kept_also_when_resumed(tmp_path: Path, resumed: bool) -> None:
    path, module = tmp_path / "best.safetensors", Counted()
    callback = BestEpoch("auc", path)
    for metric in (0.2, 0.5, 0.5):
        validate(callback, module, metric)
    if resumed:
        state, callback = callback.state_dict(), BestEpoch("auc", path)
        callback.load_state_dict(state)
    validate(callback, module, 0.4)
    assert int(load_file(path)["epoch"]) == 2
    validate(callback, module, 0.6, first_process=False)
    assert int(load_file(path)["epoch"]) == 2  # of several processes the first one writes
    assert callback.state_key != BestEpoch("loss", path).state_key


def test_rows_are_the_inputs_of_a_split_with_their_numbers() -> None:
    inputs, rows, numbers = np.arange(12.0).reshape(6, 2), np.array([5, 0, 3]), np.array([7, 8, 9])
    dataset = Rows(inputs, rows, numbers)
    taken, numbered = dataset[[2, 0]]
    assert taken.tolist() == [inputs[rows[place]].tolist() for place in (2, 0)]
    assert (numbered.tolist(), len(dataset)) == ([9, 7], 3)


# the variables of a job with two tasks
STARTED = {"NTASKS": "2", "NTASKS_PER_NODE": "2", "NODEID": "0", "LOCALID": "0", "PROCID": "0"}


def environment() -> object:
    trainer = Trainer(accelerator="cpu", devices=2, logger=False, enable_checkpointing=False, enable_progress_bar=False)
    assert isinstance(trainer.strategy, DDPStrategy)
    return trainer.strategy.cluster_environment


def test_a_run_and_not_slurm_starts_its_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in STARTED.items():
        monkeypatch.setenv(f"SLURM_{name}", value)
    (tmp_path / "srun").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert isinstance(environment(), SLURMEnvironment)  # Lightning by itself waits for another task
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make(Workspace(tmp_path), [])
        assert isinstance(environment(), LightningEnvironment)


# augmentation


@pytest.fixture
def images() -> Tensor:
    """200 times the same picture: bright on the left, dark on the right."""
    picture = torch.linspace(250, 50, 64).round().to(torch.uint8).expand(3, 64, 64)
    return picture.expand(200, 3, 64, 64).contiguous()


def augmented(images: Tensor, seed: int) -> Tensor:
    torch.manual_seed(seed)
    return Augmentation()(images)


@pytest.mark.slow
def test_the_seed_determines_what_is_drawn(images: Tensor) -> None:
    assert torch.equal(augmented(images, 1), augmented(images, 1))
    assert not torch.equal(augmented(images, 1), augmented(images, 2))


def test_each_image_is_drawn_for_itself_and_about_half_are_flipped(images: Tensor) -> None:
    found = augmented(images, 3)
    assert found.shape == images.shape
    distinct = {tuple(image.flatten().tolist()) for image in found}
    assert len(distinct) > 0.8 * len(images)  # angles that hardly differ move the same pixels
    centre = found[:, 0, 24:40]  # away from what came in at the edges
    flipped = (centre[:, :, 16:32].mean(dim=(1, 2)) < centre[:, :, 32:48].mean(dim=(1, 2))).sum()
    assert 70 < int(flipped) < 130


# checkpoints of runs


class Method(nn.Module):
    """A method with a frozen part, a trained one, and a buffer."""

    def __init__(self, seed: int = 0) -> None:
        torch.manual_seed(seed)
        super().__init__()
        self.backbone = nn.Linear(2, 2).requires_grad_(False)
        self.head = nn.Linear(2, 3)
        self.register_buffer("prototypes", torch.rand(3))


@pytest.fixture
def trained() -> dict[str, Tensor]:
    """The tensors of a run's checkpoint, with those of another module."""
    state = {f"{METHOD}{name}": tensor for name, tensor in Method(1).state_dict().items() if "backbone" not in name}
    return state | {"augmentation.head.bias": torch.zeros(7)}


def test_the_trained_part_is_restored_and_the_frozen_one_stays(trained: dict[str, Tensor], tmp_path: Path) -> None:
    save_file(trained, tmp_path / "c")
    method = Method()
    restore(method, tmp_path / "c")
    expected = Method().state_dict() | {name.removeprefix(METHOD): tensor for name, tensor in trained.items()}
    assert all(torch.equal(tensor, expected[name]) for name, tensor in method.state_dict().items())


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"method.prototypes": None}, "lacks prototypes"),
        ({"method.backbone.bias": torch.zeros(2)}, "has backbone.bias"),
        ({"method.head.bias": None, "method.tail": torch.zeros(1)}, "lacks head.bias, and it has tail"),
        ({"method.head.bias": torch.zeros(4)}, "head.bias differ in size"),
    ],
)
def test_a_checkpoint_of_another_method_is_refused(
    change: dict[str, Tensor | None], fault: str, trained: dict[str, Tensor], tmp_path: Path
) -> None:
    save_file({name: tensor for name, tensor in (trained | change).items() if tensor is not None}, tmp_path / "c")
    method = Method()
    with raises(CheckpointError, "other-parameters") as caught:
        restore(method, tmp_path / "c")
    assert fault in str(caught.value) and str(tmp_path / "c") in str(caught.value)
    assert all(torch.equal(tensor, Method().state_dict()[name]) for name, tensor in method.state_dict().items())
