"""The contract of runs and evaluations, which every method of every track keeps."""

import json
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from recompose.errors import DataError
from recompose.params.track import TrackChoice, TrackSection
from recompose.recipes.plan import Recipe
from recompose.tracks import TRACKS
from recompose.tracks.building import CHECKPOINT, COSTS, SCORES
from recompose.tracks.measuring import compute_metrics
from recompose.training import loop
from tests.calls import watch
from tests.clips import random_clip
from tests.configuration import params_text, parse_params
from tests.errors import raises
from tests.tracks.czsl.conftest import PAIRS
from tests.tracks.czsl.methods.derivations import random_images
from tests.tracks.czsl.tiny import pairs_in_turns, write_inputs
from tests.tracks.documents import document, recipe_of
from tests.tracks.gzsl.tiny import class_data, grids_of
from tests.tracks.gzsl.tiny import write as write_classes
from tests.tracks.vlc.marked import write_marked
from tests.tracks.vlc.tiny_suites import write_tiny_suites
from tests.training.small import KilledError

pytestmark = pytest.mark.slow

METHODS = [(track, name) for track in TRACKS for name in TRACKS[track].methods]
TRAINED = [(track, name) for track, name in METHODS if TRACKS[track].methods[name].settings_class.training_class]
BEFORE_SCORES = {"czsl": {SCORES, COSTS}, "gzsl": {SCORES, COSTS, "calibration.json"}, "vlc": {SCORES, COSTS}}


def pair_inputs(folder: Path, spoiled: bool) -> dict[str, Path]:
    data, backbone = pairs_in_turns(PAIRS, train=12, val=6, test=6), random_clip()
    embeddings = np.random.default_rng(1).normal(size=(len(data.samples), backbone.width)).astype(np.float32)
    pixels = random_images(len(data.samples)).numpy()
    if spoiled:
        embeddings[data.rows("test")], pixels[data.rows("test")] = np.nan, 255
    return write_inputs(folder, backbone, data, embeddings, pixels)


def class_inputs(folder: Path, spoiled: bool) -> dict[str, Path]:
    data = class_data()
    grids = grids_of(data)
    if spoiled:
        grids[data.test_rows] = np.nan
    return write_classes(folder, data, grids)


def caption_inputs(folder: Path, spoiled: bool) -> dict[str, Path]:
    return write_marked(folder) | write_tiny_suites(folder)  # suites are no part of what trains


INPUTS: dict[str, Callable[[Path, bool], dict[str, Path]]] = {
    "czsl": pair_inputs,
    "gzsl": class_inputs,
    "vlc": caption_inputs,
}


@pytest.fixture(scope="module")
def needs(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """Return the folders that runs and evaluations of each track need."""
    return {track: write(tmp_path_factory.mktemp(track), False) for track, write in INPUTS.items()}


@pytest.fixture(scope="module")
def spoiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Path]]:
    """Return the same with other images of the test: whoever looks at one sees NaN, or white."""
    return {track: write(tmp_path_factory.mktemp(track), True) for track, write in INPUTS.items()}


def settings_of(track: str, method: str) -> dict[str, Any]:
    """Return a method's settings of the demo, with a short training."""
    params = parse_params(params_text())
    section, choice = params.tracks[track], params.chosen.tracks[track]
    assert isinstance(section, TrackSection) and isinstance(choice, TrackChoice)
    settings = section.settings(method, choice.datasets[0]).active().document()
    short = {"epochs": 2, "batch_size": 6, "accumulate": 1, "warmup_steps": 1}
    if "training" in settings:
        settings["training"] |= {name: value for name, value in short.items() if name in settings["training"]}
    return settings


def document_of(track: str, method: str, **changed: Any) -> dict[str, Any]:
    """Return the document of a run and of an evaluation."""
    entry = TRACKS[track].methods[method]
    feasibility = {"vectors": "backbone", "prompt": "a photo of {name}"} if entry.needs_backbone else None
    return document(entry.class_path, settings_of(track, method), feasibility=feasibility, **changed)


def train(track: str, method: str, needs: dict[str, Path], folder: Path, **changed: Any) -> Path:
    folder.mkdir(exist_ok=True)
    step = import_module(TRACKS[track].training).train
    assert step(recipe_of(document_of(track, method, **changed)), needs, folder)
    return folder


def metrics_of(track: str, scores: Path, needs: dict[str, Path]) -> dict[str, float]:
    own = TRACKS[track].metrics_of(Recipe("evaluations", "e", {}, track=track))[0]
    return compute_metrics(own, needs | {"evaluation": scores}, {})


def evaluate(track: str, method: str, needs: dict[str, Path], folder: Path) -> None:
    folder.mkdir()
    without = {} if TRACKS[track].methods[method].needs_backbone else {"data": needs["data"]}
    step = import_module(TRACKS[track].evaluation).evaluate
    step({folder: recipe_of(document_of(track, method))}, without or needs)


@pytest.fixture
def killed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Kill the process once, in the second epoch of its first training."""
    kills: list[int] = []

    def dies(_: Any, trainer: Any, *inputs: Any) -> None:
        if trainer.current_epoch == 1 and not kills:
            kills.append(1)
            raise KilledError

    watch(monkeypatch, loop._Epochs, "on_train_batch_start", dies)
    return kills


@pytest.mark.parametrize(("track", "method"), TRAINED)
def test_a_killed_run_ends_as_a_whole_one_on_other_test_images_and_is_evaluated(
    track: str,
    method: str,
    needs: dict[str, dict[str, Path]],
    spoiled: dict[str, dict[str, Path]],
    tmp_path: Path,
    killed: list[int],
) -> None:
    """So no image of the test reaches a gradient or a selection."""
    has_epochs = "epochs" in settings_of(track, method)["training"]
    if has_epochs:
        with pytest.raises(KilledError):
            train(track, method, needs[track], tmp_path / "killed")
        assert not (tmp_path / "killed" / CHECKPOINT).exists()
    run = train(track, method, needs[track], tmp_path / "killed")
    assert bool(killed) == has_epochs
    whole = train(track, method, spoiled[track], tmp_path / "whole")
    files = {path.name for path in whole.iterdir() if path.is_file()}
    assert {CHECKPOINT, COSTS} <= files == {path.name for path in run.iterdir() if path.is_file()}
    for name in files - {COSTS}:
        assert (run / name).read_bytes() == (whole / name).read_bytes(), name
    costs = json.loads((run / COSTS).read_text())
    assert costs["trainable_parameters"] >= 0 and costs["epoch_seconds"] > 0
    evaluate(track, method, needs[track] | {"run": run}, tmp_path / "scores")
    assert {path.name for path in (tmp_path / "scores").iterdir()} == BEFORE_SCORES[track]
    values = metrics_of(track, tmp_path / "scores", needs[track])
    assert values and all(TRACKS[track].metric(name) for name in values)
    assert json.loads((tmp_path / "scores" / COSTS).read_text())["test_seconds"] > 0


@pytest.mark.parametrize(("track", "method"), sorted({*METHODS} - {*TRAINED}))
def test_a_method_that_is_not_trained_is_evaluated_without_a_run(
    track: str, method: str, needs: dict[str, dict[str, Path]], tmp_path: Path
) -> None:
    evaluate(track, method, needs[track], tmp_path / "scores")
    values = metrics_of(track, tmp_path / "scores", needs[track])
    assert values and all(TRACKS[track].metric(name) for name in values)


FIRST = [("czsl", "csp"), ("gzsl", "ale"), ("vlc", "clip-ft")]


@pytest.mark.parametrize(("track", "method"), FIRST)
def test_another_seed_gives_other_weights(
    track: str, method: str, needs: dict[str, dict[str, Path]], tmp_path: Path
) -> None:
    run = train(track, method, needs[track], tmp_path / "run")
    other = train(track, method, needs[track], tmp_path / "other", seed=1)
    assert (run / CHECKPOINT).read_bytes() != (other / CHECKPOINT).read_bytes()


@pytest.mark.parametrize(("track", "method"), FIRST)
def test_half_precision_needs_a_gpu(track: str, method: str, needs: dict[str, dict[str, Path]], tmp_path: Path) -> None:
    with raises(DataError):
        train(track, method, needs[track], tmp_path / "run", precision="16-mixed")
