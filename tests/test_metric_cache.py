"""Metrics: taken once from scores by the code as it is, and anew where either changes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from recompose import metric_cache as module
from recompose.digest import digest, short
from recompose.errors import DamagedError
from recompose.metric_cache import MetricCache
from recompose.recipes.fingerprint import fingerprint
from recompose.recipes.plan import Recipe
from recompose.recipes.store import Store
from recompose.tracks import TRACKS
from recompose.workspace import Workspace

CODE_DIGEST = module.metric_code_digest  # which most tests replace
RUN = Recipe("runs", "a run", {}, track="czsl")
INDEX = Recipe("data", "an index", {}, track="czsl")
EVALUATION = Recipe("evaluations", "an evaluation", {}, {"run": RUN, "data": INDEX}, track="czsl")
FILES = {"runs": "checkpoint.json", "data": "labels.json", "evaluations": "scores.json"}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store with a run, an index whose one label is 2, and an evaluation whose one score is 3."""
    store = Store(tmp_path / "results")
    for recipe, number in ((RUN, 0), (INDEX, 2), (EVALUATION, 3)):
        make(store, recipe, number)
    return store


@pytest.fixture(autouse=True)
def products_taken(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The products of a score and a label that were taken as a metric."""
    products: list[float] = []

    def metrics(needs: Mapping[str, Path], evaluation: Path) -> dict[str, float]:
        assert set(needs) == {"run", "data"}
        products.append(
            float((evaluation / "scores.json").read_text()) * float((needs["data"] / "labels.json").read_text())
        )
        return {"test/product": products[-1]}

    monkeypatch.setattr("recompose.tracks.czsl.metric_values.read_metrics", metrics)
    monkeypatch.setattr(module, "metric_code_digest", lambda track: "code-1")
    return products


def make(store: Store, recipe: Recipe, number: float, costs: Mapping[str, float | None] | None = None) -> None:
    """Make a content anew, with a number in its file."""
    if store.is_complete(recipe):
        store.discard(recipe.key)
    with store.build(recipe) as folder:
        assert folder
        (folder / FILES[recipe.kind]).write_text(str(number))
        if costs is not None:
            (folder / "costs.json").write_text(json.dumps(costs))


def metrics_of(store: Store) -> dict[str, float]:
    return MetricCache(Workspace(store.root.parent), keeps=True).of(EVALUATION)


def test_they_are_taken_once_for_all_processes(store: Store, products_taken: list[float]) -> None:
    assert metrics_of(store) == metrics_of(store) == {"test/product": 6.0}
    assert products_taken == [6]
    assert [*(store.root / "metrics").glob("*/*")] == [store.root / "metrics/code-1" / f"{EVALUATION.folder}.json"]


def test_queries_write_nothing(store: Store) -> None:
    assert MetricCache(Workspace(store.root.parent)).of(EVALUATION) == {"test/product": 6.0}
    assert not (store.root / "metrics").exists()


@pytest.mark.parametrize(("recipe", "product"), [(EVALUATION, 10.0), (INDEX, 15.0)])
def test_other_scores_or_labels_are_measured_anew(store: Store, recipe: Recipe, product: float) -> None:
    assert metrics_of(store) == {"test/product": 6.0}
    make(store, recipe, 5)
    assert metrics_of(store) == {"test/product": product}


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_what_is_no_number_is_not_measured(store: Store, number: str) -> None:
    make(store, EVALUATION, float(number))
    assert metrics_of(store) == metrics_of(store) == {}


def test_other_code_measures_anew(store: Store, products_taken: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    for code in ("code-1", "code-2", "code-1", "code-2"):
        monkeypatch.setattr(module, "metric_code_digest", lambda track, code=code: code)
        metrics_of(store)
    assert products_taken == [6, 6]


def test_of_changed_scores_nothing_is_told(store: Store) -> None:
    metrics_of(store)
    (store.folder(EVALUATION) / "scores.json").write_text("9")
    with pytest.raises(DamagedError):
        metrics_of(store)


def test_costs_are_read_anew_and_of_both_the_run_s_count(store: Store) -> None:
    make(store, RUN, 0, {"trainable_parameters": 5, "peak_memory_bytes": None})
    make(store, EVALUATION, 3, {"trainable_parameters": 0, "test_seconds": 2.5})
    expected = {"test/product": 6.0, "cost/trainable_parameters": 5, "cost/test_seconds": 2.5}
    assert metrics_of(store) == expected


def test_the_code_that_decides_is_what_the_track_names() -> None:
    code = fingerprint(TRACKS["czsl"].measured_by().values())
    assert "recompose.tracks.czsl.metrics.czsl" in code
    assert CODE_DIGEST(TRACKS["czsl"]) == short(digest(code))
