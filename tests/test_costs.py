"""Estimates from what was measured: the nearest, in proportion."""

from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recompose.costs import CostEstimate, Costs, JobFeatures, TimedJob, estimate, job_features
from recompose.files import write_json
from recompose.machine import Probe
from recompose.plan import Recipe, closure
from recompose.records import Description
from recompose.report.lineage import Lineage
from recompose.workspace import Workspace
from tests.configuration import write_params

SIZES = {"a" * 64: {"train": 3000, "val": 1000, "test": 1000}, "b" * 64: {"train": 400, "val": 150, "test": 150}}
MADE: dict[str, Any] = {
    "started": "2026-01-01T12:00:00+00:00",
    "attempts": 1,
    "host": "h",
    "device": "d",
    "commit": None,
    "dirty": None,
    "packages": {},
}


def job(lr: float = 0.1, epochs: int = 4, items: int | str = 3000) -> JobFeatures:
    return JobFeatures(("runs", "csp"), {"lr": lr, "dropout": 0}, {"epochs": epochs, "items": items})


def measured(seconds: float, **given: Any) -> TimedJob:
    return TimedJob(job(**given), seconds, "here")


@pytest.mark.parametrize(
    ("features", "measurements", "expected"),
    [
        (job(), [], None),
        (job(), [measured(10), measured(20)], CostEstimate(15, ("here",), ())),
        (job(), [measured(10), measured(20), measured(90)], CostEstimate(20, ("here",), ())),
        (job(), [measured(10), measured(50, lr=0.2)], CostEstimate(10, ("here",), ())),
        (job(epochs=8), [measured(10)], CostEstimate(20, ("here",), ("epochs 4 to 8",))),
        (
            job(epochs=8, items=1500),
            [measured(10)],
            CostEstimate(10, ("here",), ("epochs 4 to 8", "items 3000 to 1500")),
        ),
        # rather another rate than a tenth of the images
        (job(), [measured(1, items=300), measured(50, lr=0.2)], CostEstimate(50, ("here",), ())),
        # how much there is is not known: only the same data set tells
        (job(items="d" * 64), [measured(10)], None),
        (job(items="d" * 64), [measured(10, items="d" * 64)], CostEstimate(10, ("here",), ())),
        (job(), [TimedJob(JobFeatures(("runs", "coop"), job().settings, job().amounts), 10, "here")], None),
    ],
)
def test_the_nearest_jobs_count_in_proportion(
    features: JobFeatures, measurements: list[TimedJob], expected: CostEstimate | None
) -> None:
    assert estimate(features, measurements) == expected


def run(**changed: Any) -> dict[str, Any]:
    return {
        "kind": "runs",
        "document": {"settings": {"lr": 0.1, "training": {"epochs": 4}}, "seed": 0},
        "needs": {"data": {"kind": "data", "digest": "a" * 64}, "backbone": {"kind": "backbones", "digest": "c" * 64}},
        "labels": {"method": "csp", "dataset": "d"},
        "code": {"recompose.tracks.czsl.methods.csp": "1"},
        **changed,
    }


def described(**changed: Any) -> Description:
    return Description.model_validate({"name": "r", "track": "czsl", "digest": "r" * 64} | run(**changed))


def test_training_goes_through_what_there_is_to_train_on_and_scoring_through_the_rest() -> None:
    trained = job_features(described(), SIZES)
    scored = job_features(described(kind="evaluations", document={"settings": {"lr": 0.1}, "seed": 0}), SIZES)
    assert trained.kind != scored.kind
    assert trained.amounts == {"epochs": 4, "items": 3000}
    assert scored.amounts == {"items": 1000 + 1000}


def test_all_of_a_data_set_is_indexed_and_encoded() -> None:
    of_features = described(kind="features", document={})
    assert job_features(of_features, SIZES).amounts == {"items": 5000}
    of_grids = described(kind="grids", document={"size": 448, "layer": "layer4"})
    assert job_features(of_grids, SIZES).amounts == {"items": 5000}
    of_data = described(kind="data", document={"seed": 3}, needs={}, digest="b" * 64)
    assert job_features(of_data, SIZES).amounts == {"items": 700}


def test_a_part_without_such_names_is_all_there_is() -> None:
    """Of a corpus to pretrain on, whose parts are not called so."""
    corpus = {"c" * 64: {"scenes": 24000}}
    needs = {"corpus": {"kind": "data", "digest": "c" * 64}}
    assert job_features(described(kind="backbones", needs=needs), corpus).amounts == {"epochs": 4, "items": 24000}


def test_of_data_that_nobody_counted_the_same_is_told_apart_by_name() -> None:
    assert job_features(described(), {}).amounts == {"epochs": 4, "data": "a" * 12}


@pytest.mark.parametrize(
    ("changed", "distance"),
    [
        ({"document": {"settings": {"lr": 0.1, "training": {"epochs": 4}}, "seed": 1}}, 0),
        # the same backbone, trained otherwise
        ({"needs": {**run()["needs"], "backbone": {"kind": "backbones", "digest": "f" * 64}}}, 0),
        # counted as images
        ({"needs": {**run()["needs"], "data": {"kind": "data", "digest": "b" * 64}}}, 0),
        ({"document": {"settings": {"lr": 0.2, "training": {"epochs": 4}}, "seed": 0}}, 1),
        ({"document": {"settings": {"lr": 0.1, "training": {"epochs": 5}}, "seed": 0}}, 0),
        ({"code": {"recompose.tracks.czsl.methods.csp": "2"}}, 1),
        ({"document": {**run()["document"], "trainer": {"threads": 2}}}, 1),
        ({"document": {**run()["document"], "images.train": 5}}, 0),
    ],
)
def test_what_a_cost_depends_on(changed: dict[str, Any], distance: int) -> None:
    first, second = job_features(described(), SIZES), job_features(described(**changed), SIZES)
    assert first.kind == second.kind
    names = first.settings.keys() | second.settings.keys()
    assert sum(first.settings.get(name) != second.settings.get(name) for name in names) == distance


def record(recipe: Recipe, seconds: float, **changed: Any) -> dict[str, Any]:
    return {**recipe.description().plain(), "inputs": {}, "files": {}, "made": {**MADE, "seconds": seconds, **changed}}


def test_records_in_the_store_and_in_the_reports_are_what_was_measured(tmp_path: Path) -> None:
    write_params(tmp_path)
    work = Workspace(tmp_path, ("profile=study",))

    def runs_of(plan_work: Workspace, method: str) -> list[Recipe]:
        return [each.needs["run"] for each in plan_work.plan.evaluations("czsl", method, "shapes-pairs")]

    csp, coop = runs_of(work, "csp"), runs_of(work, "coop")
    write_json(work.store.record_path(csp[0]), record(csp[0], 10))
    write_json(work.store.record_path(csp[1]), record(csp[1], 1, attempts=2))  # the last attempt's time alone
    for name, text in {"broken": "[", "list": "[]", "half": '{"document": {}}'}.items():
        (work.results / "runs" / name).mkdir()
        (work.results / "runs" / name / "record.json").write_text(text)
    damaged = {**record(csp[2], 77), "made": {"attempts": "one"}}
    (work.results / "runs" / "damaged").mkdir()
    write_json(work.results / "runs" / "damaged" / "record.json", damaged)
    published = {key: value for key, value in record(coop[0], 30).items() if key != "made"}
    records = {each.key: {**each.description().plain(), "inputs": {}, "files": {}} for each in closure(coop[:1])}
    records[coop[0].key] = published
    empty = {"track": "czsl", "benchmarks": {}, "cells": [], "asked": [], "wanted": {}, "metric_code": {}, "files": {}}
    (work.reports / "msci").mkdir(parents=True)
    Lineage.model_validate(empty | {"records": records}).write(work.reports / "msci/table-2.lineage.json")
    write_json(work.reports / "made.json", {"results": {coop[0].key: {**MADE, "seconds": 30.0}}})
    costs = Costs.of(work, work.plan)
    assert costs.estimate(csp[2]) == CostEstimate(10, ("h, d",), ())
    assert costs.estimate(coop[1]) == CostEstimate(30, ("h, d",), ())
    assert costs.estimate(runs_of(work, "troika")[0]) is None
    longer = Workspace(
        tmp_path,
        ("profile=study", "czsl.methods.csp.training.epochs=16", "czsl.datasets.shapes-pairs.images.train=1500"),
    )
    both = Costs.of(longer, work.plan, longer.plan)
    assert both.estimate(runs_of(longer, "csp")[0]) == CostEstimate(
        12.0, ("h, d",), ("epochs 8 to 16", "items 2500 to 1500")
    )


@pytest.mark.parametrize(
    ("there", "here", "expected"),
    [(0.05, 0.1, CostEstimate(20, ("h, d, times 2.00",), ())), (0.1, 0.1, 10), (None, 0.1, 10), (0.05, None, 10)],
)
def test_a_time_is_scaled_by_the_speeds_of_machines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, there: float | None, here: float | None, expected: Any
) -> None:
    known = Probe(step_seconds=here) if here else None
    monkeypatch.setattr("recompose.costs.cached_probe", lambda: known)
    write_params(tmp_path)
    work = Workspace(tmp_path)
    first, second = work.plan.evaluations("czsl", "csp", "shapes-pairs")[:2]
    changed = {} if there is None else {"step_seconds": there}
    write_json(work.store.record_path(first), record(first, 10, **changed))
    wanted = expected if isinstance(expected, CostEstimate) else CostEstimate(expected, ("h, d",), ())
    assert Costs.of(work, work.plan).estimate(second) == wanted


def test_what_is_known_at_a_moment_is_what_had_begun(tmp_path: Path) -> None:
    write_params(tmp_path)
    work = Workspace(tmp_path)
    first, second = work.plan.evaluations("czsl", "csp", "shapes-pairs")[:2]
    write_json(work.store.record_path(first), record(first, 10))
    costs, noon = Costs.of(work, work.plan), datetime.fromisoformat(MADE["started"])
    assert costs.until(noon).estimate(second) is None
    assert costs.until(noon + timedelta(seconds=1)).estimate(second) == costs.estimate(second)
