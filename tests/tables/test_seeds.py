"""The seeds in which methods are compared, and what tables say of them."""

from typing import Any

from recompose.papers.declaration import View
from recompose.parts.results import shared_replicates
from recompose.recipes.plan import Plan, Recipe, TrackPlan
from recompose.tables.artifacts import seeds_note
from recompose.tables.measured import metrics
from recompose.tables.reports import evaluations_of
from tests.tables.fakes import AUC, Fake, by_cell, paper_of


def planned(*seeds: int, worlds: bool = True, trains: bool = True) -> list[Recipe]:
    """The evaluations of a method with these seeds, of which each may draw a world."""
    run = {"run": Recipe("runs", "m", {})} if trains else {}
    return [
        Recipe("evaluations", "m", {}, {"data": data_of(seed if worlds else 0), **run}, labels={"seed": seed})
        for seed in seeds
    ]


def data_of(world: int) -> Recipe:
    return Recipe("data", "d", {"world": world})


def shared(*compared: list[Recipe]) -> list[list[int]]:
    by_method = shared_replicates({str(number): each for number, each in enumerate(compared)})
    return [[each.labels["seed"] for each in evaluations] for evaluations in by_method.values()]


def test_methods_are_compared_in_the_worlds_that_all_have() -> None:
    assert shared(planned(0, 1, 2), planned(1, 2, 3), planned(2, 1)) == [[1, 2], [1, 2], [2, 1]]
    assert shared(planned(0, 1, 2), planned(0)) == [[0], [0]]
    assert shared(planned(0, 1, 2)) == [[0, 1, 2]]
    assert shared() == []


def test_what_trains_nothing_and_was_evaluated_once_restricts_no_other() -> None:
    assert shared(planned(0, 1, 2), planned(1, 2), planned(1, trains=False)) == [[1, 2], [1, 2], [1]]
    assert shared(planned(0, 1, 2), planned(1, 2), planned(0, trains=False)) == [[1, 2], [1, 2], [0]]
    assert shared(planned(0, 1, 2), planned(0, 1, trains=False)) == [[0, 1], [0, 1]]
    assert shared(planned(0, trains=False)) == [[0]]


def test_where_they_share_none_all_stay() -> None:
    assert shared(planned(0, 1), planned(2)) == [[0, 1], [2]]


def test_where_all_seeds_are_of_the_same_data_none_is_given_up() -> None:
    several, one = planned(0, 1, 2, worlds=False), planned(0, worlds=False)
    assert shared(several, one) == [[0, 1, 2], [0]]


def test_a_table_says_in_which_seeds_its_rows_are_compared() -> None:
    work = Fake({"m": {"d": {0: 20.0, 1: 40.0}}, "v": {"d": {0: 30.0}}}, worlds=True)
    paper = paper_of(kind="metrics", rows={"M": "m", "V": "v"}, columns={"AUC": AUC})
    cells = by_cell(metrics(work, paper, "table-1"))  # type: ignore[arg-type]
    assert {row: (cell.value, cell.n) for (row, _, _), cell in cells.items()} == {"M": (20.0, 1), "V": (30.0, 1)}
    alike = paper_of(kind="metrics", rows={"M": "m"}, columns={"AUC": AUC})
    note, without = (seeds_note(work, each, "table-1") for each in (paper, alike))  # type: ignore[arg-type]
    assert "(d 0)" in note
    assert without == ""


def test_an_artifact_asks_for_the_worlds_that_it_shows() -> None:
    seeds = {"m": (0, 1, 2), "v": (1,), "w": (1, 2)}
    evaluations = {(name, "d"): tuple(planned(*of)) for name, of in seeds.items()}
    plan = Plan({"czsl": TrackPlan({"d": data_of(0)}, evaluations, ("m",))})
    rows = {"M": "m", "V": "v", "W": "w"}

    def asked(measured: dict[str, str] = rows, **artifact: Any) -> dict[str, list[int]]:
        paper = paper_of(rows=measured, **artifact)
        found = evaluations_of(plan, paper, "table-1").items()
        return {name: [each.labels["seed"] for each in of] for (name, _), of in found}

    assert asked(kind="metrics") == {"m": [1], "v": [1], "w": [1]}
    assert asked({"M": "m", "W": "w", "not run": "x"}, kind="intervals") == {"m": [1, 2], "w": [1, 2]}
    everything = {name: list(of) for name, of in seeds.items()}
    assert asked(kind="comparisons") == everything, "every two rows are compared in the worlds that they share"
    assert asked(kind="metrics", views={"moves": View(heading="", baseline="m")}) == everything
