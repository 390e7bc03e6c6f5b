"""The seeds in which tables compare methods, and what they say of them."""

from dataclasses import replace
from typing import Any

from recompose.papers.declaration import View
from recompose.plan import Plan, Recipe, TrackPlan
from recompose.tables.kinds import evaluations_of
from recompose.tables.measured import metrics
from recompose.tables.table import seeds_note
from tests.tables.fakes import Fake, by_cell, by_seed, paper_of
from tests.tables.test_seeds import data_of, planned

AUC = "test/closed/dense/auc"


class Worlds(Fake):
    """Results of which each seed has data of its own."""

    def planned(self, track: str, name: str, benchmark: str) -> list[Recipe]:
        found = super().planned(track, name, benchmark)
        return [replace(each, needs={**each.needs, "data": data_of(each.labels["seed"])}) for each in found]


def test_a_table_says_in_which_seeds_its_rows_are_compared() -> None:
    work = Worlds({"m": {"d": by_seed({AUC: 0.2}, {AUC: 0.4})}, "v": {"d": by_seed({AUC: 0.3})}})
    paper = paper_of(kind="metrics", rows={"M": "m", "V": "v"}, columns={"AUC": AUC})
    cells = by_cell(metrics(work, paper, "table-1"))  # type: ignore[arg-type]
    assert {
        row: (cell.value, cell.n, len(cell.made_from) + len(cell.missing)) for (row, _, _), cell in cells.items()
    } == {
        "M": (20.0, 1, 1),
        "V": (30.0, 1, 1),
    }
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
