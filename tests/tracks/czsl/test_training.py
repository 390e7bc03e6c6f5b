"""A run: it learns, sees no image of the test, and stores its best epoch."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from recompose.backbones.clip import Backbone
from recompose.errors import ArgumentError
from recompose.tracks.building import CHECKPOINT
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import evaluate
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.settings import AugmentedTraining, PairSelection
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metric_values import read_metrics
from recompose.tracks.czsl.training import PairTraining, train
from recompose.training.loop import BestEpoch
from tests.calls import watch
from tests.errors import raises
from tests.precision import ROUNDING, default_dtype
from tests.tracks.czsl.methods.derivations import method_of, settings_of
from tests.tracks.czsl.tiny import pairs_in_turns, write_inputs
from tests.tracks.documents import document, recipe_of

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("in_64_bits")]

STATES, OBJECTS = ["blue", "red", "striped"], ["circle", "moon", "star"]
SEEN = [("blue", "circle"), ("red", "moon"), ("striped", "star"), ("blue", "moon"), ("red", "circle")]
UNSEEN = [("striped", "circle"), ("blue", "star")]
TRAINING: dict[str, Any] = {"lr": 0.02, "weight_decay": 1e-5, "batch_size": 20, "accumulate": 1, "epochs": 4}
OWN: dict[str, Any] = {"prompt": "a photo of {state} {object}", "dropout": 0.1}
SELECTION: dict[str, Any] = {"fusion": "probabilities", "weights": [0.7, 0.3]}
AUGMENTED: dict[str, Any] = {"halve_every": 1, "augment": False}


@pytest.fixture(scope="module")
def data() -> PairData:
    pairs = {"train": SEEN, "val": [*SEEN[:2], *UNSEEN[:1]], "test": [*SEEN[2:4], *UNSEEN[1:]]}
    return pairs_in_turns(pairs, train=90, val=45, test=45)


@pytest.fixture(scope="module")
def embeddings(backbone: Backbone, data: PairData) -> np.ndarray:
    """Embeddings in which a state and an object each have a direction of their own, under noise."""
    rng = np.random.default_rng(1)
    axes = rng.normal(size=(6, backbone.width))
    rows = [
        axes[STATES.index(s.state)] + axes[3 + OBJECTS.index(s.object)] + rng.normal(size=backbone.width)
        for s in data.samples
    ]
    return np.array(rows, dtype=np.float32)


def run(
    needs: dict[str, Path],
    folder: Path,
    method: type = CSP,
    own: dict[str, Any] = OWN,
    precision: str = "32-true",
    **changed: Any,
) -> dict[str, Tensor]:
    """Return the checkpoint of a run."""
    trained = document(method, own | {"training": TRAINING | changed}, precision=precision)
    assert train(recipe_of(trained), needs, folder)
    checkpoint: dict[str, Tensor] = load_file(folder / CHECKPOINT)
    return checkpoint


def metrics(needs: dict[str, Path], folder: Path, run: Path | None = None) -> dict[str, float]:
    """Return those of CSP, of a run's checkpoint or untrained."""
    folder.mkdir()
    evaluate({folder: recipe_of(document(CSP, OWN))}, needs | ({"run": run} if run else {}))
    return read_metrics(needs, folder)


def test_training_raises_the_auc_and_stores_the_best_epoch(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aucs: list[float] = []

    def see(_: Any, trainer: Any, __: Any) -> None:
        aucs.append(float(trainer.callback_metrics["val_auc"]))

    watch(monkeypatch, BestEpoch, "on_validation_end", see)
    assert set(run(needs, tmp_path / "run", lr=0.3, epochs=5)) == {"method.primitives"}
    before, after = metrics(needs, tmp_path / "before"), metrics(needs, tmp_path / "after", tmp_path / "run")
    assert after["val/closed/dense/auc"] == pytest.approx(max(aucs), rel=ROUNDING)  # Lightning keeps 32 bits
    assert after["test/closed/dense/auc"] > before["test/closed/dense/auc"] + 0.2


@default_dtype(torch.float32)
def test_the_document_decides_the_precision_of_training_and_validation_is_in_full(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed: set[tuple[bool, bool]] = set()

    def see(method: Any, _: Any) -> None:
        mixed.add((method.training, torch.is_autocast_enabled("cpu")))

    watch(monkeypatch, CSP, "encode_pairs", see)
    backbone = shutil.copytree(needs["backbone"], tmp_path / "backbone")  # the other one is kept, in 64 bits
    trained = run(needs | {"backbone": backbone}, tmp_path / "run", precision="bf16-mixed", epochs=1)
    assert trained["method.primitives"].dtype == torch.float32
    assert mixed == {(True, True), (False, False)}


def test_selection_needs_images_of_seen_and_of_unseen_pairs(
    backbone: Backbone, data: PairData, embeddings: np.ndarray, tmp_path: Path
) -> None:
    seen = set(data.pairs_of["train"])
    is_left = [s.split != "val" or (s.state, s.object) in seen for s in data.samples]
    samples = [sample for sample, left in zip(data.samples, is_left, strict=True) if left]
    fewer = write_inputs(tmp_path / "inputs", backbone, PairData(data.pairs_of, samples), embeddings[is_left])
    with raises(ArgumentError, code="no-auc", place="data"):
        run(fewer, tmp_path / "run")


def test_an_epoch_is_selected_by_the_fusion_and_the_weights_of_training(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorings: list[Any] = []
    watch(monkeypatch, PairTraining, "on_validation_epoch_end", lambda run: scorings.append(run.method.scoring))
    run(needs, tmp_path, CSO, settings_of("c-s-o"), epochs=1, selection=SELECTION, **AUGMENTED)
    assert scorings == [PairSelection(**SELECTION)]


def test_the_learning_rate_is_halved_every_so_many_epochs(backbone: Backbone, data: PairData) -> None:
    method = method_of(CSP, backbone, data.states, data.objects, **OWN)
    training = AugmentedTraining(**(TRAINING | AUGMENTED | {"halve_every": 2, "augment": True}))
    (optimizer,), (schedule,) = PairTraining(method, data, training).configure_optimizers()
    rates = []
    for _ in range(5):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        schedule.step()
    assert rates == pytest.approx([0.02, 0.02, 0.01, 0.01, 0.005])
