"""Estimates from what was measured: the nearest, in proportion."""

from pathlib import Path
from typing import Any

import pytest

from recompose.files import write_json
from recompose.monitor.costs import Costs, Estimate, Job, Measured, estimate, job_of
from recompose.workspace import Workspace
from tests.conftest import ROOT

SIZES = {"a" * 64: {"train": 3000, "val": 1000, "test": 1000}, "b" * 64: {"train": 400, "val": 150, "test": 150}}


def job(lr: float = 0.1, epochs: int = 4, images: int | str = 3000) -> Job:
    return Job(("runs", "csp"), {"lr": lr, "dropout": 0}, {"epochs": epochs, "training images": images})


def measured(seconds: float, **given: Any) -> Measured:
    return Measured(job(**given), seconds, "here")


@pytest.mark.parametrize(
    ("wanted", "found", "expected"),
    [
        (job(), [], None),
        (job(), [measured(10), measured(20)], Estimate(15, ("here",), ())),
        (job(), [measured(10), measured(50, lr=0.2)], Estimate(10, ("here",), ())),
        (job(epochs=8), [measured(10)], Estimate(20, ("here",), ("epochs 4 to 8",))),
        (
            job(epochs=8, images=1500),
            [measured(10)],
            Estimate(10, ("here",), ("epochs 4 to 8", "training images 3000 to 1500")),
        ),
        # rather another rate than a tenth of the images
        (job(), [measured(1, images=300), measured(50, lr=0.2)], Estimate(50, ("here",), ())),
        # how many images there are is not known: only the same data set tells
        (job(images="d" * 64), [measured(10)], None),
        (job(images="d" * 64), [measured(10, images="d" * 64)], Estimate(10, ("here",), ())),
        (job(), [Measured(Job(("runs", "coop"), job().settings, job().amounts), 10, "here")], None),
    ],
)
def test_the_nearest_jobs_count_in_proportion(wanted: Job, found: list[Measured], expected: Estimate | None) -> None:
    assert estimate(wanted, found) == expected


def run(**changed: Any) -> dict[str, Any]:
    return {
        "method": "csp",
        "settings": {"lr": 0.1, "epochs": 4},
        "dataset": {"name": "d", "digest": "a" * 64},
        "backbone": {"name": "b", "digest": "c" * 64},
        "seed": 0,
        "code": {"recompose.tracks.czsl.methods.csp": "1"},
        **changed,
    }


def test_a_run_that_tests_a_checkpoint_is_a_kind_of_its_own() -> None:
    trained = job_of("runs", "x", run(), SIZES)
    tested = job_of("runs", "x", run(checkpoint_of={"name": "csp", "digest": "e" * 64}), SIZES)
    assert trained.kind != tested.kind
    assert trained.amounts == {"epochs": 4, "training images": 3000}
    assert tested.amounts == {"images of validation and test": 2000}


@pytest.mark.parametrize(
    ("changed", "distance"),
    [
        ({"seed": 1}, 0),
        ({"backbone": {"name": "b", "digest": "f" * 64}}, 0),  # the same, trained otherwise
        ({"dataset": {"name": "d", "digest": "b" * 64}}, 0),  # counted as images
        ({"settings": {"lr": 0.2, "epochs": 4}}, 1),
        ({"settings": {"lr": 0.1, "epochs": 5}}, 0),
        ({"code": {"recompose.tracks.czsl.methods.csp": "2"}}, 1),
        ({"trainer": {"threads": 2}}, 1),
    ],
)
def test_what_a_cost_depends_on(changed: dict[str, Any], distance: int) -> None:
    first, second = job_of("runs", "x", run(), SIZES), job_of("runs", "x", run(**changed), SIZES)
    assert first.kind == second.kind
    names = first.settings.keys() | second.settings.keys()
    assert sum(first.settings.get(name) != second.settings.get(name) for name in names) == distance


def test_records_in_the_stores_and_in_the_reports_are_what_was_measured(tmp_path: Path) -> None:
    (tmp_path / "params.yaml").write_text((ROOT / "params.yaml").read_text())
    work = Workspace(tmp_path)
    csp, coop = work.plan.runs_of("csp", "shapes-pairs"), work.plan.runs_of("coop", "shapes-pairs")
    made = {"attempts": 1, "host": "h", "device": "d"}

    def record(run: Any, seconds: float, **changed: Any) -> dict[str, Any]:
        return {"digest": run.digest, "recipe": run.document, "made": made | {"seconds": seconds} | changed}

    write_json(work.runs.record_path(csp[0]), record(csp[0], 10))
    write_json(work.runs.record_path(csp[1]), record(csp[1], 1, attempts=2))  # the last attempt's time alone
    (work.runs.root / "broken").mkdir()
    (work.runs.root / "broken/run.json").write_text("[")
    lineage = {"records": {f"runs/{coop[0].folder}": record(coop[0], 30)}, "cells": [], "wanted": {}}
    write_json(work.reports / "msci/table-2.lineage.json", lineage)
    costs = Costs.of(work, work.plan)
    assert costs.estimate("runs", csp[2]) == Estimate(10, ("h, d",), ())
    assert costs.estimate("runs", coop[1]) == Estimate(30, ("h, d",), ())
    assert costs.estimate("runs", work.plan.runs_of("troika", "shapes-pairs")[0]) is None
    longer = Workspace(tmp_path, ("methods.csp.epochs=16", "datasets.shapes-pairs.images.train=1500"))
    both = Costs.of(longer, work.plan, longer.plan)
    assert both.estimate("runs", longer.plan.runs_of("csp", "shapes-pairs")[0]) == Estimate(
        10.0, ("h, d",), ("epochs 8 to 16", "training images 3000 to 1500")
    )
