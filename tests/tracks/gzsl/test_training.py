"""Runs of the track: what trains and what chooses, resuming, and what is left in a folder."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from recompose.tracks.building import CHECKPOINT, COSTS
from recompose.tracks.gzsl import training
from recompose.tracks.gzsl.building import BEST_ACCURACY, SELECTION
from recompose.tracks.gzsl.data.classes import ClassData
from recompose.tracks.gzsl.data.stages import selection_stage
from recompose.tracks.gzsl.methods.settings import ClassTrainingSettings
from recompose.tracks.gzsl.metrics import best_bias, gzsl_report
from recompose.tracks.gzsl.scores import UNCERTAINTY
from recompose.training.hardware import Hardware
from tests.tracks.gzsl.methods.tiny import CREST_SETTINGS
from tests.tracks.gzsl.tiny import BILINEAR, RATES, class_data, document, grids_of, write

pytestmark = pytest.mark.slow

CPU = Hardware(precision="32-true", accelerator="cpu", devices=1)
ALE = {**BILINEAR, "training": {**RATES, "epochs": 4, "selection": "validation"}}
AS_RELEASED = {
    **BILINEAR,
    "training": {**RATES, "epochs": 4, "selection": "test-as-released"},
    "scoring": {"bias": 0.1},
}
ESZSL = {
    "feature_weight": 1.0,
    "class_weight": 1.0,
    "labels": "one-hot",
    "normalisation": "length",
    "training": {"selection": "validation"},
}


def trained(folder: Path, settings: dict[str, Any], method: str = "ale_devise_sje:ALE") -> Path:
    """The folder of a run."""
    data = class_data()
    needs = write(folder, data, grids_of(data))
    run = folder / "run"
    run.mkdir()
    assert training.train(document(method, settings), needs, run, CPU, "a run")
    return run


def test_images_of_validation_choose_and_do_not_train_before_they_have(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, shown = class_data(), []
    right = training.ClassTraining.training_step

    def watch(self: Any, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        shown.append((len(self.method.seen), batch[0]))
        return right(self, batch, index)

    monkeypatch.setattr(training.ClassTraining, "training_step", watch)
    trained(tmp_path, ALE)
    grids = grids_of(data)
    of_validation = {grids[row].tobytes() for row in data.validation_rows}
    in_first = {each.numpy().tobytes() for classes, batch in shown if classes == data.seen.sum() for each in batch}
    in_last = {each.numpy().tobytes() for classes, batch in shown if classes == len(data.seen) for each in batch}
    assert not in_first & of_validation
    assert of_validation <= in_last
    assert in_last == {grids[row].tobytes() for row in data.rows("trainval")}


def test_the_epoch_with_the_best_harmonic_mean_is_chosen_and_trained_anew(tmp_path: Path) -> None:
    run = trained(tmp_path, ALE)
    selection = json.loads((run / SELECTION).read_text())
    values = [epoch["harmonic_mean"] for epoch in selection["epochs"]]
    assert len(values) == 4
    assert selection["chosen"]["epoch"] == 1 + values.index(max(values))
    shorter = {**ALE, "training": {**ALE["training"], "epochs": selection["chosen"]["epoch"]}}
    again = trained(tmp_path / "b", shorter)
    assert (again / CHECKPOINT).read_bytes() == (run / CHECKPOINT).read_bytes()


def test_where_the_test_chooses_each_best_is_kept(tmp_path: Path) -> None:
    run = trained(tmp_path, AS_RELEASED)
    epochs = json.loads((run / SELECTION).read_text())["epochs"]
    data = class_data()
    rows = data.splits != "trainval"
    for file, number in ((CHECKPOINT, "harmonic_mean"), (BEST_ACCURACY, "accuracy")):
        report = gzsl_report(scores_of(data, load_file(run / file), rows), data.labels[rows], data.seen, 0.1)
        assert getattr(report, number) == pytest.approx(max(epoch[number] for epoch in epochs))


def scores_of(data: ClassData, state: dict[str, torch.Tensor], rows: np.ndarray) -> np.ndarray:
    """Bilinear scores, by loops."""
    scores = []
    for grid in grids_of(data)[rows].astype(np.float32):
        mean = grid.mean(axis=0)
        scores.append([(mean / np.linalg.norm(mean)) @ state["method.W"].numpy() @ z for z in data.signatures])
    return np.array(scores)


def test_a_bias_in_closed_form_is_chosen_on_what_the_map_was_not_solved_with(tmp_path: Path) -> None:
    run = trained(tmp_path, ESZSL, method="eszsl:ESZSL")
    selection = json.loads((run / SELECTION).read_text())["chosen"]
    assert json.loads((run / COSTS).read_text())["epoch_seconds"] > 0
    data = class_data()
    stage = selection_stage(data, 0)
    grids = grids_of(data).astype(np.float64)
    x = np.array([grid.mean(axis=0) / np.linalg.norm(grid.mean(axis=0)) for grid in grids])
    shown = [place for place, index in enumerate(stage.classes) if not data.validation[index]]
    signatures = data.signatures[stage.classes].astype(np.float64)
    y = np.array([[1.0 if data.labels[row] == stage.classes[place] else 0.0 for place in shown] for row in stage.rows])
    s, features = signatures[shown], x[stage.rows]
    left = np.linalg.inv(features.T @ features + np.eye(features.shape[1]))
    solved = left @ features.T @ y @ s @ np.linalg.inv(s.T @ s + np.eye(s.shape[1]))
    scores = x[stage.chooses] @ solved @ signatures.T
    targets = np.array([list(stage.classes).index(data.labels[row]) for row in stage.chooses])
    seen = np.array([not data.validation[index] for index in stage.classes])
    assert selection["bias"] == pytest.approx(best_bias(scores, targets, seen), abs=1e-3)


def test_balanced_training_sees_equally_many_images_of_each_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[int]] = []
    right = training.ClassTraining.training_step

    def looks(self: Any, batch: list[torch.Tensor], index: int) -> torch.Tensor:
        seen.append(sorted(np.unique(batch[1].numpy(), return_counts=True)[1].tolist()))
        return right(self, batch, index)

    monkeypatch.setattr(training.ClassTraining, "training_step", looks)
    trained(tmp_path / "balanced", {**ALE, "training": {**ALE["training"], "optimizer": "sgd", "balanced": True}})
    assert seen and all(len(set(counts)) == 1 for counts in seen)


def test_the_selection_is_written_after_what_belongs_to_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Once it is there, a run that was killed does not select again."""
    write_json, has_uncertainty = training.write_json, []

    def watch(path: Path, content: Any) -> None:
        has_uncertainty.append((path.parent / UNCERTAINTY).exists())
        write_json(path, content)

    monkeypatch.setattr(training, "write_json", watch)
    settings = {"training": {**RATES, "epochs": 1, "selection": "validation"}, "scoring": {"bias": 0.0}}
    trained(tmp_path, CREST_SETTINGS | settings, method="crest:CREST")
    assert has_uncertainty == [True]


def test_rates_and_momentum_are_those_of_settings() -> None:
    for name, kind in (("adam", torch.optim.Adam), ("rmsprop", torch.optim.RMSprop), ("sgd", torch.optim.SGD)):
        changed = {"optimizer": name, "momentum": 0.9, "lr": 0.1, "weight_decay": 0.01}
        settings = ClassTrainingSettings.model_validate({**RATES, **changed, "epochs": 1, "selection": "validation"})
        optimizer = training.optimizer_of([torch.nn.Parameter(torch.ones(2))], settings)
        (group,) = optimizer.param_groups
        assert type(optimizer) is kind
        assert (group["lr"], group["weight_decay"], group.get("momentum", 0.9)) == (0.1, 0.01, 0.9)
