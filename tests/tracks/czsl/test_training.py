"""A run: it learns, it is determined by its document, and it keeps its best epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import pytorch_lightning as pl
import torch
from safetensors.torch import load_file
from torch import Tensor

from recompose.backbones.clip import Backbone, load_backbone
from recompose.errors import ArgumentError
from recompose.tracks.building import CHECKPOINT, SCORES
from recompose.tracks.czsl.data.pairs import PairData
from recompose.tracks.czsl.evaluation import evaluate
from recompose.tracks.czsl.methods.base import TrainingPrior
from recompose.tracks.czsl.methods.clip_coop_csp import CSP
from recompose.tracks.czsl.methods.settings import (
    PairSelection,
    PairTrainingSettings,
    ThreePathScoring,
    ThreePathTraining,
)
from recompose.tracks.czsl.methods.three_path import CSO
from recompose.tracks.czsl.metric_values import read_metrics
from recompose.tracks.czsl.scoring import feasibility_by_text, score_method
from recompose.tracks.czsl.training import PairTraining, fit_method, train
from recompose.training.best import BestEpoch
from recompose.training.checkpoint import restore
from tests.errors import raises
from tests.tracks.czsl.methods.derivations import method_of, random_images, settings_of
from tests.tracks.czsl.tiny import (
    CPU,
    TowerTuningCSP,
    evaluation_document,
    pairs_in_turns,
    run_document,
    write_inputs,
)

pytestmark = pytest.mark.slow

STATES, OBJECTS = ["blue", "red", "striped"], ["circle", "moon", "star"]
SEEN = [("blue", "circle"), ("red", "moon"), ("striped", "star"), ("blue", "moon"), ("red", "circle")]
UNSEEN = [("striped", "circle"), ("blue", "star")]
TRAINING: dict[str, Any] = {"lr": 0.02, "weight_decay": 1e-5, "batch_size": 20, "accumulate": 1, "epochs": 4}
OWN: dict[str, Any] = {"prompt": "a photo of {state} {object}", "dropout": 0.1}
BY_TEXT = {"vectors": "backbone", "prompt": "a photo of {name}"}
SELECTION: dict[str, Any] = {"fusion": "probabilities", "weights": [0.7, 0.3]}
THREE_PATH: dict[str, Any] = {"halve_every": 1, "augment": False, "selection": SELECTION}


@pytest.fixture(scope="module")
def data() -> PairData:
    pairs = {"train": SEEN, "val": [*SEEN[:2], *UNSEEN[:1]], "test": [*SEEN[2:4], *UNSEEN[1:]]}
    return pairs_in_turns(pairs, train=90, val=45, test=45)


@pytest.fixture(scope="module")
def features(backbone: Backbone, data: PairData) -> np.ndarray:
    """Embeddings in which a state and an object each have a direction of their own, under noise."""
    rng = np.random.default_rng(1)
    axes = rng.normal(size=(6, backbone.width))
    rows = [
        axes[STATES.index(s.state)] + axes[3 + OBJECTS.index(s.object)] + rng.normal(size=backbone.width)
        for s in data.samples
    ]
    return np.array(rows, dtype=np.float32)


@pytest.fixture(scope="module")
def pixels(data: PairData) -> np.ndarray:
    return random_images(len(data.samples)).numpy()


@pytest.fixture(scope="module")
def needs(
    backbone: Backbone,
    data: PairData,
    features: np.ndarray,
    pixels: np.ndarray,
    tmp_path_factory: pytest.TempPathFactory,
) -> dict[str, Path]:
    return write_inputs(tmp_path_factory.mktemp("inputs"), backbone, data, features, pixels)


def run(
    needs: dict[str, Path],
    folder: Path,
    method: type = CSP,
    own: dict[str, Any] = OWN,
    *,
    seed: int = 0,
    precision: str = "32-true",
    **changed: Any,
) -> Path:
    """A run's checkpoint."""
    settings = own | {"training": TRAINING | changed}
    assert train(run_document(method, settings, seed=seed, precision=precision), needs, folder, CPU, "t")
    return folder / CHECKPOINT


def metrics(needs: dict[str, Path], folder: Path, run: Path | None = None) -> dict[str, float]:
    """Of CSP, as a run left it, or untrained."""
    folder.mkdir()
    evaluate(evaluation_document(CSP, OWN), needs | ({"run": run} if run else {}), folder, CPU, "t")
    return read_metrics(needs["data"], folder)


def test_training_raises_the_auc_of_pairs_it_never_saw(needs: dict[str, Path], tmp_path: Path) -> None:
    run(needs, tmp_path / "run")
    before, after = metrics(needs, tmp_path / "before"), metrics(needs, tmp_path / "after", tmp_path / "run")
    assert after["test/closed/dense/auc"] > before["test/closed/dense/auc"] + 0.2
    assert after["test/closed/dense/harmonic_mean"] > before["test/closed/dense/harmonic_mean"]


def test_the_checkpoint_is_that_of_the_best_epoch(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    aucs: list[float] = []
    right = BestEpoch.on_validation_end

    def watch(self: BestEpoch, trainer: Any, module: Any) -> None:
        aucs.append(float(trainer.callback_metrics["val_auc"]))
        right(self, trainer, module)

    monkeypatch.setattr(BestEpoch, "on_validation_end", watch)
    stored = load_file(run(needs, tmp_path / "run", lr=0.3, epochs=5))
    actual = metrics(needs, tmp_path / "evaluation", tmp_path / "run")
    assert actual["val/closed/dense/auc"] == pytest.approx(max(aucs), abs=1e-6)
    assert set(stored) == {"method.primitives"}


def test_accumulated_batches_make_one_step(needs: dict[str, Path], tmp_path: Path) -> None:
    """Without dropout, two batches of 45 and one of 90 give the same gradient."""
    own = OWN | {"dropout": 0.0}
    one, two = (
        load_file(run(needs, tmp_path / str(size), own=own, batch_size=size, accumulate=90 // size, epochs=1, lr=1e-3))[
            "method.primitives"
        ]
        for size in (90, 45)
    )
    torch.testing.assert_close(one, two, atol=1e-4, rtol=0)


def test_the_document_decides_the_precision_and_scores_are_in_full(
    needs: dict[str, Path], backbone: Backbone, data: PairData, features: np.ndarray, tmp_path: Path
) -> None:
    trained = load_file(run(needs, tmp_path / "run", precision="bf16-mixed"))["method.primitives"]
    assert trained.dtype == torch.float32
    assert not torch.equal(trained, load_file(run(needs, tmp_path / "full"))["method.primitives"])
    method = method_of(CSP, backbone, data.states, data.objects, **OWN)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        texts = method.encode_pairs(torch.from_numpy(data.indices(data.pairs)))
        assert method.logits(torch.from_numpy(features[:3]), texts).dtype == torch.float32
    assert metrics(needs, tmp_path / "evaluation", tmp_path / "run")["test/closed/dense/auc"] > 0.5


def test_validation_is_in_full_precision_as_the_test_is(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mixed: list[tuple[str, bool]] = []
    for name in ("encode_pairs", "encode_images"):
        original = getattr(CSP, name)

        def watch(self: CSP, given: Tensor, original: Any = original) -> Tensor:
            mixed.append(("training" if self.training else "validation", torch.is_autocast_enabled("cpu")))
            return original(self, given)

        monkeypatch.setattr(CSP, name, watch)
    run(needs, tmp_path / "run", precision="bf16-mixed", epochs=1)
    assert {mode for mode, _ in mixed} == {"training", "validation"}
    assert all(is_mixed == (mode == "training") for mode, is_mixed in mixed if mode == "validation")
    assert ("training", True) in mixed


def test_selection_needs_images_of_seen_and_of_unseen_pairs(
    backbone: Backbone, data: PairData, features: np.ndarray, tmp_path: Path
) -> None:
    seen = set(data.pairs_of["train"])
    is_left = [s.split != "val" or (s.state, s.object) in seen for s in data.samples]
    samples = [sample for sample, left in zip(data.samples, is_left, strict=True) if left]
    fewer = write_inputs(tmp_path / "inputs", backbone, PairData(data.pairs_of, samples), features[is_left])
    with raises(ArgumentError, code="no-auc", place="data"):
        run(fewer, tmp_path / "run")


# methods with settings of scores


def test_an_epoch_is_selected_by_the_fusion_and_the_weights_of_training(
    needs: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    used: list[Any] = []
    right = PairTraining.on_validation_epoch_end

    def watch(self: PairTraining) -> None:
        assert isinstance(self.method, CSO)
        used.append(self.method.scoring)
        right(self)

    monkeypatch.setattr(PairTraining, "on_validation_epoch_end", watch)
    run(needs, tmp_path, CSO, settings_of("c-s-o"), epochs=1, **THREE_PATH)
    assert used == [PairSelection(**SELECTION)]


# what runs of one process share


def test_a_method_that_tunes_towers_leaves_the_next_run_its_pristine_ones(
    needs: dict[str, Path], tmp_path: Path
) -> None:
    plain = run(needs, tmp_path / "plain").read_bytes()
    tuned = run(needs, tmp_path / "tuned", TowerTuningCSP).read_bytes()
    stored = load_file(tmp_path / "tuned" / CHECKPOINT)
    pristine = load_backbone(needs["backbone"]).model.text_projection
    assert set(stored) == {"method.primitives", "method.backbone.model.text_projection"}
    assert not torch.equal(stored["method.backbone.model.text_projection"], pristine)
    assert run(needs, tmp_path / "plain again").read_bytes() == plain
    assert run(needs, tmp_path / "tuned again", TowerTuningCSP).read_bytes() == tuned


# the same numbers as by its parts


@pytest.mark.parametrize(
    ("kind", "own", "sees"),
    [(CSP, OWN, "embeddings"), (CSO, settings_of("c-s-o", disentangler_dropout=0.2), "pixels")],
)
def test_a_run_and_its_evaluation_are_what_their_parts_give(
    needs: dict[str, Path],
    data: PairData,
    features: np.ndarray,
    pixels: np.ndarray,
    tmp_path: Path,
    kind: Any,
    own: dict[str, Any],
    sees: str,
) -> None:
    """Seeded, built, given what it may know, trained, brought to its best epoch and scored, by a process of its own
    steps.
    """
    of_three_paths = kind is CSO
    scoring: dict[str, Any] = {"fusion": "probabilities", "closed": [0.7, 0.3], "open": [0.2, 0.8]}
    changed = {"epochs": 2} | (THREE_PATH if of_three_paths else {})
    training = (ThreePathTraining if of_three_paths else PairTrainingSettings)(**(TRAINING | changed))
    inputs = {"embeddings": features, "pixels": pixels}[sees]
    # of its own towers: frozen parameters take another path through PyTorch's attention, with other last bits
    feasibility = feasibility_by_text(data, load_backbone(needs["backbone"]), BY_TEXT["prompt"], CPU.device)
    towers = load_backbone(needs["backbone"])
    pl.seed_everything(3, verbose=False)
    method = method_of(kind, towers, data.states, data.objects, **own)
    pairs, rows = torch.from_numpy(data.indices(data.pairs)), data.rows("train")
    labels: Tensor = pairs[torch.from_numpy(data.targets("train", data.pairs))]
    method.prepare(TrainingPrior(pairs, torch.from_numpy(features[rows]), labels))
    method.set_scoring(ThreePathScoring(**scoring) if of_three_paths else None)
    (tmp_path / "parts" / "scratch").mkdir(parents=True)
    fit_method(method, data, inputs, tmp_path / "parts", CPU, training, title="t", seed=3)
    restore(method, tmp_path / "parts" / CHECKPOINT)
    (scores,) = score_method(method, data, inputs, CPU.device, [method.scoring], feasibility)
    scores.write(tmp_path / "parts" / SCORES)

    run(needs, tmp_path / "run", kind, own, seed=3, **changed)
    assert (tmp_path / "run" / CHECKPOINT).read_bytes() == (tmp_path / "parts" / CHECKPOINT).read_bytes()
    of_scores = {"scoring": scoring} if of_three_paths else {}
    document = evaluation_document(kind, own | of_scores, seed=3, feasibility=BY_TEXT)
    (tmp_path / "evaluation").mkdir()
    evaluate(document, needs | {"run": tmp_path / "run"}, tmp_path / "evaluation", CPU, "t")
    assert (tmp_path / "evaluation" / SCORES).read_bytes() == (tmp_path / "parts" / SCORES).read_bytes()
