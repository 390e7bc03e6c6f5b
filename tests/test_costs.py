"""Estimates from the records of like recipes."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from recompose.costs import (
    SIMILAR,
    CostEstimate,
    Costs,
    MadeRecipe,
    TimeLeft,
    _count_images,
    processes,
    time_left,
)
from recompose.data.content import CONTENT
from recompose.files import SCRATCH, write_json
from recompose.progress import FILE
from recompose.recipes.plan import Recipe, closure
from recompose.recipes.records import Build
from recompose.workspace import Workspace
from tests.audit.invented import publish
from tests.configuration import MADE, PROGRESS, complete, write_params

BACKBONES = {name: Recipe("backbones", name, {}) for name in ("small", "large")}
DATA = {
    name: Recipe("data", name, {"images": {"train": train, "test": test}}, labels={"dataset": name}, track="czsl")
    for name, train, test in (("first", 100, 40), ("second", 300, 60))
}
for name in ("uncounted", "other"):
    DATA[name] = Recipe("data", name, {"file": name}, labels={"dataset": name}, track="czsl")


def run(
    dataset: str, method: str, backbone: str = "small", kind: str = "runs", epochs: int = 4, name: str = ""
) -> Recipe:
    """A run; evaluations have no epochs."""
    settings = {"training": {"epochs": epochs}} if kind == "runs" else {}
    needs = {"data": DATA[dataset], "backbone": BACKBONES[backbone]}
    labels = {"method": method, "dataset": dataset, "name": name or method}
    return Recipe(
        kind, f"{method} on {dataset}", {"class": method, "settings": settings}, needs, {"module": "1"}, "czsl", labels
    )


def made_recipe(recipe: Recipe, seconds: float, memory: int | None = None, **changed: Any) -> MadeRecipe:
    return MadeRecipe(recipe, Build.model_validate({**MADE, "seconds": seconds, **changed}), memory)


def costs_of(*stored: MadeRecipe, published: tuple[MadeRecipe, ...] = ()) -> Costs:
    return Costs([*stored], lambda: [*published], lambda data: sum(data.document.get("images", {}).values()))


def seconds(estimate: CostEstimate | None) -> float | None:
    return estimate and pytest.approx(estimate.seconds)


LIKE = [  # each is less like a run of csp on the second data set than those before
    made_recipe(run("second", "csp"), 70.0),
    made_recipe(run("second", "csp", name="csp-without-dropout"), 60.0),
    made_recipe(run("first", "csp", epochs=2), 10.0),
    made_recipe(run("first", "coop"), 6.0),
    made_recipe(run("second", "csp", "large"), 500.0),
    made_recipe(run("second", "csp", kind="evaluations"), 4.0),
]


@pytest.mark.parametrize(
    ("known", "expected"),
    [
        (LIKE, CostEstimate(pytest.approx(65.0), ("h, d",))),  # the median of the method's own and its variant's
        (LIKE[1:], CostEstimate(pytest.approx(60.0), ("h, d",))),
        # the method elsewhere: twice the epochs, 360 images for 140
        (LIKE[2:], CostEstimate(pytest.approx(10.0 * (4 / 2) * 360 / 140), ("h, d",), basis=SIMILAR)),
        (LIKE[3:], CostEstimate(pytest.approx(6.0 * 360 / 140), ("h, d",), basis=SIMILAR)),  # another method
        (LIKE[4:], None),  # another backbone, another kind
    ],
)
def test_the_most_alike_records_decide(known: list[MadeRecipe], expected: CostEstimate | None) -> None:
    assert costs_of(*known).estimate(run("second", "csp")) == expected


def test_the_median_counts_in_proportion_to_epochs() -> None:
    records = [
        made_recipe(run("first", "csp", epochs=epochs), each) for epochs, each in ((1, 3.0), (8, 16.0), (16, 16.0))
    ]
    assert seconds(costs_of(*records).estimate(run("first", "csp", epochs=10))) == 10 * 2.0


def test_other_data_counts_only_where_both_are_counted() -> None:
    costs = costs_of(made_recipe(run("uncounted", "csp"), 10.0), made_recipe(DATA["other"], 900.0))
    assert costs.estimate(run("first", "csp")) is None
    assert costs.estimate(DATA["first"]) is None
    assert costs.estimate(run("uncounted", "csp", epochs=8)) == CostEstimate(20.0, ("h, d",))


def test_the_store_counts_before_the_reports_which_are_read_only_where_they_are_needed() -> None:
    stored, published = made_recipe(run("first", "csp"), 5.0), made_recipe(run("first", "coop"), 8.0, host="elsewhere")
    costs = costs_of(stored, published=(published, made_recipe(run("first", "csp"), 99.0)))
    assert costs.estimate(run("first", "csp")) == CostEstimate(5.0, ("h, d",))
    assert costs.estimate(run("first", "coop")) == CostEstimate(8.0, ("elsewhere, d",))
    unread = Costs([stored], lambda: pytest.fail("it reads the reports"), lambda data: 1)
    assert seconds(unread.estimate(run("first", "csp"))) == 5.0


def test_a_resumed_recipe_does_not_count() -> None:
    """Its record has the time of the last attempt alone."""
    assert costs_of(made_recipe(run("first", "csp"), 1.0, attempts=2)).estimate(run("first", "csp")) is None


def test_memory_is_that_of_the_method_on_the_data_set() -> None:
    costs = costs_of(*(made_recipe(run("first", "csp"), 1.0, memory) for memory in (3, 7, None)))
    assert [costs.estimate(run(name, "csp")).memory for name in ("first", "second")] == [7, None]  # type: ignore[union-attr]


@pytest.mark.slow
def test_records_in_the_store_and_in_the_reports_are_read(tmp_path: Path) -> None:
    write_params(tmp_path)
    work = Workspace(tmp_path, ("profile=large",))

    def runs_of(plan_work: Workspace, method: str) -> list[Recipe]:
        return [each.needs["run"] for each in plan_work.plan.evaluations("czsl", method, "shapes-pairs")]

    csp, coop = runs_of(work, "csp"), runs_of(work, "coop")
    complete(work, closure(csp[:1]))
    write_json(work.store.folder(csp[0]) / "costs.json", {"peak_memory_bytes": 5})
    for name, text in {"broken": "[", "list": "[]", "half": '{"document": {}}'}.items():
        (work.results / "runs" / name).mkdir()
        (work.results / "runs" / name / "record.json").write_text(text)
    made = {coop[0].key: {**MADE, "seconds": 30.0, "host": "other"}}
    publish(work.reports, {"msci/table-2": (coop[:1], [])}, results=made)
    costs = Costs.of(work, work.plan)
    assert costs.estimate(csp[2]) == CostEstimate(10, ("h, d",), 5)
    assert costs.estimate(coop[1]) == CostEstimate(30, ("other, d",))
    # another method, with half the epochs of csp
    assert costs.estimate(runs_of(work, "troika")[0]) == CostEstimate(10 * 4 / 8, ("h, d",), basis=SIMILAR)


class Known(Costs):
    """Costs that know of runs alone, a minute each."""

    def estimate(self, recipe: Recipe) -> CostEstimate | None:
        return CostEstimate(60.0) if recipe.kind == "runs" else None


KNOWN = Known([], list, lambda data: 0)


@pytest.mark.slow
@pytest.mark.parametrize(("cores", "threads", "side_by_side"), [(1, 1, 1), (4, 1, 4), (4, 2, 2), (1, 2, 1)])
def test_estimates_are_divided_by_what_goes_side_by_side_and_what_has_none_is_counted(
    work: Workspace, monkeypatch: pytest.MonkeyPatch, cores: int, threads: int, side_by_side: int
) -> None:
    monkeypatch.setattr("recompose.costs.usable_cores", lambda: cores)
    work = Workspace(work.root, (f"profiles.demo.trainer.threads={threads}",))
    assert processes(work) == side_by_side
    recipes = [*work.plan.of("runs")[:8], *work.plan.of("evaluations")[:3]]
    assert time_left(work, KNOWN, recipes) == TimeLeft(60 * 8 / side_by_side, 3)


@pytest.mark.slow
def test_of_what_was_begun_the_rest_counts(work: Workspace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recompose.costs.usable_cores", lambda: 1)
    begun, other = work.plan.of("runs")[:2]
    scratch = work.store.folder(begun) / SCRATCH
    written = PROGRESS | {"done": 3, "total": 4, "at": datetime.now(UTC).isoformat()}
    write_json(scratch / FILE, written)
    assert time_left(work, KNOWN, [begun, other]) == TimeLeft(60 / 4 + 60, 0)


@pytest.mark.parametrize(
    ("images", "count"), [(7, 7), ({"train": 2, "test": 3}, 5), ("images.zip", 2), ({"train": "a"}, 2), (["a"], 2)]
)
def test_images_are_counted_where_they_are_numbers_and_otherwise_the_files(
    tmp_path: Path, images: object, count: int
) -> None:
    work, data = Workspace(tmp_path), Recipe("data", "own", {"images": images})
    write_json(work.store.folder(data) / CONTENT, {"1.png": "0" * 64, "2.png": "1" * 64})
    assert _count_images(work, data) == count
