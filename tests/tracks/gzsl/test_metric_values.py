"""Metrics of an evaluation, from what a run leaves to numbers."""

import json
from pathlib import Path

import numpy as np
import pytest

from recompose.tracks.gzsl import GZSL, training
from recompose.tracks.gzsl.evaluation import evaluate
from recompose.tracks.gzsl.metric_values import compute_metrics, read_metrics
from recompose.tracks.gzsl.scores import ClassScores
from tests.tracks.gzsl.test_training import ALE, AS_RELEASED, CPU, scores_of
from tests.tracks.gzsl.tiny import class_data, document, grids_of, write

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module", params=["validation", "test-as-released"])
def scored(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The folders of a run and of its evaluation."""
    folder, data = tmp_path_factory.mktemp("scored"), class_data()
    needs = write(folder, data, grids_of(data)) | {"run": folder / "run", "evaluation": folder / "evaluation"}
    needs["run"].mkdir()
    needs["evaluation"].mkdir()
    settings = ALE if request.param == "validation" else AS_RELEASED
    training.train(document("ale_devise_sje:ALE", settings), needs, needs["run"], CPU, "a run")
    settings = {"margin": 0.1, "normalisation": "length", "violations": "all", "scoring": {"bias": 0.1}}
    evaluation = {**document("ale_devise_sje:ALE", settings), "threads": 1, "save": []}
    evaluate(evaluation, needs, needs["evaluation"], CPU, "an evaluation")
    return needs


def accuracy(scores: np.ndarray, labels: np.ndarray, wanted: np.ndarray, allowed: np.ndarray) -> float:
    """The mean over wanted classes of the share of their images whose best allowed class is theirs, by loops."""
    shares = []
    for label in np.flatnonzero(wanted):
        right = [
            max(np.flatnonzero(allowed), key=lambda index, row=row: scores[row, index]) == label
            for row in range(len(labels))
            if labels[row] == label
        ]
        if right:
            shares.append(sum(right) / len(right))
    return sum(shares) / len(shares)


def test_numbers_are_those_of_loops_over_images(scored: dict[str, Path]) -> None:
    from safetensors.torch import load_file

    data = class_data()
    rows = np.isin(np.arange(len(data.labels)), data.test_rows)
    scores = scores_of(data, load_file(scored["run"] / "checkpoint.safetensors"), rows)
    labels, everything = data.labels[rows], np.ones(len(data.seen), dtype=bool)
    metrics = read_metrics(scored["data"], scored["evaluation"])
    biases = {"own": 0.1, "none": 0.0}
    if (scored["run"] / "checkpoint-accuracy.safetensors").exists():  # nothing was chosen by validation
        assert not any(name.startswith("test/validated") for name in metrics)
    else:
        biases["validated"] = json.loads((scored["run"] / "selection.json").read_text())["chosen"]["bias"]
    for name, bias in biases.items():
        shifted = scores + bias * ~data.seen
        unseen, seen = (accuracy(shifted, labels, wanted, everything) for wanted in (~data.seen, data.seen))
        assert metrics[f"test/{name}/unseen"] == pytest.approx(unseen)
        assert metrics[f"test/{name}/seen"] == pytest.approx(seen)
        whole = 2 * unseen * seen / (unseen + seen) if unseen + seen else 0.0
        assert metrics[f"test/{name}/harmonic_mean"] == pytest.approx(whole)
    file = "checkpoint-accuracy.safetensors"
    if (scored["run"] / file).exists():
        scores = scores_of(data, load_file(scored["run"] / file), rows)
    assert metrics["test/accuracy"] == pytest.approx(accuracy(scores, labels, ~data.seen, ~data.seen))


def test_every_measure_is_described(scored: dict[str, Path]) -> None:
    for name in read_metrics(scored["data"], scored["evaluation"]):
        assert GZSL().metric(name).digits


def test_uncertainty_is_averaged_over_groups() -> None:
    data = class_data()
    rows = data.test_rows
    rng = np.random.default_rng(1)
    scores = rng.normal(size=(len(rows), len(data.seen))).astype(np.float32)
    values = rng.random(len(rows))
    all_of = ClassScores(scores, None, {"vgt": scores}, {"fused": values}, {"own": 0.0}, {"first": 0.75, "last": 0.25})
    metrics = compute_metrics(data, all_of)
    groups = {"seen": [], "unseen": [], "hard": [], "clean": []}
    for row, value in zip(rows, values, strict=True):
        groups["seen" if data.seen[data.labels[row]] else "unseen"].append(value)
        groups["hard" if data.hard[row] else "clean"].append(value)
    for group, of_group in groups.items():
        assert metrics[f"test/uncertainty/fused/{group}"] == pytest.approx(sum(of_group) / len(of_group))
    assert metrics["val/uncertainty/fused/first"] == 0.75
    assert metrics["val/uncertainty/fused/last"] == 0.25
    assert metrics["test/paths/vgt/accuracy"] == metrics["test/accuracy"]


def test_scores_are_read_as_they_were_written(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    first, second = (rng.normal(size=(3, 4)).astype(np.float32) for _ in range(2))
    ClassScores(first, second, {"agt": second}, {"agt": first[:, 0].copy()}, {"own": 1.0}, {}).write(tmp_path)
    read = ClassScores.read(tmp_path)
    assert np.array_equal(read.all, first)
    assert np.array_equal(read.accuracy, second)
    assert np.array_equal(read.paths["agt"], second)
    assert np.array_equal(read.uncertainties["agt"], first[:, 0])
    assert read.biases == {"own": 1.0}
