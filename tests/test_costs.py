"""Estimates from what was measured: the nearest, in proportion."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from recompose.costs import (
    SIMILAR,
    CostEstimate,
    Costs,
    JobFeatures,
    MeasuredRecipe,
    TimedJob,
    estimate,
    job_features,
)
from recompose.files import write_json
from recompose.machine import Probe
from recompose.plan import Recipe, closure
from recompose.records import BuildInfo
from recompose.report.lineage import Lineage
from recompose.timing import Timings
from recompose.workspace import Workspace
from tests.configuration import MADE, timing_of, write_params


def job(lr: float = 0.1, epochs: int = 4, items: int | None = 3000, data: str = "a") -> JobFeatures:
    return JobFeatures(
        "runs", "csp", settings=frozenset({("lr", lr)}), data=frozenset({data}), epochs=epochs, items=items
    )


def measured(seconds: float, **given: Any) -> TimedJob:
    return TimedJob(job(**given), seconds, "here")


@pytest.mark.parametrize(
    ("features", "measurements", "expected"),
    [
        (job(), [], None),
        (job(), [measured(10), measured(20)], CostEstimate(15, ("here",))),
        (job(), [measured(10), measured(20), measured(90)], CostEstimate(20, ("here",))),
        (job(), [measured(10), measured(50, lr=0.2)], CostEstimate(10, ("here",))),
        (job(epochs=8), [measured(10)], CostEstimate(20, ("here",), ("epochs 4 to 8",))),
        (
            job(epochs=8, items=1500),
            [measured(10)],
            CostEstimate(10, ("here",), ("epochs 4 to 8", "items 3000 to 1500")),
        ),
        # rather another rate than a tenth of the images
        (job(), [measured(1, items=300), measured(50, lr=0.2)], CostEstimate(50, ("here",))),
        # of unknown size: the same data rather than other data of that name
        (job(items=None), [measured(10, items=None, data="b")], CostEstimate(10, ("here",))),
        (
            job(items=None),
            [measured(10, items=None, data="b"), measured(30, items=None)],
            CostEstimate(30, ("here",)),
        ),
    ],
)
def test_the_nearest_jobs_count_in_proportion(
    features: JobFeatures, measurements: list[TimedJob], expected: CostEstimate | None
) -> None:
    assert estimate(features, 0, measurements) == expected


BACKBONES = {name: Recipe("backbones", name, {}) for name in ("small", "large")}
DATA = {
    name: Recipe("data", name, {"images": {"train": train, "test": test}}, labels={"dataset": name}, track="czsl")
    for name, train, test in (("first", 100, 40), ("second", 300, 60))
}
DATA |= {name: Recipe("data", name, {"file": name}, labels={"dataset": name}) for name in ("uncounted", "other")}
SIZES = {DATA[name].digest: DATA[name].document["images"] for name in ("first", "second")}


def run(
    dataset: str, method: str, backbone: str = "small", kind: str = "runs", epochs: int = 4, **labels: Any
) -> Recipe:
    """A run; evaluations have no epochs."""
    settings: dict[str, Any] = {"lr": 0.1} | ({"training": {"epochs": epochs}} if kind == "runs" else {})
    needs = {"data": DATA[dataset], "backbone": BACKBONES[backbone]}
    labels = {"method": method, "dataset": dataset, **labels}
    return Recipe(kind, f"{method} on {dataset}", {"settings": settings}, needs, {"module": "1"}, "czsl", labels)


def costs_of(*made: tuple[Recipe, float], timings: Timings | None = None) -> Costs:
    records = {
        f"{number}": MeasuredRecipe(recipe, BuildInfo.model_validate({**MADE, "seconds": seconds}))
        for number, (recipe, seconds) in enumerate(made)
    }
    return Costs({}, records, SIZES, timings or Timings({}))


OTHERS = [  # each is less similar to a run of csp on the second data set than those before
    (run("second", "csp"), 70.0),
    (run("first", "csp", epochs=2), 10.0),
    (run("first", "csp", kind="evaluations"), 4.0),
    (run("first", "coop", epochs=4), 6.0),
    (run("second", "csp", "large", kind="evaluations"), 500.0),
]


@pytest.mark.parametrize(
    ("known", "seconds"),
    [
        (OTHERS, 70.0),
        (OTHERS[1:], 10.0 * (4 / 2) * (300 / 100)),  # the method elsewhere: twice the epochs, three times the images
        (OTHERS[2:], 4.0 * 4 * (300 / 40)),  # its evaluation: each epoch goes through the training images
        (OTHERS[3:], 6.0 * 300 / 100),  # another method
        (OTHERS[4:], None),  # with another backbone
    ],
)
def test_the_most_similar_measurements_decide(known: list[tuple[Recipe, float]], seconds: float | None) -> None:
    result = costs_of(*known).estimate(run("second", "csp"))
    assert (result and result.seconds) == (pytest.approx(seconds) if seconds else None)
    assert result is None or result.is_firm == (known == OTHERS)


def test_other_methods_count_by_their_median() -> None:
    known = [(run("first", name), seconds) for name, seconds in {"a": 1.0, "b": 2.0, "c": 40.0}.items()]
    result = costs_of(*known).estimate(run("first", "csp"))
    assert result == CostEstimate(2.0, ("h, d",), basis=SIMILAR)


def test_images_that_nobody_counted_do_not_scale() -> None:
    result = costs_of((run("uncounted", "csp"), 10.0)).estimate(run("first", "csp", epochs=8))
    assert result == CostEstimate(20.0, ("h, d",), basis=SIMILAR)


def test_a_timing_of_the_method_goes_before_what_is_only_similar() -> None:
    timing = timing_of("second", "small", setup_seconds=3, image_seconds=0.01, memory_bytes=None, host="t")
    timings = Timings({timing.kind: timing})
    timed = costs_of(*OTHERS[1:], timings=timings).estimate(run("second", "csp"))
    assert timed == CostEstimate(3 + 0.01 * 4 * 300, ("t, d",), (), None, "timed")
    assert costs_of(*OTHERS, timings=timings).estimate(run("second", "csp")) == CostEstimate(70.0, ("h, d",))


def test_a_step_is_like_those_of_other_data_of_its_kind_whose_size_is_known() -> None:
    costs = costs_of((DATA["first"], 7.0), (DATA["other"], 900.0))
    assert costs.estimate(DATA["second"]) == CostEstimate(7.0 * 360 / 140, ("h, d",), basis=SIMILAR)
    assert costs.estimate(DATA["uncounted"]) is None


def test_training_goes_through_what_there_is_to_train_on_and_scoring_through_the_rest() -> None:
    trained, scored = (job_features(run("first", "csp", kind=kind), SIZES) for kind in ("runs", "evaluations"))
    assert (trained.epochs, trained.items) == (4, 100)
    assert (scored.epochs, scored.items) == (1, 40)
    assert job_features(run("uncounted", "csp"), SIZES).items is None


def test_all_of_a_data_set_is_indexed_and_encoded() -> None:
    pixels = Recipe("pixels", "pixels", {"size": 32}, {"data": DATA["first"]})
    features = Recipe("features", "features", {}, {"pixels": pixels, "backbone": BACKBONES["small"]})
    assert [job_features(recipe, SIZES).items for recipe in (DATA["first"], pixels, features)] == [140, 140, 140]


def test_a_part_without_such_names_is_all_there_is() -> None:
    """Of a corpus to pretrain on, whose parts are not called so."""
    scenes = Recipe("data", "scenes", {"scenes": 24000})
    trained = Recipe("backbones", "b", {"epochs": 4}, {"corpus": scenes})
    features = job_features(trained, {scenes.digest: {"scenes": 24000}})
    assert (features.epochs, features.items) == (4, 24000)


FIRST = run("first", "csp")


@pytest.mark.parametrize(
    ("changed", "distance"),
    [
        (replace(FIRST, document={**FIRST.document, "seed": 1}), 0),
        (run("second", "csp"), 0),  # counted as images
        (run("first", "csp", epochs=5), 0),
        (replace(FIRST, document={**FIRST.document, "images.train": 5}), 0),
        (replace(FIRST, document={"settings": {"lr": 0.2, "training": {"epochs": 4}}}), 1),
        (replace(FIRST, code={"module": "2"}), 1),
        (replace(FIRST, document={**FIRST.document, "trainer": {"threads": 2}}), 1),
        (run("first", "csp", "large"), 1),
    ],
)
def test_what_a_cost_depends_on(changed: Recipe, distance: int) -> None:
    first, second = (job_features(recipe, SIZES) for recipe in (FIRST, changed))
    assert first.kind == second.kind
    assert len({name for name, _ in first.settings ^ second.settings}) == distance


def record(recipe: Recipe, seconds: float, **changed: Any) -> dict[str, Any]:
    return {**recipe.description().plain(), "inputs": {}, "files": {}, "made": {**MADE, "seconds": seconds, **changed}}


@pytest.mark.slow
def test_records_in_the_store_and_in_the_reports_are_what_was_measured(tmp_path: Path) -> None:
    write_params(tmp_path)
    work = Workspace(tmp_path, ("profile=large",))

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
    (work.reports / "msci/claims.lineage.json").write_text("[")  # which would have the same records
    write_json(work.reports / "made.json", {"results": {coop[0].key: {**MADE, "seconds": 30.0}}})
    costs = Costs.of(work, work.plan)
    assert costs.estimate(csp[2]) == CostEstimate(10, ("h, d",))
    assert costs.estimate(coop[1]) == CostEstimate(30, ("h, d",))
    # the run of coop, with half its epochs; the records of csp do not say what their backbone is
    assert costs.estimate(runs_of(work, "troika")[0]) == CostEstimate(30 * 4 / 8, ("h, d",), basis=SIMILAR)
    longer = Workspace(
        tmp_path,
        ("profile=large", "czsl.methods.csp.training.epochs=16", "czsl.datasets.shapes-pairs.images.train=1500"),
    )
    both = Costs.of(longer, work.plan, longer.plan)
    assert both.estimate(runs_of(longer, "csp")[0]) == CostEstimate(
        12.0, ("h, d",), ("epochs 8 to 16", "items 2500 to 1500")
    )


@pytest.mark.parametrize(
    ("there", "here", "expected"),
    [(0.05, 0.1, CostEstimate(20, ("h, d, times 2.00",))), (0.1, 0.1, 10), (None, 0.1, 10), (0.05, None, 10)],
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
    wanted = expected if isinstance(expected, CostEstimate) else CostEstimate(expected, ("h, d",))
    assert Costs.of(work, work.plan).estimate(second) == wanted


def test_what_is_known_at_a_moment_is_what_had_begun(tmp_path: Path) -> None:
    write_params(tmp_path)
    work = Workspace(tmp_path)
    first, second = work.plan.evaluations("czsl", "csp", "shapes-pairs")[:2]
    write_json(work.store.record_path(first), record(first, 10))
    costs, noon = Costs.of(work, work.plan), datetime.fromisoformat(MADE["started"])
    assert costs.until(noon).estimate(second) is None
    assert costs.until(noon + timedelta(seconds=1)).estimate(second) == costs.estimate(second)
