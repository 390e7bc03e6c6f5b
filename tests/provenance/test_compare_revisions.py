"""The reports against those of a revision, cell by cell."""

from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from recompose.cli import app
from recompose.errors import DiffError
from recompose.inference.retraining import COST, DIFFERENT, LAST_DIGITS, WITHIN
from recompose.provenance.compare_cells import MISSING_THEN, ComparedCell
from recompose.provenance.compare_revisions import RevisionComparison, compare
from recompose.report.retraining import RetrainedMetric, RetrainingSpreads
from recompose.terminal.audit import machine_lines, show_comparison
from tests.conftest import Project, commit_files, restore_files
from tests.errors import raises
from tests.provenance.test_compare_cells import revision_cell
from tests.provenance.worlds import PAPERS_LOADED, SHOWN, copy_of, edit_json

CELLS = sum(SHOWN.values())
S = 100 / 126  # of chance, in percent: one of two worlds has a single right answer of 63
LINEAGE = "reports/smoke/msci/table-2.lineage.json"


@pytest.fixture(scope="module")
def committed(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports in a repository of their own."""
    return commit_files(copy_of(chance_project.root, tmp_path_factory.mktemp("against") / "project"), "reports")


@pytest.fixture
def root(committed: Path) -> Path:
    """The same, as it was committed."""
    return restore_files(committed, "reports")


def compared(root: Path) -> RevisionComparison:
    return compare(root / "reports/smoke", PAPERS_LOADED, "HEAD")


def cell(number: int, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda lineage: lineage["cells"][number].update(values)


def test_the_same_reports_are_identical_in_every_cell(root: Path) -> None:
    comparison = compared(root)
    assert comparison.counts == {"identical": CELLS}
    assert (comparison.is_same, comparison.beyond, comparison.is_untouched) == (True, [], True)
    assert comparison.by_paper.keys() == {"msci", "duplex"}


@pytest.mark.parametrize(
    ("values", "word", "same"),
    [
        ({"value": S * (1 + 1e-9)}, LAST_DIGITS, True),
        ({"value": 0.794}, DIFFERENT, False),
        ({"values": [0.5, 1.5]}, DIFFERENT, False),
        ({"values": [1.25, 2.5, 1.0]}, DIFFERENT, False),
        ({"text": "not run", "value": None, "spread": None, "values": []}, DIFFERENT, False),
        ({"value": 99.0, "metric": "cost/epoch_seconds"}, COST, True),
    ],
)
def test_a_cell_is_compared_by_its_numbers(root: Path, values: dict[str, Any], word: str, same: bool) -> None:
    edit_json(root / LINEAGE, cell(0, **values))
    comparison = compared(root)
    assert comparison.counts == {"identical": CELLS - 1, word: 1}
    assert comparison.is_same == same
    assert len(comparison.beyond) == (not same)


def test_a_text_alone_is_a_difference(root: Path) -> None:
    """A verdict is told in words; so is what was not run."""
    path = root / "reports/smoke/msci/table-1.lineage.json"
    edit_json(path, cell(0, text="holds", value=None))
    assert [cell.place for cell in compared(root).beyond] == ["msci/table-1 · shapes-pairs · train seen pairs"]


def test_cells_that_are_missing_on_one_side_are_named(root: Path) -> None:
    edit_json(root / LINEAGE, cell(0, row="other"))
    comparison = compared(root)
    assert comparison.counts == {"identical": CELLS - 1, "missing then": 1, "missing now": 1}
    assert sorted(f"{cell.place}: {cell.change}" for cell in comparison.beyond) == [
        "msci/table-2 · chance · shapes-pairs S · exact: missing now",
        "msci/table-2 · other · shapes-pairs S · exact: missing then",
    ]
    assert not comparison.is_same


@pytest.mark.parametrize("text", [None, "", "[]", '{"cells": 3}'])
def test_an_artifact_that_is_missing_or_cannot_be_read_has_no_cells(root: Path, text: str | None) -> None:
    path = root / LINEAGE
    path.unlink() if text is None else path.write_text(text)
    assert compared(root).counts == {"identical": CELLS - 8, "missing now": 8}


def test_an_unknown_revision_is_an_error(root: Path, tmp_path: Path) -> None:
    with raises(DiffError, "unknown-revision"):
        compare(root / "reports/smoke", PAPERS_LOADED, "--output=stolen")
    with raises(DiffError, "no-repository"):
        compare(tmp_path, PAPERS_LOADED, "HEAD")


def test_the_command_says_it_and_ends_with_an_error_where_a_number_is_another(root: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(root)
    done = CliRunner().invoke(app, ["audit", "--against", "HEAD"])
    assert (done.exit_code, done.stdout.splitlines()[-1]) == (0, "the same numbers")
    assert f"{CELLS} identical" in done.stdout
    edit_json(root / LINEAGE, cell(0, value=9.9, text="9.9"))
    done = CliRunner().invoke(app, ["audit", "--against", "HEAD"])
    first, *_, last = done.stdout.splitlines()
    assert first == "different: msci/table-2 · chance · shapes-pairs S · exact: 0.8 ± 1.1 then, 9.9 now"
    assert (done.exit_code, last) == (1, "different numbers")
    done = CliRunner().invoke(app, ["audit", "--against", "HEAD", "--json"])
    assert (done.exit_code, '"same": false' in done.stdout) == (1, True)


def test_of_many_differences_some_are_shown(tmp_path: Path) -> None:
    console = Console(width=200, record=True, file=StringIO())
    cells = [ComparedCell("p/t", None, revision_cell(row=f"[red]{number}\n"), MISSING_THEN) for number in range(30)]
    show_comparison(console, RevisionComparison("HEAD", "c" * 40, cells))
    lines = console.export_text().splitlines()
    assert lines[0].startswith("different: p/t · [red]0")
    assert lines[20] == "and 10 more (--json names all)"


def test_what_retraining_moves_is_forgiven_where_it_was_measured(root: Path) -> None:
    edit_json(root / LINEAGE, cell(0, values=[0.5, 1.5], value=1.0))
    assert not compared(root).is_same
    column = {"track": "czsl", "benchmark": "shapes-pairs", "metric": "test/closed/dense/seen"}
    line = RetrainedMetric(**column, method="chance", name="chance", variance=1.0, freedom=4, step=0.1)
    path = RetrainingSpreads((line,)).write(root / "reports/smoke")
    try:
        comparison = compared(root)
        assert comparison.counts == {"identical": CELLS - 1, WITHIN: 1}
        assert (comparison.is_same, comparison.has_spreads) == (True, True)
    finally:
        path.unlink()


def test_other_evaluations_and_other_machines_are_named(root: Path) -> None:
    made = root / "reports/smoke/made.json"

    def other_machine(document: dict[str, Any]) -> None:
        for key, build in document["results"].items():
            if key.startswith("evaluations/"):
                build["instruction_set"] = "other"

    edit_json(made, other_machine)
    comparison = compared(root)
    assert "other" not in comparison.machines[0][0]
    assert "other" in comparison.machines[1][0]
    assert "computed by" in "".join(machine_lines(comparison))
