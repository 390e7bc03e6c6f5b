"""A run that devices share, each with a part of every batch, gives what one device gives."""

import os
import socket
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from pytorch_lightning.callbacks import Callback
from torch import Tensor

from recompose.tracks.building import TypedSettings
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.base import PairMethod, TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.duplex.model import Duplex
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import PairTrainingSettings
from recompose.tracks.czsl.training import VAL_AUC, PairRun
from recompose.training.hardware import Hardware
from tests.clips import random_clip
from tests.precision import DIGITS, assert_close, default_dtype
from tests.processes import in_two_processes
from tests.tracks.czsl.methods.derivations import method_of, new_method, random_images, settings_of
from tests.tracks.czsl.tiny import pairs_in_turns

pytestmark = pytest.mark.usefixtures("in_64_bits")

PAIRS = [("wet", "dog"), ("dry", "cat"), ("wet", "cat"), ("old", "dog")]
UNSEEN = [("dry", "dog"), ("old", "cat")]
STATES, OBJECTS = ["dry", "old", "wet"], ["cat", "dog"]
BATCH, EPOCHS = 6, 2
DUPLEX = settings_of(
    "duplex",
    disentangler_end="linear",
    initial="means",
    unseen_start="least-squares",
    writes_from="evaluation",
    closed=[0.2, 0.5, 0.3],
    open=[0.2, 0.5, 0.3],
)
CSP_SETTINGS = {"prompt": "a photo of {state} {object}", "dropout": 0.0}
METHODS = {
    "csp": lambda backbone: method_of(CSP, backbone, STATES, OBJECTS, **CSP_SETTINGS),
    "msci": lambda backbone: new_method(MSCI, backbone, STATES, OBJECTS, settings_of("msci")),
    "duplex": lambda backbone: new_method(Duplex, backbone, STATES, OBJECTS, DUPLEX),
}


class Noted(Callback):
    """The gradients of the first step, what it had written by then, and what each epoch gave.

    Of later steps not: some parameters change nothing, as biases before batch normalisation, and Adam makes steps of
    whatever rounding leaves in their gradients.
    """

    def __init__(self) -> None:
        self.gradients: dict[str, Tensor] = {}
        self.buffers: dict[str, Tensor] = {}
        self.epochs: list[tuple[float, float]] = []

    def on_before_optimizer_step(self, trainer: pl.Trainer, pl_module: pl.LightningModule, optimizer: Any) -> None:
        if not self.gradients:
            named = pl_module.named_parameters()
            self.gradients = {name: each.grad.clone() for name, each in named if each.grad is not None}
            written = pl_module.named_buffers()
            self.buffers = {name: each.clone() for name, each in written if "backbone" not in name}

    def on_train_epoch_end(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        self.epochs.append(tuple(float(trainer.callback_metrics[name]) for name in ("loss", VAL_AUC)))  # type: ignore[arg-type]


def new_data() -> PairData:
    pairs = {"train": PAIRS, "val": [*PAIRS[:2], UNSEEN[0]], "test": [PAIRS[0], UNSEEN[1]]}
    return pairs_in_turns(pairs, train=18, val=41, test=2)  # of validation, devices have a different number


def trained(name: str, folder: Path, devices: int) -> dict[str, Any]:
    """What a method's training gives: the gradients of its first step, what that wrote, and its epochs."""
    data = new_data()
    backbone = random_clip()
    method: PairMethod = METHODS[name](backbone)
    images = random_images(len(data.samples))
    with torch.no_grad():
        embeddings = backbone.encode_image(backbone.from_bytes(images))
    pairs = data.indices(data.pairs)
    rows = data.rows("train")
    labels = torch.from_numpy(pairs[data.targets("train", data.pairs)])
    method.prepare(TrainingPrior(torch.from_numpy(pairs), embeddings[rows], labels))
    noted = Noted()
    hardware = Hardware(precision="32-true", accelerator="cpu", devices=devices)
    settings = PairTrainingSettings(lr=1e-4, weight_decay=1e-5, batch_size=BATCH, accumulate=1, epochs=EPOCHS)
    inputs = np.asarray(images if method.sees == "pixels" else embeddings)
    PairRun(TypedSettings({"seed": 1}), {}, folder, hardware, name).fit_method(method, data, inputs, settings, [noted])
    return {"gradients": noted.gradients, "epochs": noted.epochs, "buffers": noted.buffers}


@default_dtype(torch.float64)
def _of_one_process(rank: int, folder: str, port: int) -> None:
    """A process of two, as Lightning starts them."""
    torch.set_num_threads(1)
    os.environ |= {
        "LOCAL_RANK": str(rank),
        "NODE_RANK": "0",
        "WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
    }
    for name in METHODS:
        torch.save(trained(name, Path(folder, name), devices=2), f"{folder}/{name}-{rank}.pt")


@pytest.mark.slow
def test_two_devices_give_what_one_gives(tmp_path: Path) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    in_two_processes(_of_one_process, str(tmp_path), port)
    for name in METHODS:
        expected = trained(name, tmp_path / f"{name}-alone", devices=1)
        for rank in range(2):
            actual = torch.load(tmp_path / f"{name}-{rank}.pt", weights_only=True)
            assert actual["gradients"].keys() == expected["gradients"].keys() != set()
            for part in ("gradients", "buffers"):
                for tensor, value in expected[part].items():
                    assert_close(actual[part][tensor], value, msg=f"{name}, device {rank}: {part} of {tensor}")
            np.testing.assert_allclose(actual["epochs"], expected["epochs"], rtol=DIGITS)
