"""From anything that is stored to what it reaches."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.commands.downstream import Origin, downstream, show_downstream
from recompose.errors import DownstreamError
from recompose.papers.declaration import load_paper
from recompose.plan import Recipe
from recompose.tables.lineage import Lineage
from recompose.tables.published import PublishedLineage, read_lineages
from tests.audit.invented import cell_of, record_of
from tests.configuration import write_params
from tests.errors import raises

PAPERS = [load_paper("duplex"), load_paper("msci")]


def recipe_of(kind: str, name: str, seed: int | None = None, **needs: Recipe) -> Recipe:
    labels = {} if seed is None else {"method": name.split()[0], "seed": seed}
    return Recipe(kind, name, {"seed": seed}, needs, labels=labels)


INDEX = recipe_of("data", "shapes-pairs")
TRAINED, OTHER = (recipe_of("runs", f"csp on shapes-pairs, seed {seed}", seed, data=INDEX) for seed in (0, 1))
TESTING, OTHERS_TEST = (
    recipe_of("evaluations", f"csp on shapes-pairs, seed {seed}", seed, data=INDEX, run=run)
    for seed, run in enumerate((TRAINED, OTHER))
)
RECORDS = {recipe.key: record_of(recipe) for recipe in (INDEX, TRAINED, OTHER, TESTING, OTHERS_TEST)}


def cell(row: str, column: str, *recipes: Recipe, view: str = "", text: str = "1.0") -> dict[str, Any]:
    return cell_of(row, recipes, column=column, view=view, text=text)


CELLS = {
    "msci/table-2": [
        cell("CSP", "AUC", TESTING, OTHERS_TEST, view="exact"),
        cell("CSP", "AUC", TESTING, OTHERS_TEST, view="field", text="0.9"),
        cell("Other", "AUC", OTHERS_TEST, view="exact"),
    ],
    "msci/figure-curves": [cell("CSP", "curve", TESTING)],
    "msci/claims": [cell("best", "verdict", TESTING, OTHERS_TEST, text="holds")],
    "duplex/table-3": [cell("[red]<script>\n\x1b[2J", "AUC", TESTING)],
    "duplex/table-1": [cell("shapes-pairs", "images", INDEX)],
}
REACHED = {
    INDEX.key: {INDEX.key, TESTING.key, OTHERS_TEST.key},
    TRAINED.key: {TESTING.key},
    OTHER.key: {OTHERS_TEST.key},
    TESTING.key: {TESTING.key},
    OTHERS_TEST.key: {OTHERS_TEST.key},
}  # of each thing, those from which cells are made and that rest on it


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("where") / "reports/demo"
    write_params(folder.parents[1])  # says whose reports are meant
    for name, cells in CELLS.items():
        records = {key: RECORDS[key] for key in RECORDS if REACHED_BY[name] & REACHED[key]}
        asked = [{"name": "csp-tested", "benchmark": "shapes-pairs", "evaluations": [TESTING.key]}]
        wanted = {TESTING.key: TESTING.description()}
        parts = {"cells": cells, "records": records, "wanted": wanted, "asked": asked}
        lineage = {"track": "czsl", "benchmarks": {}, **parts, "metric_code": {}, "files": {}}
        Lineage.model_validate(lineage).write(folder / f"{name}.lineage.json")
    return folder


REACHED_BY = {name: {key for entry in cells for key in entry["made_from"]} for name, cells in CELLS.items()}


def found(reports: Path, start: str) -> Origin:
    return downstream(PublishedLineage(read_lineages(reports, PAPERS)), PAPERS, start)


@pytest.mark.parametrize("recipe", [INDEX, TRAINED, OTHER, TESTING, OTHERS_TEST], ids=lambda recipe: recipe.kind)
def test_a_thing_reaches_exactly_the_cells_that_rest_on_it(reports: Path, recipe: Recipe) -> None:
    expected = {
        (*name.split("/"), entry["view"], entry["row"], entry["column"], entry["text"])
        for name, cells in CELLS.items()
        for entry in cells
        if REACHED[recipe.key] & {*entry["made_from"]}
    }
    listed = [
        (each.paper, each.artifact, *(entry[part] for part in ("view", "row", "column", "text")))
        for each in found(reports, recipe.digest[:8]).reaches
        for entry in each.cells
    ]
    assert len(listed) == len(expected) and set(listed) == expected


def test_the_kinds_of_artifacts_are_told_apart(reports: Path) -> None:
    kinds = {each.artifact: each.kind for each in found(reports, TRAINED.digest).reaches}
    assert kinds == {"table-3": "table", "table-2": "table", "figure-curves": "figure", "claims": "claims"}


def test_evaluations_of_a_run_come_with_what_they_reach(reports: Path) -> None:
    (tested,) = found(reports, TRAINED.digest).dependents
    assert tested.digest == TESTING.digest
    assert tested.title == "csp on shapes-pairs, seed 0 (also csp-tested)"
    assert [each.artifact for each in tested.reaches] == ["table-3", "table-2", "figure-curves", "claims"]
    assert found(reports, TESTING.digest).dependents == []


def test_a_data_set_comes_with_what_was_made_from_it(reports: Path) -> None:
    data = found(reports, INDEX.key)
    assert (data.kind, data.title) == ("data", "shapes-pairs")
    made = {recipe.digest for recipe in (TRAINED, OTHER, TESTING, OTHERS_TEST)}
    assert {other.digest for other in data.dependents} == made


@pytest.mark.parametrize(
    "start", [OTHER.digest, OTHER.digest[:9], OTHER.key[:9], f"runs/{OTHER.digest}", f"results/{OTHER.key}/"]
)
def test_every_way_to_call_it(reports: Path, start: str) -> None:
    assert found(reports, start).digest == OTHER.digest


def test_an_ambiguous_start_names_the_candidates(reports: Path) -> None:
    with raises(DownstreamError, "ambiguous-key", "runs") as error:
        found(reports, "runs")
    assert TRAINED.key in str(error.value) and OTHER.key in str(error.value)


def test_an_unknown_start_names_the_nearest(reports: Path) -> None:
    wrong = OTHER.folder[:8] + "x"
    with raises(DownstreamError, "unknown-key", wrong) as error:
        found(reports, wrong)
    assert OTHER.folder in str(error.value)


def test_names_are_shown_as_they_are_and_on_their_line(reports: Path) -> None:
    console = Console(width=200, record=True, file=StringIO())
    show_downstream(console, found(reports, TESTING.digest))
    (line,) = [line for line in console.export_text().splitlines() if "<script>" in line]
    assert "[red]<script>\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[2J: AUC 1.0" in line


def test_the_command_says_it_in_json_with_nothing_but_reports(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reports.parents[1])
    done = CliRunner().invoke(app, ["downstream", TESTING.digest[:9], "--json"])
    document = json.loads(done.stdout)
    assert (document["key"], document["names"]) == (TESTING.key, ["csp-tested"])
    assert [each["artifact"] for each in document["reaches"]] == ["table-3", "table-2", "figure-curves", "claims"]
