"""Metrics as contents: made once from scores by the code as it is, and anew where either changes."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from recompose import phases
from recompose.errors import DamagedError
from recompose.recipes.plan import Recipe
from recompose.recipes.store import Store
from recompose.tables.stored_results import StoredResults
from recompose.tracks import TRACKS
from recompose.tracks.measuring import METRICS
from recompose.workspace import Workspace

RUN = Recipe("runs", "a run", {}, track="czsl")
INDEX = Recipe("data", "an index", {}, track="czsl")
EVALUATION = Recipe("evaluations", "an evaluation", {}, {"run": RUN, "data": INDEX}, track="czsl")
FILES = {"runs": "checkpoint.json", "data": "labels.json", "evaluations": "scores.json"}
(OWN,) = TRACKS["czsl"].metrics_of(EVALUATION)


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
        assert set(needs) == {"evaluation", "data"}
        score, label = evaluation / "scores.json", needs["data"] / "labels.json"
        products.append(float(score.read_text()) * float(label.read_text()))
        return {"test/product": products[-1]}

    monkeypatch.setattr("recompose.tracks.czsl.metric_values.read_metrics", metrics)
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


def made(store: Store) -> dict[str, float]:
    """The metrics, made unless they are there as the store would have them now."""
    work = Workspace(store.root.parent)
    phases.discard_outdated(work, [OWN])
    phases.make(work, [OWN])
    metrics: dict[str, float] = json.loads((store.folder(OWN) / METRICS).read_text())
    assert StoredResults(work).metrics(EVALUATION) == metrics
    return metrics


def test_they_are_taken_once_for_all_processes(store: Store, products_taken: list[float]) -> None:
    assert made(store) == made(store) == {"test/product": 6.0}
    assert products_taken == [6]


def test_queries_write_nothing(store: Store) -> None:
    assert StoredResults(Workspace(store.root.parent)).metrics(EVALUATION) == {"test/product": 6.0}
    assert not (store.root / "metrics").exists()


@pytest.mark.parametrize(("recipe", "product"), [(EVALUATION, 10.0), (INDEX, 15.0)])
def test_other_scores_or_labels_are_measured_anew(store: Store, recipe: Recipe, product: float) -> None:
    assert made(store) == {"test/product": 6.0}
    make(store, recipe, 5)
    assert StoredResults(Workspace(store.root.parent)).metrics(EVALUATION) == {"test/product": product}
    assert made(store) == {"test/product": product}


@pytest.mark.parametrize("number", ["nan", "inf"])
def test_what_is_no_number_is_not_measured(store: Store, number: str) -> None:
    make(store, EVALUATION, float(number))
    assert made(store) == made(store) == {}


def test_metrics_that_were_changed_are_made_anew(store: Store, products_taken: list[float]) -> None:
    made(store)
    (store.folder(OWN) / METRICS).write_text('{"test/product": 7.0}')
    assert made(store) == {"test/product": 6.0}
    assert products_taken == [6, 6]


def test_of_changed_scores_nothing_is_told(store: Store) -> None:
    (store.folder(EVALUATION) / "scores.json").write_text("9")
    with pytest.raises(DamagedError):
        StoredResults(Workspace(store.root.parent)).metrics(EVALUATION)


def test_costs_are_read_and_of_both_the_run_s_count(store: Store) -> None:
    make(store, RUN, 0, {"trainable_parameters": 5, "peak_memory_bytes": None})
    make(store, EVALUATION, 3, {"trainable_parameters": 0, "test_seconds": 2.5})
    expected = {"test/product": 6.0, "cost/trainable_parameters": 5, "cost/test_seconds": 2.5}
    assert StoredResults(Workspace(store.root.parent)).metrics(EVALUATION) == expected


def test_the_code_that_decides_is_what_the_track_names() -> None:
    assert {"recompose.tracks.czsl.metrics.czsl", "recompose.tracks.measuring"} <= OWN.code.keys()
    assert {need.kind for need in OWN.needs.values()} == {"evaluations", "data"}
