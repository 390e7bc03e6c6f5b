"""The draw of runs: its weights, its order, and the rates at which wrong runs are drawn."""

from collections import Counter, defaultdict
from itertools import islice
from math import sqrt
from pathlib import Path
from random import Random

import pytest

from recompose.errors import ArgumentError
from recompose.provenance.sampling import ReportedRuns, detection, detection_by_weight, draw
from recompose.report.published import PublishedLineage
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises
from tests.provenance.invented import cell_of, lineage_of

SEEDS = {"profiles.large.czsl.seeds": [0, 1, 2]}
TRIALS = 4000
SIGMAS = 4  # a clean simulation fails once in 16,000


def uneven(runs: int) -> dict[str, float]:
    """Weights of runs that differ a hundredfold."""
    weights = [Random(run).uniform(1, 100) for run in range(runs)]
    return {f"runs/{run:03d}": weight / sum(weights) for run, weight in enumerate(weights)}


def margin(rate: float) -> float:
    return SIGMAS * sqrt(rate * (1 - rate) / TRIALS)


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> PublishedLineage:
    """A table of two methods, one of which is not trained, and a second table of one method and seed."""
    root = tmp_path_factory.mktemp("published")
    write_params(root, "large", SEEDS)
    work = Workspace(root)
    csp, chance = (work.plan.evaluations("czsl", name, "shapes-pairs") for name in ("csp", "chance"))
    cells = [
        cell_of("CSP", csp, names=["csp"]),
        cell_of("chance", chance, names=["chance"]),
        cell_of("both", [*csp, *chance], names=["csp", "chance"]),
        cell_of("data", [work.plan.of("data")[0]]),
    ]
    del cells[2]["names"][:]
    first = lineage_of([*csp, *chance], cells)
    second = lineage_of(csp[:1], [cell_of("CSP", csp[:1], names=["csp"], view="field")])
    return PublishedLineage({"msci/table-2": first, "msci/table-3": second})


@pytest.mark.slow
def test_a_run_weighs_as_often_as_a_random_number_and_then_a_random_run_pick_it(published: PublishedLineage) -> None:
    runs = ReportedRuns.of(published)
    cells = [cell.made_from for name in published.lineages for cell in published.cells(name)]
    expected: dict[str, float] = defaultdict(float)
    numbers = [keys for keys in cells if keys[0].startswith("evaluations/")]
    for keys in numbers:
        for key in keys:
            need = published.records[key].needs.get("run")
            expected[need.key if need else key] += 1 / (len(numbers) * len(keys))
    assert runs.weights == pytest.approx(expected)
    assert sum(runs.weights.values()) == pytest.approx(1)
    trained = {run for run in runs.weights if run.startswith("runs/")}
    assert len(trained) == 3
    assert {run for run in runs.weights if run.startswith("evaluations/")} == {
        key for key in cells[1] if "run" not in published.records[key].needs
    }


def test_the_runs_behind_a_cell_are_those_of_its_evaluations(published: PublishedLineage) -> None:
    runs = ReportedRuns.of(published)
    cell = published.cells("msci/table-3")[0]
    assert runs.behind(cell) == [published.records[cell.made_from[0]].needs["run"].key]


def test_the_order_follows_from_the_seed_and_has_each_run_once() -> None:
    weights = uneven(30)
    order = list(draw(weights, "a"))
    assert sorted(order) == sorted(weights)
    assert order == list(draw(dict(reversed(weights.items())), "a"))
    assert order != list(draw(weights, "b"))


def test_the_first_draw_picks_each_run_as_often_as_its_weight_says() -> None:
    weights = uneven(6)
    counts = Counter(next(draw(weights, str(seed))) for seed in range(TRIALS))
    for run, weight in weights.items():
        assert abs(counts[run] / TRIALS - weight) < margin(weight)


@pytest.mark.parametrize(("runs", "drawn"), [(40, 7), (25, 3), (10, 9)])
def test_randomly_wrong_runs_are_drawn_at_the_stated_rate(runs: int, drawn: int) -> None:
    weights, random = uneven(runs), Random(0)
    hits = 0
    for seed in range(TRIALS):
        wrong = {*random.sample(sorted(weights), runs // 5)}
        hits += not wrong.isdisjoint(islice(draw(weights, str(seed)), drawn))
    rate = detection(runs, drawn)
    assert abs(hits / TRIALS - rate) <= margin(rate)


@pytest.mark.parametrize("lightest", [True, False])
def test_chosen_wrong_runs_are_drawn_at_least_at_the_rate_of_their_weight(lightest: bool) -> None:
    weights = uneven(40)
    wrong = {*sorted(weights, key=weights.__getitem__, reverse=not lightest)[:8]}
    hits = sum(not wrong.isdisjoint(islice(draw(weights, str(seed)), 7)) for seed in range(TRIALS))
    rate = detection_by_weight(7, sum(weights[run] for run in wrong))
    assert hits / TRIALS >= rate - margin(rate)


def test_a_sample_of_all_runs_misses_nothing_and_an_empty_one_shows_nothing() -> None:
    assert detection(131, 131) == 1
    assert detection(131, 0) == 0
    assert detection(1, 1) == 1
    with raises(ArgumentError, place="drawn"):
        detection(3, 4)


def test_the_probability_is_that_of_drawing_without_replacement() -> None:
    miss = 1.0
    for draws in range(7):
        miss *= (131 - 26 - draws) / (131 - draws)
    assert detection(131, 7) == pytest.approx(1 - miss)


def test_reports_without_runs_have_no_weights(tmp_path: Path) -> None:
    assert not ReportedRuns.of(PublishedLineage({})).weights
