"""From anything that is stored to what it reaches."""

import json
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.commands.downstream import find_key, show_downstream
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


@pytest.fixture
def published(reports: Path) -> PublishedLineage:
    return PublishedLineage(read_lineages(reports, PAPERS))


def document(published: PublishedLineage, capsys: pytest.CaptureFixture[str], start: str) -> dict[str, Any]:
    show_downstream(Console(), published, start, as_json=True)
    return dict(json.loads(capsys.readouterr().out))


@pytest.mark.parametrize("recipe", [INDEX, TRAINED, OTHER, TESTING, OTHERS_TEST], ids=lambda recipe: recipe.kind)
def test_a_thing_reaches_exactly_the_cells_that_rest_on_it(
    published: PublishedLineage, capsys: pytest.CaptureFixture[str], recipe: Recipe
) -> None:
    expected = {
        (name, entry["view"], entry["row"], entry["column"], entry["text"])
        for name, cells in CELLS.items()
        for entry in cells
        if REACHED[recipe.key] & {*entry["made_from"]}
    }
    listed = [
        (name, *(entry[part] for part in ("view", "row", "column", "text")))
        for name, entries in document(published, capsys, recipe.digest[:8])["reaches"].items()
        for entry in entries
    ]
    assert len(listed) == len(expected) and set(listed) == expected


def test_what_was_made_directly_from_it_is_named(
    published: PublishedLineage, capsys: pytest.CaptureFixture[str]
) -> None:
    made_from = [
        (INDEX, [TRAINED, OTHER, TESTING, OTHERS_TEST]),
        (TRAINED, [TESTING]),
        (OTHER, [OTHERS_TEST]),
        (TESTING, []),
    ]
    for recipe, dependents in made_from:
        keys = document(published, capsys, recipe.digest)["dependents"]
        assert keys == sorted(each.key for each in dependents)


@pytest.mark.parametrize(
    "start", [OTHER.digest, OTHER.digest[:9], OTHER.key[:9], f"runs/{OTHER.digest}", f"results/{OTHER.key}/"]
)
def test_every_way_to_call_it(published: PublishedLineage, start: str) -> None:
    assert find_key(published, start) == OTHER.key


def test_an_ambiguous_or_unknown_start_names_the_candidates(published: PublishedLineage) -> None:
    with raises(DownstreamError, "ambiguous-key", "runs") as error:
        find_key(published, "runs")
    assert TRAINED.key in str(error.value) and OTHER.key in str(error.value)
    wrong = OTHER.folder[:8] + "x"
    with raises(DownstreamError, "unknown-key", wrong) as error:
        find_key(published, wrong)
    assert OTHER.folder in str(error.value)


def test_the_command_shows_names_as_they_are_with_nothing_but_reports(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reports.parents[1])
    lines = CliRunner().invoke(app, ["downstream", TESTING.digest[:9]]).stdout.splitlines()
    assert "    [red]<script>\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[2J: AUC 1.0" in lines
