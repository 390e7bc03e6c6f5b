"""Training of pair methods: it learns, it is determined by its seed, and it keeps its best epoch."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from recompose.backbones.clip import Backbone, build
from recompose.tracks.czsl.data.pairs import PairData, Sample
from recompose.tracks.czsl.methods.csp import CSP
from recompose.tracks.czsl.metrics.czsl import report_of
from recompose.tracks.czsl.metrics.worlds import evaluate, measured
from recompose.tracks.czsl.training import CHECKPOINT, KeepBest, scorer_of, train
from recompose.training.loop import Hardware

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)
STATES, OBJECTS = ["blue", "red", "striped"], ["circle", "moon", "star"]
SEEN = [("blue", "circle"), ("red", "moon"), ("striped", "star"), ("blue", "moon"), ("red", "circle")]
UNSEEN = [("striped", "circle"), ("blue", "star")]
SETTINGS: dict[str, Any] = {"lr": 0.02, "weight_decay": 1e-5, "batch_size": 20, "accumulate": 1, "epochs": 4}


@pytest.fixture(scope="module")
def backbone() -> Backbone:
    torch.manual_seed(0)
    return build("shapes-clip", "gelu").eval()


@pytest.fixture(scope="module")
def data() -> PairData:
    pairs = {"train": SEEN, "val": [*SEEN[:2], *UNSEEN[:1]], "test": [*SEEN[2:4], *UNSEEN[1:]]}
    samples = [
        Sample(f"{split}{index}.png", *pairs[split][index % len(pairs[split])], split)
        for split, count in (("train", 90), ("val", 45), ("test", 45))
        for index in range(count)
    ]
    return PairData(pairs, samples)


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


def run(backbone: Backbone, data: PairData, features: np.ndarray, folder: Path, seed: int = 0, **changed: Any) -> CSP:
    (folder / "scratch").mkdir(parents=True, exist_ok=True)
    torch.manual_seed(seed)
    method = CSP(backbone, data.states, data.objects, prompt="a photo of {state} {object}", dropout=0.1)
    train(method, data, features, folder, CPU, title="t", seed=seed, **(SETTINGS | changed))
    return method


def numbers(method: CSP, data: PairData, features: np.ndarray) -> dict[str, Any]:
    return measured(data, evaluate(data, scorer_of(method, data, features, CPU.device)))


def test_training_raises_the_auc_of_pairs_it_never_saw(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    untrained = CSP(backbone, data.states, data.objects, prompt="a photo of {state} {object}", dropout=0.1)
    before = numbers(untrained, data, features)["test/closed"]["dense"]
    after = numbers(run(backbone, data, features, tmp_path), data, features)["test/closed"]["dense"]
    assert after["auc"] > before["auc"] + 0.2
    assert after["harmonic_mean"] > before["harmonic_mean"]


def test_the_same_seed_gives_the_same_bytes_and_another_does_not(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    files = []
    for name, seed in (("a", 0), ("b", 0), ("c", 1)):
        run(backbone, data, features, tmp_path / name, seed)
        files.append((tmp_path / name / CHECKPOINT).read_bytes())
    assert files[0] == files[1]
    assert files[0] != files[2]


def test_the_method_ends_at_the_best_epoch_s_checkpoint(backbone, data, features, tmp_path, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    aucs: list[float] = []
    right = KeepBest.on_validation_end

    def watch(self: KeepBest, trainer: Any, module: Any) -> None:
        aucs.append(float(trainer.callback_metrics["val_auc"]))
        right(self, trainer, module)

    monkeypatch.setattr(KeepBest, "on_validation_end", watch)
    method = run(backbone, data, features, tmp_path, lr=0.3, epochs=5)
    kept = report_of(evaluate(data, scorer_of(method, data, features, CPU.device)).best("val", "closed")).auc
    assert kept == pytest.approx(max(aucs), abs=1e-6)
    stored = load_file(tmp_path / CHECKPOINT)
    assert set(stored) == {"method.primitives"}
    assert torch.equal(stored["method.primitives"], method.primitives.detach())


def test_a_run_killed_after_its_training_ends_with_the_same_checkpoint(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    run(backbone, data, features, tmp_path)
    whole = (tmp_path / CHECKPOINT).read_bytes()
    (tmp_path / CHECKPOINT).unlink()
    method = run(backbone, data, features, tmp_path)
    assert (tmp_path / CHECKPOINT).read_bytes() == whole
    assert torch.equal(load_file(tmp_path / CHECKPOINT)["method.primitives"], method.primitives.detach())


def test_accumulated_batches_make_one_step(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    """Without dropout, two batches of 45 and one of 90 give the same gradient."""
    found = []
    for name, size, accumulate in (("one", 90, 1), ("two", 45, 2)):
        (tmp_path / name / "scratch").mkdir(parents=True)
        method = CSP(backbone, data.states, data.objects, prompt="a photo of {state} {object}", dropout=0.0)
        settings = SETTINGS | {"batch_size": size, "accumulate": accumulate, "epochs": 1, "lr": 1e-3}
        train(method, data, features, tmp_path / name, CPU, title="t", seed=0, **settings)
        found.append(method.primitives.detach().clone())
    torch.testing.assert_close(found[0], found[1], atol=1e-4, rtol=0)


def test_mixed_precision_trains_and_scores_in_full(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "scratch").mkdir()
    method = CSP(backbone, data.states, data.objects, prompt="a photo of {state} {object}", dropout=0.1)
    before = method.primitives.detach().clone()
    mixed = Hardware(precision="bf16-mixed", accelerator="cpu", devices=1)
    train(method, data, features, tmp_path, mixed, title="t", seed=0, **SETTINGS)
    assert method.primitives.dtype == torch.float32
    assert not torch.equal(method.primitives, before)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        texts = method.encode_pairs(torch.from_numpy(data.indices(data.pairs)))
        assert method.score(torch.from_numpy(features[:3]), texts).dtype == torch.float32
    assert numbers(method, data, features)["test/closed"]["dense"]["auc"] > 0.5


def test_selection_needs_images_of_seen_and_of_unseen_pairs(backbone, data, features, tmp_path) -> None:  # type: ignore[no-untyped-def]
    seen = set(data.pairs_of["train"])
    kept = [s.split != "val" or (s.state, s.object) in seen for s in data.samples]
    samples = [sample for sample, keep in zip(data.samples, kept, strict=True) if keep]
    with pytest.raises(ValueError, match="validation needs images of seen and of unseen pairs"):
        run(backbone, PairData(data.pairs_of, samples), features[kept], tmp_path)
