"""From a run to what it reaches."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.files import write_json
from recompose.papers.declaration import load_paper
from recompose.provenance.where import Where, WhereError, where
from recompose.report.published import Shown
from recompose.terminal.lineage import show_where

TRAINED, TESTING, OTHER, INDEX = "1a" * 32, "1b" * 32, "2c" * 32, "dd" * 32
PAPERS = [load_paper("duplex"), load_paper("msci")]


def run_record(digest: str, seed: int, **more: Any) -> dict[str, Any]:
    data = {"name": "shapes-pairs", "digest": INDEX}
    return {"digest": digest, "recipe": {"method": "csp", "dataset": data, "seed": seed} | more}


RECORDS = {
    f"runs/{TRAINED[:12]}": run_record(TRAINED, 0),
    f"runs/{TESTING[:12]}": run_record(TESTING, 0, checkpoint_of={"name": "csp", "digest": TRAINED}),
    f"runs/{OTHER[:12]}": run_record(OTHER, 1),
    f"index/shapes-pairs-{INDEX[:12]}": {"digest": INDEX, "recipe": {"dataset": "shapes-pairs", "seed": 7}},
}


def cell(row: str, column: str, *digests: str, view: str = "", text: str = "1.0") -> dict[str, Any]:
    made_from = [next(key for key, record in RECORDS.items() if record["digest"] == digest) for digest in digests]
    return {"row": row, "column": column, "view": view, "text": text, "value": 1.0, "made_from": made_from}


CELLS = {
    "msci/table-2": [
        cell("CSP", "AUC", TRAINED, OTHER, view="exact"),
        cell("CSP", "AUC", TRAINED, OTHER, view="field", text="0.9"),
        cell("Other", "AUC", OTHER, view="exact"),
    ],
    "msci/figure-curves": [cell("CSP", "curve", TRAINED)],
    "msci/claims": [cell("best", "verdict", TRAINED, TESTING, OTHER, text="holds")],
    "duplex/table-3": [cell("[red]<script>\n\x1b[2J", "AUC", TESTING)],
    "duplex/table-1": [cell("shapes-pairs", "images", INDEX)],
}


@pytest.fixture
def reports(tmp_path: Path) -> Path:
    for name, cells in CELLS.items():
        records = {key: RECORDS[key] for entry in cells for key in entry["made_from"]}
        measures = [{"name": "csp-tested", "dataset": "shapes-pairs", "runs": [f"runs/{TESTING[:12]}"]}]
        lineage = {"cells": cells, "records": records, "measures": measures}
        write_json(tmp_path / "reports" / f"{name}.lineage.json", lineage)
    return tmp_path / "reports"


def found(reports: Path, start: str) -> Where:
    return where(Shown.of(reports, PAPERS), PAPERS, start)


@pytest.mark.parametrize("digest", [TRAINED, TESTING, OTHER, INDEX])
def test_a_run_reaches_exactly_the_cells_that_name_it(reports: Path, digest: str) -> None:
    key = next(key for key, record in RECORDS.items() if record["digest"] == digest)
    expected = {
        (*name.split("/"), entry["view"], entry["row"], entry["column"], entry["text"])
        for name, cells in CELLS.items()
        for entry in cells
        if key in entry["made_from"]
    }
    reached = found(reports, digest[:8]).reaches
    listed = [
        (each.paper, each.artifact, entry["view"], entry["row"], entry["column"], entry["text"])
        for each in reached
        for entry in each.cells
    ]
    assert len(listed) == len(expected) and set(listed) == expected


def test_the_kinds_of_artifacts_are_told_apart(reports: Path) -> None:
    kinds = {each.artifact: each.kind for each in found(reports, TRAINED).reaches}
    assert kinds == {"table-2": "table", "figure-curves": "figure", "claims": "claims"}


def test_runs_that_test_its_checkpoint_come_with_what_they_reach(reports: Path) -> None:
    (tested,) = found(reports, TRAINED).dependents
    assert tested.digest == TESTING and tested.title == "csp-tested on shapes-pairs, seed 0"
    assert [each.artifact for each in tested.reaches] == ["table-3", "claims"]
    assert found(reports, TESTING).dependents == found(reports, OTHER).dependents == []


def test_a_data_set_comes_with_the_runs_on_it(reports: Path) -> None:
    data = found(reports, "index/shapes")
    assert data.seed is None and data.title == "data set shapes-pairs"
    assert {other.digest for other in data.dependents} == {TRAINED, TESTING, OTHER}


@pytest.mark.parametrize(
    "start", [OTHER, OTHER[:3], f"runs/{OTHER[:5]}", f"runs/{OTHER}", f"results/runs/{OTHER[:12]}/"]
)
def test_every_way_to_call_it(reports: Path, start: str) -> None:
    assert found(reports, start).digest == OTHER


def test_an_ambiguous_start_names_the_candidates(reports: Path) -> None:
    with pytest.raises(WhereError, match=f"2 start with '1': runs/{TRAINED[:12]}, runs/{TESTING[:12]};"):
        found(reports, "1")


def test_an_unknown_start_names_the_nearest(reports: Path) -> None:
    with pytest.raises(WhereError, match=rf"nothing that starts with '2c2c2x'; the nearest: runs/{OTHER[:12]}"):
        found(reports, "2c2c2x")


def test_names_are_shown_as_they_are_and_on_their_line(reports: Path) -> None:
    console = Console(width=200, record=True, file=StringIO())
    show_where(console, found(reports, TESTING))
    (line,) = [line for line in console.export_text().splitlines() if "<script>" in line]
    assert "[red]<script>  [2J: AUC 1.0" in line


def test_the_command_says_it_in_json_with_nothing_but_reports(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(reports.parent)
    done = CliRunner().invoke(app, ["where", TESTING[:6], "--json"])
    said = json.loads(done.stdout)
    assert (said["key"], said["names"], said["seed"]) == (f"runs/{TESTING[:12]}", ["csp-tested"], 0)
    assert [each["artifact"] for each in said["reaches"]] == ["table-3", "claims"]
