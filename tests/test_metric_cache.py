"""Metrics: taken once from scores by the code as it is, and anew where either changes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from recompose import metric_cache as module
from recompose.errors import DamagedError
from recompose.metric_cache import MetricCache
from recompose.plan import Recipe
from recompose.store import Store
from recompose.tracks import TRACKS

RUN = Recipe("runs", "a run", {}, track="czsl")
EVALUATION = Recipe("evaluations", "an evaluation", {}, {"run": RUN}, track="czsl")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path)


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """What was taken from scores: here their one number, doubled."""
    numbers: list[float] = []

    def metrics(self: object, evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
        assert set(needs) == {"run"}
        numbers.append(float((evaluation / "scores.json").read_text()))
        return {"test/double": 2 * numbers[-1]}

    monkeypatch.setattr(type(TRACKS["czsl"]), "metrics", metrics)
    monkeypatch.setattr(module, "metric_code_digest", lambda track: "code-1")
    return numbers


def make(store: Store, score: float, costs: dict[str, float | None] | None = None) -> None:
    for recipe, name in ((RUN, "checkpoint.json"), (EVALUATION, "scores.json")):
        if store.is_complete(recipe):
            store.discard(recipe.key)
        with store.build(recipe) as folder:
            assert folder
            (folder / name).write_text(str(score))
            if costs is not None:
                (folder / "costs.json").write_text(json.dumps(costs))


def kept(store: Store) -> list[Path]:
    return sorted((store.root / "metrics").glob("*/*.json"))


def test_they_are_taken_once_for_all_processes(store: Store, taken: list[float]) -> None:
    make(store, 3)
    assert MetricCache(store, store.root).of(EVALUATION) == {"test/double": 6.0}
    assert MetricCache(Store(store.root), store.root).of(EVALUATION) == {"test/double": 6.0}
    assert taken == [3]
    assert kept(store) == [store.root / "metrics/code-1" / f"{EVALUATION.folder}.json"]


def test_other_scores_are_measured_anew(store: Store, taken: list[float]) -> None:
    make(store, 3)
    MetricCache(store, store.root).of(EVALUATION)
    make(store, 4)
    assert MetricCache(store, store.root).of(EVALUATION) == {"test/double": 8.0}
    make(store, 3)
    assert MetricCache(store, store.root).of(EVALUATION) == {"test/double": 6.0}


def test_other_code_measures_anew_and_that_of_before_is_found_again(
    store: Store, taken: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    make(store, 3)
    for code in ("code-1", "code-2", "code-1", "code-2"):
        monkeypatch.setattr(module, "metric_code_digest", lambda track, code=code: code)
        MetricCache(store, store.root).of(EVALUATION)
    assert taken == [3, 3]


def test_of_changed_scores_nothing_is_said(store: Store, taken: list[float]) -> None:
    make(store, 3)
    MetricCache(store, store.root).of(EVALUATION)
    (store.folder(EVALUATION) / "scores.json").write_text("9")
    with pytest.raises(DamagedError):
        MetricCache(store, store.root).of(EVALUATION)


INDEX = Recipe("data", "an index", {}, track="czsl")
SCORED = Recipe("evaluations", "an evaluation", {}, {"data": INDEX}, track="czsl")


def write_index(store: Store, labels: int) -> None:
    if store.is_complete(INDEX):
        store.discard(INDEX.key)
    with store.build(INDEX) as folder:
        assert folder
        (folder / "labels.json").write_text(str(labels))


@pytest.fixture
def labelled(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """A store with scores of 3, whose metric is their product with the label of their index, 2."""

    def metrics(self: object, evaluation: Path, needs: Mapping[str, Path]) -> dict[str, float]:
        label = float((needs["data"] / "labels.json").read_text())
        return {"test/product": label * float((evaluation / "scores.json").read_text())}

    monkeypatch.setattr(type(TRACKS["czsl"]), "metrics", metrics)
    monkeypatch.setattr(module, "metric_code_digest", lambda track: "code-1")
    write_index(store, 2)
    with store.build(SCORED) as folder:
        assert folder
        (folder / "scores.json").write_text("3")
    return store


def test_other_labels_of_the_same_scores_are_measured_anew(labelled: Store) -> None:
    assert MetricCache(labelled, labelled.root).of(SCORED) == {"test/product": 6.0}
    write_index(labelled, 5)
    assert MetricCache(labelled, labelled.root).of(SCORED) == {"test/product": 15.0}


def test_costs_are_read_anew_and_of_both_the_run_s_count(store: Store, taken: list[float]) -> None:
    make(store, 3, {"trainable_parameters": 5, "peak_memory_bytes": None})
    (store.folder(EVALUATION) / "record.json").unlink()
    with store.build(EVALUATION) as folder:
        assert folder
        (folder / "costs.json").write_text('{"trainable_parameters": 0, "test_seconds": 2.5}')
    expected = {"test/double": 6.0, "cost/trainable_parameters": 5, "cost/test_seconds": 2.5}
    assert MetricCache(store, store.root).of(EVALUATION) == expected


def test_the_code_that_decides_is_what_the_track_names(monkeypatch: pytest.MonkeyPatch) -> None:
    from recompose.digest import digest, short
    from recompose.fingerprint import fingerprint

    code = fingerprint(["recompose.tracks.czsl.metric_values"])
    assert "recompose.tracks.czsl.metrics.czsl" in code
    assert module.metric_code_digest("czsl") == short(digest(code))
