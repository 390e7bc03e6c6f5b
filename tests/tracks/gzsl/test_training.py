"""What trains and what chooses, resuming, what a run leaves, and the metrics of its evaluation."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from recompose.tracks.building import CHECKPOINT, COSTS
from recompose.tracks.gzsl import training
from recompose.tracks.gzsl.building import BEST_ACCURACY, SELECTION
from recompose.tracks.gzsl.data.stages import _held_out, selection_stage
from recompose.tracks.gzsl.evaluation import _validation_uncertainty, evaluate
from recompose.tracks.gzsl.methods.ale_devise_sje import ALE
from recompose.tracks.gzsl.methods.crest import CREST
from recompose.tracks.gzsl.methods.eszsl import ESZSL
from recompose.tracks.gzsl.methods.settings import ClassTrainingSettings
from recompose.tracks.gzsl.metric_values import compute_metrics, read_metrics
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY, ClassScores
from tests.calls import watch
from tests.precision import cosine_error
from tests.tracks.documents import document, recipe_of
from tests.tracks.gzsl.methods.tiny import CREST_SETTINGS
from tests.tracks.gzsl.tiny import ATTRIBUTES, BILINEAR, CHANNELS, RATES, REGIONS, class_data, grids_of, write

DATA = class_data()


@pytest.mark.parametrize("seed", [0, 1, 7])
def test_what_chooses_by_validation_has_no_image_of_the_test_and_no_unseen_class(seed: int) -> None:
    stage = selection_stage(DATA, seed)
    for rows in (stage.rows, stage.chooses):
        assert all(DATA.splits[row] == "trainval" for row in rows)
        assert all(DATA.seen[DATA.labels[row]] for row in rows)
    assert all(DATA.seen[each] for each in stage.classes)
    assert not set(stage.rows) & set(stage.chooses)
    assert set(stage.rows) | set(stage.chooses) == set(DATA.rows("trainval"))


def test_targets_are_places_among_the_classes_of_a_stage() -> None:
    """The seen classes come last here, so that these places are not the labels."""
    turned = {"labels": len(DATA.seen) - 1 - DATA.labels, "seen": DATA.seen[::-1], "validation": DATA.validation[::-1]}
    data = replace(DATA, **turned)
    stage = selection_stage(data, 3)
    assert np.array_equal(stage.classes[stage.targets(data, stage.chooses)], data.labels[stage.chooses])


def test_a_fifth_of_each_class_is_held_out_at_least_one_but_of_a_single_image_none() -> None:
    counts = {images: len(_held_out(np.arange(images), 0)) for images in (1, 2, 9, 10, 14, 15)}
    assert counts == {1: 0, 2: 1, 9: 1, 10: 2, 14: 2, 15: 3}
    first, again, other = (selection_stage(DATA, seed) for seed in (0, 0, 1))
    assert np.array_equal(first.rows, again.rows) and not np.array_equal(first.rows, other.rows)
    assert {*DATA.labels[first.chooses]} == {*np.flatnonzero(DATA.seen)}


ALE_SETTINGS = {**BILINEAR, "training": {**RATES, "epochs": 4, "selection": "validation"}}
AS_RELEASED = {
    **BILINEAR,
    "training": {**RATES, "epochs": 4, "selection": "test-as-released"},
    "scoring": {"bias": 0.1},
}
ESZSL_SETTINGS = {
    "feature_weight": 1.0,
    "class_weight": 1.0,
    "labels": "one-hot",
    "normalisation": "length",
    "training": {"selection": "validation"},
}


def trained(folder: Path, settings: dict[str, Any], method: type = ALE) -> Path:
    """The folder of a run."""
    needs, run = write(folder, DATA, grids_of(DATA)), folder / "run"
    run.mkdir()
    assert training.train(recipe_of(document(method, settings)), needs, run)
    return run


@pytest.mark.slow
def test_images_of_validation_choose_and_do_not_train_before_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown: list[tuple[int, torch.Tensor]] = []

    def see(run: Any, batch: Any, _: Any) -> None:
        shown.append((len(run.method.seen), batch[0]))

    watch(monkeypatch, training.ClassTraining, "training_step", see)
    trained(tmp_path, ALE_SETTINGS)
    grids = grids_of(DATA)
    of_validation = {grids[row].tobytes() for row in DATA.validation_rows}
    in_first = {each.numpy().tobytes() for classes, batch in shown if classes == DATA.seen.sum() for each in batch}
    in_last = {each.numpy().tobytes() for classes, batch in shown if classes == len(DATA.seen) for each in batch}
    assert not in_first & of_validation
    assert of_validation <= in_last
    assert in_last == {grids[row].tobytes() for row in DATA.rows("trainval")}


@pytest.mark.slow
def test_the_epoch_with_the_best_harmonic_mean_is_chosen_and_trained_anew(tmp_path: Path) -> None:
    run = trained(tmp_path, ALE_SETTINGS)
    selection = json.loads((run / SELECTION).read_text())
    values = [epoch["harmonic_mean"] for epoch in selection["epochs"]]
    assert len(values) == 4
    assert selection["chosen"]["epoch"] == 1 + values.index(max(values))
    shorter = {**ALE_SETTINGS, "training": {**ALE_SETTINGS["training"], "epochs": selection["chosen"]["epoch"]}}
    again = trained(tmp_path / "b", shorter)
    assert (again / CHECKPOINT).read_bytes() == (run / CHECKPOINT).read_bytes()


def scores_of_test(path: Path) -> np.ndarray:
    """Bilinear scores of a checkpoint for images of the test, by loops."""
    scores, w = [], load_file(path)["method.W"].double().numpy()
    for grid in grids_of(DATA)[DATA.splits != "trainval"].astype(np.float64):
        mean = grid.mean(axis=0)
        scores.append([(mean / np.linalg.norm(mean)) @ w @ z for z in DATA.signatures])
    return np.array(scores)


def error_of_scores(w: np.ndarray) -> float:
    """Return what scores are off in 32 bits: features and classes have length 1, and sums are over three axes."""
    return cosine_error(REGIONS + CHANNELS + ATTRIBUTES) * float(np.linalg.norm(w))


def assert_scores(scores: np.ndarray, path: Path) -> None:
    """Make sure that scores of the test are those of a checkpoint."""
    error = error_of_scores(load_file(path)["method.W"].numpy())
    np.testing.assert_allclose(scores, scores_of_test(path), rtol=0, atol=error)


@pytest.mark.slow
def test_a_bias_in_closed_form_is_chosen_on_what_the_map_was_not_solved_with(tmp_path: Path) -> None:
    run = trained(tmp_path, ESZSL_SETTINGS, method=ESZSL)
    selection = json.loads((run / SELECTION).read_text())["chosen"]
    assert json.loads((run / COSTS).read_text())["epoch_seconds"] > 0
    stage = selection_stage(DATA, 0)
    grids = grids_of(DATA).astype(np.float64)
    x = np.array([grid.mean(axis=0) / np.linalg.norm(grid.mean(axis=0)) for grid in grids])
    shown = [place for place, index in enumerate(stage.classes) if not DATA.validation[index]]
    signatures = DATA.signatures[stage.classes].astype(np.float64)
    y = np.array([[1.0 if DATA.labels[row] == stage.classes[place] else 0.0 for place in shown] for row in stage.rows])
    s, features = signatures[shown], x[stage.rows]
    left = np.linalg.inv(features.T @ features + np.eye(features.shape[1]))
    solved = left @ features.T @ y @ s @ np.linalg.inv(s.T @ s + np.eye(s.shape[1]))
    scores = x[stage.chooses] @ solved @ signatures.T
    targets = np.array([list(stage.classes).index(DATA.labels[row]) for row in stage.chooses])
    seen = np.array([not DATA.validation[index] for index in stage.classes])
    assert selection["bias"] == pytest.approx(best_bias(scores, targets, seen), abs=2 * error_of_scores(solved))


@pytest.mark.slow
def test_balanced_training_sees_equally_many_images_of_each_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[np.ndarray] = []
    watch(monkeypatch, training.ClassTraining, "training_step", lambda _, batch, __: seen.append(batch[1].numpy()))
    balanced = {**ALE_SETTINGS["training"], "optimizer": "sgd", "balanced": True}
    trained(tmp_path / "balanced", {**ALE_SETTINGS, "training": balanced})
    assert seen and all(len({*np.unique(labels, return_counts=True)[1].tolist()}) == 1 for labels in seen)


@pytest.mark.slow
def test_the_selection_is_written_after_what_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is there, a run that was killed does not select again."""
    has_uncertainty: list[bool] = []

    def see(path: Any, _: Any) -> None:
        has_uncertainty.append((path.parent / UNCERTAINTY).exists())

    watch(monkeypatch, training, "write_json", see)
    settings = {"training": {**RATES, "epochs": 1, "selection": "validation"}, "scoring": {"bias": 0.0}}
    trained(tmp_path, CREST_SETTINGS | settings, method=CREST)
    assert has_uncertainty == [True]


@pytest.mark.slow
def test_rates_and_momentum_are_those_of_settings() -> None:
    for name, kind in (("adam", torch.optim.Adam), ("rmsprop", torch.optim.RMSprop), ("sgd", torch.optim.SGD)):
        changed = {"optimizer": name, "momentum": 0.9, "lr": 0.1, "weight_decay": 0.01}
        settings = ClassTrainingSettings.model_validate({**RATES, **changed, "epochs": 1, "selection": "validation"})
        optimizer = training.optimizer_of([torch.nn.Parameter(torch.ones(2))], settings)
        (group,) = optimizer.param_groups
        assert type(optimizer) is kind
        assert (group["lr"], group["weight_decay"], group.get("momentum", 0.9)) == (0.1, 0.01, 0.9)


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
@pytest.mark.parametrize("settings", [ALE_SETTINGS, AS_RELEASED], ids=["validation", "test-as-released"])
def test_an_evaluation_has_the_scores_and_biases_of_its_run(tmp_path: Path, settings: dict[str, Any]) -> None:
    """Where the test chooses, those of the epoch with the best harmonic mean, and of the most accurate one."""
    run = trained(tmp_path, settings)
    needs = {name: tmp_path / name for name in ("data", "grids", "run")}
    (tmp_path / "evaluation").mkdir()
    evaluation = document(ALE, BILINEAR | {"scoring": {"bias": 0.1}})
    evaluate({tmp_path / "evaluation": recipe_of(evaluation)}, needs)
    scores, selection = ClassScores.read(tmp_path / "evaluation"), json.loads((run / SELECTION).read_text())
    assert_scores(scores.all, run / CHECKPOINT)
    biases = {"own": 0.1, "none": 0.0}
    if settings is ALE_SETTINGS:
        assert "accuracy" not in scores.arrays
        biases["validated"] = selection["chosen"]["bias"]
    else:
        assert_scores(scores.arrays["accuracy"], run / BEST_ACCURACY)
        for own, number in ((scores.all, "harmonic_mean"), (scores.arrays["accuracy"], "accuracy")):
            best = max(epoch[number] for epoch in selection["epochs"])
            assert getattr(gzsl_report(own, LABELS, DATA.seen, 0.1), number) == pytest.approx(best)
    assert scores.biases == biases
    assert read_metrics(needs, tmp_path / "evaluation") == compute_metrics(DATA, scores)
