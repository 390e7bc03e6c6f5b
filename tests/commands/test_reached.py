"""From anything that is stored to what it reaches."""

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recompose.commands.trace import show_reached
from recompose.main import app
from recompose.recipes.plan import Recipe, closure
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, publish
from tests.configuration import write_params

INDEX = Recipe("data", "shapes-pairs", {})
RUNS = [Recipe("runs", "csp", {"seed": seed}, {"data": INDEX}) for seed in (0, 1)]
FIRST, SECOND = [
    Recipe("evaluations", f"csp, seed {seed}", {"seed": seed}, {"data": INDEX, "run": run}, labels={"method": "csp"})
    for seed, run in enumerate(RUNS)
]
HOSTILE = "[red]<script>\n\x1b[2J"
CELLS = {  # artifact -> row, column, view, and what it was made from
    "msci/table-2": [
        ("CSP", "AUC", "exact", [FIRST, SECOND]),
        ("CSP", "AUC", "field", [FIRST, SECOND]),
        ("Other", "AUC", "exact", [SECOND]),
    ],
    "msci/figure-curves": [("CSP", "curve", "", [FIRST])],
    "duplex/table-3": [(HOSTILE, "AUC", "", [FIRST])],
    "duplex/table-1": [("shapes-pairs", "images", "", [INDEX])],
}


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("where") / "reports/demo"
    write_params(folder.parents[1])  # says whose reports are meant
    artifacts = {}
    for name, cells in CELLS.items():
        made = [cell_of(row, recipes, column=column, view=view) for row, column, view, recipes in cells]
        artifacts[name] = ([recipe for *_, recipes in cells for recipe in recipes], made)
    publish(folder, artifacts)
    return folder


@pytest.mark.parametrize("recipe", [INDEX, *RUNS, FIRST, SECOND], ids=lambda recipe: recipe.kind)
def test_a_thing_reaches_exactly_the_cells_that_rest_on_it_and_what_was_made_from_it(
    reports: Path, capsys: pytest.CaptureFixture[str], recipe: Recipe
) -> None:
    show_reached(Workspace(reports.parents[1]), recipe.digest[:8], as_json=True)
    document: dict[str, Any] = json.loads(capsys.readouterr().out)
    expected = {
        (name, row, column, view)
        for name, cells in CELLS.items()
        for row, column, view, recipes in cells
        if recipe.digest in {need.digest for need in closure(recipes)}
    }
    reached = [(name, entry) for name, entries in document["reaches"].items() for entry in entries]
    listed = [(name, *(entry[part] for part in ("row", "column", "view"))) for name, entry in reached]
    assert sorted(listed) == sorted(expected)
    dependents = [result.key for result in (*RUNS, FIRST, SECOND) if recipe in result.needs.values()]
    assert document["dependents"] == sorted(dependents)


def test_the_command_needs_reports_alone_and_shows_names_as_text(
    reports: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(reports.parents[1])
    lines = CliRunner().invoke(app, ["trace", "--from", FIRST.digest[:9]]).stdout.splitlines()
    shown = "[red]<script>\N{REPLACEMENT CHARACTER}\N{REPLACEMENT CHARACTER}[2J: AUC 1.0"
    assert any(line.split(maxsplit=1)[-1].rstrip() == shown for line in lines)
