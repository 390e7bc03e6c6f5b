"""What a trace tells of a number, and the lines of what changed."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from recompose.audit.trust import changes
from recompose.cli import app
from recompose.commands.trace import Artifact, TraceResult, measured_beside, trace
from recompose.errors import TraceError
from recompose.plan import Recipe
from recompose.workspace import Workspace
from tests.audit.worlds import edit_json
from tests.configuration import write_params
from tests.errors import raises

pytestmark = pytest.mark.slow

CODE = {"recompose.tracks.czsl.methods.csp": "1", "recompose.tracks.czsl.metrics.czsl": "2"}


DATA = Recipe("data", "d", {"images": 3})
OLD = Recipe("runs", "csp", {"settings": {"lr": 0.1, "epochs": 3}}, {"data": DATA}, CODE)


@pytest.mark.parametrize(
    ("part", "reasons"),
    [
        ({}, []),
        ({"document": {"settings": {"lr": 0.2, "epochs": 3}}}, ["settings.lr was 0.1 and is 0.2 now"]),
        ({"document": {"settings": {"lr": 0.1}}}, ["settings.epochs was 3 and is None now"]),
        (
            {"code": {**CODE, "recompose.tracks.czsl.metrics.czsl": "3"}},
            ["code changed: recompose.tracks.czsl.metrics.czsl"],
        ),
        ({"needs": {"data": Recipe("data", "d", {"images": 4})}}, ["d.images was 3 and is 4 now"]),
        ({"needs": {}}, ["it needs no data now"]),
        ({"needs": {"data": DATA, "backbone": DATA}}, ["it needs a backbone now"]),
        ({"needs": {"data": Recipe("data", "", {}, named="f" * 64)}}, ["data changed: "]),
    ],
)
def test_every_difference_has_its_line(part: dict[str, Any], reasons: list[str]) -> None:
    lines = list(changes(OLD, replace(OLD, **part)))
    assert [line[: len(reason)] for line, reason in zip(lines, reasons, strict=True)] == reasons


def test_what_changed_in_something_that_several_parts_need_is_said_once() -> None:
    def run(images: int) -> Recipe:
        data = Recipe("data", "d", {"images": images})
        features = Recipe("features", "f", {}, {"data": data})
        return Recipe("runs", "csp", {}, {"data": data, "features": features})

    assert list(changes(run(1), run(2))) == ["d.images was 1 and is 2 now"]


@pytest.fixture
def work(printing: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the project in which a table was made; nothing of it is stored."""
    shutil.copytree(printing.root, tmp_path / "project")
    return Workspace(tmp_path / "project")


def read(work: Workspace, file: str = "msci/table-2.csv") -> Artifact:
    return Artifact.read(work.declared, work.reports / file)


def traced(work: Workspace, view: str | None = None) -> TraceResult:
    table = read(work)
    return trace(work, table, table.find(row="CSP", column="shapes-pairs AUC", view=view)[0])


def edited(work: Workspace, key: str, value: object) -> Workspace:
    write_params(work.root, "demo", {key: value})
    return Workspace(work.root)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("czsl.methods.csp.dropout", 0.4, "settings.dropout was 0.1 and is 0.4 now"),
        ("profiles.demo.czsl.datasets", ["mit-states"], "it is no longer planned"),
    ],
)
def test_an_edit_makes_a_cell_stale_for_its_own_reason(work: Workspace, key: str, value: object, reason: str) -> None:
    result = traced(edited(work, key, value))
    assert (result.state, result.why) == ("stale", [reason])


def test_what_is_not_on_this_disk_is_not_verified_which_is_one_reason(work: Workspace) -> None:
    result = traced(work)
    assert (result.state, result.word) == ("unchecked", "not verified here")
    kinds = {"data", "backbones", "pixels", "features", "runs", "evaluations"}
    assert {key.partition("/")[0] for key in result.records} == kinds
    assert len(result.why) >= len(result.absent) == len(result.records) > 1
    assert sum("on this disk" in reason for reason in result.reasons) == 1


def test_a_view_can_be_chosen_and_the_first_one_is_meant_otherwise(work: Workspace) -> None:
    assert traced(work).cell.text == traced(work, "exact").cell.text == "AUC exact"
    assert traced(work, "field").cell.text == "AUC field"
    with raises(TraceError, "missing-cell") as error:
        traced(work, "feild")
    assert "'field'" in str(error.value)


def test_a_lineage_that_is_missing_or_cannot_be_relied_on_is_an_error_that_says_so(work: Workspace) -> None:
    with raises(TraceError, "missing-lineage", "table-9.lineage.json"):
        read(work, "msci/table-9.csv")
    path = work.reports / "msci/table-2.lineage.json"
    edit_json(path, lambda lineage: next(iter(lineage["records"].values())).update(document={}))
    with raises(TraceError, "other-recipe", path):
        traced(work)


def test_values_are_measured_or_printed_or_missing(printing: Workspace) -> None:
    table = read(printing)
    assert {cell.row for cell in table.find()} >= {"CSP", "MSCI", "SCEN", "Troika"}
    assert [cell.source for cell in table.find(row="MSCI", column="shapes-pairs AUC")] == ["measured"]
    (printed,) = table.find(row="CSP", column="mit-states AUC")
    assert (printed.source, printed.text) == ("reported", "19.4")
    (quoted,) = table.find(row="SCEN", column="mit-states AUC")
    assert table.paper
    beside = [[each.column for each in measured_beside(table.paper, table.lineage.cells, c)] for c in (printed, quoted)]
    assert beside == [["shapes-pairs AUC"] * 2, []]
    with raises(TraceError, "missing-cell", "msci/table-2") as error:
        table.find(row="SCEM", column="mit-states AUC")
    assert "'SCEN'" in str(error.value) and "shapes-pairs AUC" in str(error.value)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ([], ["CSP, MSCI", "SCEN"]),
        (["--row", "CSP", "--column", "mit-states AUC"], ["19.4", "papers/msci/reported/table-2.csv", "shapes-pairs"]),
        (["--row", "CSP", "--json"], ['"column": "shapes-pairs H"']),
    ],
)
def test_it_lists_and_narrows(
    printing: Workspace, monkeypatch: pytest.MonkeyPatch, options: list[str], words: list[str]
) -> None:
    monkeypatch.chdir(printing.root)
    done = CliRunner().invoke(app, ["trace", "msci/table-2", *options])
    assert done.exit_code == 0, done.output
    assert all(word in done.output for word in words)
