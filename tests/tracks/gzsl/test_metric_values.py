"""Metrics of an evaluation against loops over images, and the scores and biases that an evaluation of a run has."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from recompose.tracks.building import CHECKPOINT
from recompose.tracks.gzsl.building import BEST_ACCURACY, SELECTION
from recompose.tracks.gzsl.evaluation import _validation_uncertainty, evaluate
from recompose.tracks.gzsl.metric_values import compute_metrics, read_metrics
from recompose.tracks.gzsl.metrics import gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY, ClassScores
from recompose.tracks.gzsl.training import train
from tests.tracks.gzsl.test_training import ALE, AS_RELEASED, CPU, scores_of
from tests.tracks.gzsl.tiny import BILINEAR, class_data, document, grids_of, write

DATA = class_data()
LABELS = DATA.labels[DATA.test_rows]


def test_numbers_are_those_of_reports_and_of_loops_over_images(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    first, second, path = (rng.normal(size=(len(LABELS), len(DATA.seen))).astype(np.float32) for _ in range(3))
    uncertainty, biases = rng.random(len(LABELS)), {"own": 0.4, "validated": -0.1, "none": 0.0}
    validation = {"first": 0.75, "last": 0.25}
    arrays = {"all": first, "accuracy": second, "paths/vgt": path, "uncertainties/fused": uncertainty}
    ClassScores(arrays, biases, validation).write(tmp_path)
    metrics = compute_metrics(DATA, ClassScores.read(tmp_path))
    for name, bias in biases.items():
        report = gzsl_report(first, LABELS, DATA.seen, bias)
        for number in ("unseen", "seen", "harmonic_mean"):
            assert metrics[f"test/{name}/{number}"] == getattr(report, number)
    assert metrics["test/accuracy"] == gzsl_report(second, LABELS, DATA.seen).accuracy
    assert metrics["test/paths/vgt/accuracy"] == gzsl_report(path, LABELS, DATA.seen).accuracy
    hard, seen = DATA.hard[DATA.test_rows], DATA.seen[LABELS]
    for group, rows in {"seen": seen, "unseen": ~seen, "hard": hard, "clean": ~hard}.items():
        values = [value for value, member in zip(uncertainty, rows, strict=True) if member]
        assert metrics[f"test/uncertainty/fused/{group}"] == pytest.approx(sum(values) / len(values))
    assert {epoch: metrics[f"val/uncertainty/fused/{epoch}"] for epoch in validation} == validation


def test_uncertainties_of_validation_are_means_over_images_after_the_first_and_the_last_epoch(tmp_path: Path) -> None:
    save_file({"uncertainty": torch.tensor([[0.0, 0.5], [0.75, 0.75], [1.0, 0.0]])}, tmp_path / UNCERTAINTY)
    assert _validation_uncertainty(tmp_path) == {"first": 0.25, "last": 0.5}


@pytest.mark.slow
@pytest.mark.parametrize("settings", [ALE, AS_RELEASED], ids=["validation", "test-as-released"])
def test_an_evaluation_has_the_scores_and_biases_of_its_run(tmp_path: Path, settings: dict[str, Any]) -> None:
    needs = write(tmp_path, DATA, grids_of(DATA)) | {"run": tmp_path / "run"}
    for name in ("run", "evaluation"):
        (tmp_path / name).mkdir()
    assert train(document("ale_devise_sje:ALE", settings), needs, needs["run"], CPU, "a run")
    evaluation = document("ale_devise_sje:ALE", BILINEAR | {"scoring": {"bias": 0.1}}) | {"threads": 1, "save": []}
    evaluate({tmp_path / "evaluation": evaluation}, needs, CPU, "an evaluation")
    scores = ClassScores.read(tmp_path / "evaluation")
    is_test = DATA.splits != "trainval"
    np.testing.assert_allclose(scores.all, scores_of(DATA, load_file(needs["run"] / CHECKPOINT), is_test), atol=1e-5)
    biases = {"own": 0.1, "none": 0.0}
    if settings is ALE:
        assert "accuracy" not in scores.arrays
        biases["validated"] = json.loads((needs["run"] / SELECTION).read_text())["chosen"]["bias"]
    else:
        state = load_file(needs["run"] / BEST_ACCURACY)
        np.testing.assert_allclose(scores.arrays["accuracy"], scores_of(DATA, state, is_test), atol=1e-5)
    assert scores.biases == biases
    assert read_metrics(needs["data"], tmp_path / "evaluation") == compute_metrics(DATA, scores)
