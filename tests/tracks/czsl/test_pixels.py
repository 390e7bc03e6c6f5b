"""Training of a method that sees pixels: MSCI on patches of colour."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from recompose.backbones.clip import Backbone
from recompose.tracks.building import CHECKPOINT
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.methods.msci import MSCI
from recompose.tracks.czsl.methods.settings import AugmentedTraining
from recompose.tracks.czsl.metrics.czsl import report_of
from recompose.tracks.czsl.scoring import score_method
from recompose.tracks.czsl.training import PairTraining, fit_method
from recompose.training.checkpoint import restore
from tests.tracks.czsl.methods.derivations import new_method, settings_of
from tests.tracks.czsl.tiny import CPU, pairs_in_turns

pytestmark = pytest.mark.slow

STATES = {"blue": (30, 60, 220), "green": (30, 200, 60), "red": (220, 40, 40)}
OBJECTS = {"left": np.s_[:, :16], "middle": np.s_[8:24, 8:24], "top": np.s_[:16, :]}  # where the colour is
SEEN = [("blue", "left"), ("red", "middle"), ("green", "top"), ("blue", "middle"), ("red", "left"), ("green", "left")]
UNSEEN = [("red", "top"), ("green", "middle"), ("blue", "top")]
SETTINGS: dict[str, Any] = {
    "lr": 2e-3,
    "weight_decay": 1e-5,
    "batch_size": 16,
    "accumulate": 1,
    "epochs": 5,
    "halve_every": 2,
    "augment": False,
}


@pytest.fixture(scope="module")
def data() -> PairData:
    pairs = {"train": SEEN, "val": [*SEEN[:3], *UNSEEN[:2]], "test": [*SEEN[3:], *UNSEEN[2:]]}
    return pairs_in_turns(pairs, train=60, val=30, test=12)


@pytest.fixture(scope="module")
def pixels(data: PairData) -> np.ndarray:
    """Bytes [images, 3, 32, 32]: the state's colour in the object's place, on noisy grey."""
    rng = np.random.default_rng(1)
    images = rng.integers(90, 150, (len(data.samples), 3, 32, 32))
    for image, sample in zip(images, data.samples, strict=True):
        place = image[(slice(None), *OBJECTS[sample.object])]
        place[:] = np.array(STATES[sample.state])[:, None, None] + rng.integers(-30, 30, place.shape)
    return images.clip(0, 255).astype(np.uint8)


def new(backbone: Backbone, data: PairData, seed: int = 0) -> MSCI:
    torch.manual_seed(seed)
    dropout = {
        "attribute_dropout": 0.1,
        "adapter_dropout": 0.1,
        "disentangler_dropout": 0.1,
        "interaction_dropout": 0.1,
    }
    settings = settings_of("msci", heads=2, loss_weights=[1.0, 1.0, 1.0], **dropout)
    method: MSCI = new_method(MSCI, backbone, data.states, data.objects, settings)
    return method


def run(backbone: Backbone, data: PairData, pixels: np.ndarray, folder: Path, seed: int = 0, **changed: Any) -> MSCI:
    method = new(backbone, data, seed)
    training = AugmentedTraining(**(SETTINGS | changed))
    fit_method(method, data, pixels, folder, CPU, training, title="t", seed=seed)
    restore(method, folder / CHECKPOINT)
    return method


def auc(method: MSCI, data: PairData, pixels: np.ndarray) -> float:
    (scores,) = score_method(method, data, pixels, CPU.device, [method.scoring])
    return report_of(scores.bests["val", "closed"]).auc


@torch.no_grad()
def loss(method: MSCI, data: PairData, pixels: np.ndarray) -> float:
    """Of all images of training, in evaluation mode."""
    pairs = data.pairs_of["train"]
    targets = torch.from_numpy(data.targets("train", pairs))
    return (
        method.eval()
        .loss(torch.from_numpy(pixels[data.rows("train")]), targets, torch.from_numpy(data.indices(pairs)))
        .item()
    )


@pytest.fixture(scope="module")
def trained(
    backbone: Backbone, data: PairData, pixels: np.ndarray, tmp_path_factory: pytest.TempPathFactory
) -> tuple[MSCI, Path, list[list[float]]]:
    """A trained method, its folder, and the learning rates of each epoch's steps."""
    rates: list[list[float]] = [[] for _ in range(SETTINGS["epochs"])]
    right = PairTraining.training_step

    def watch(self: PairTraining, batch: list[torch.Tensor], number: int) -> torch.Tensor:
        rates[self.trainer.current_epoch].append(self.trainer.optimizers[0].param_groups[0]["lr"])
        return right(self, batch, number)

    folder = tmp_path_factory.mktemp("trained")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PairTraining, "training_step", watch)
        method = run(backbone, data, pixels, folder)
    return method, folder, rates


def test_training_lowers_the_loss_and_raises_the_auc(backbone, data, pixels, trained) -> None:
    untrained = new(backbone, data)
    assert loss(trained[0], data, pixels) < 0.5 * loss(untrained, data, pixels)
    assert auc(trained[0], data, pixels) > auc(untrained, data, pixels) + 0.3


def test_the_learning_rate_is_halved_every_so_many_epochs(trained) -> None:  # type: ignore[no-untyped-def]
    assert trained[2] == [[rate] * 4 for rate in (2e-3, 2e-3, 1e-3, 1e-3, 5e-4)]


def test_augmented_training_is_determined_by_its_seed_and_sees_other_images(backbone, data, pixels, tmp_path) -> None:
    files = []
    for name, augment in (("a", True), ("b", True), ("plain", False)):
        run(backbone, data, pixels, tmp_path / name, epochs=1, augment=augment)
        files.append((tmp_path / name / CHECKPOINT).read_bytes())
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_a_last_batch_of_one_image_is_joined_to_the_one_before(backbone, data, pixels, tmp_path) -> None:
    method = run(backbone, data, pixels, tmp_path, epochs=1, batch_size=59)  # of 60 images
    assert torch.isfinite(method.of_state[1].running_var).all()
