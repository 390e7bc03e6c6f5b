"""The reports against those of a revision, cell by cell; first the words, on small invented tables."""

import json
import shutil
from collections.abc import Callable
from math import nextafter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from recompose.commands.against import (
    COST,
    DIFFERENT,
    IDENTICAL,
    ComparedCell,
    compare,
    compare_cells,
    counts_of,
    show_against,
)
from recompose.errors import DiffError
from recompose.parts.cells import Cell
from tests.audit.invented import edit_artifact, edit_provenance
from tests.audit.worlds import PAPERS_LOADED, SHOWN, copy_of
from tests.conftest import Project, commit_files, restore_files
from tests.errors import raises

METRIC = "test/auc"
CELLS = sum(SHOWN.values())
REPORTS, TABLE = "reports/smoke", "msci/table-2"


def new_cell(**values: Any) -> Cell:
    return Cell.model_validate({"row": "CSP", "column": "AUC", "text": ""} | values)


def mean(numbers: list[float], **more: Any) -> Cell:
    """A cell of a mean over replicates."""
    measured = {"values": numbers, "value": sum(numbers) / len(numbers), "metric": METRIC, "benchmark": "pairs"}
    return new_cell(**{**measured, "names": ["csp"], **more})


def word(then: Cell, now: Cell) -> str:
    (compared,) = compare_cells("msci/table-2", [then], [now])
    return compared.word


def test_a_mean_is_identical_to_the_last_bit_or_different() -> None:
    assert word(mean([50.0, 52.0]), mean([50.0, 52.0])) == IDENTICAL
    assert word(mean([50.0, 52.0]), mean([nextafter(50.0, 51.0), 52.0], value=51.0)) == DIFFERENT
    assert word(mean([50.0, 52.0]), mean([40.0, 62.0])) == DIFFERENT
    assert word(mean([50.0]), mean([50.0, 50.0])) == DIFFERENT
    assert word(mean([50.0, 52.0]), mean([50.0, 52.0], value=51.5)) == DIFFERENT
    assert word(mean([1.0], values=[], value=1.0, spread=2.0), mean([1.0], values=[], value=1.1)) == DIFFERENT


def test_a_different_number_is_printed_with_the_spread_of_several_replicates() -> None:
    def line(then: Cell, now: Cell) -> str:
        (compared,) = compare_cells("msci/table-2", [then], [now])
        return str(compared).removeprefix("msci/table-2 · CSP · AUC: ")

    one, other = (mean([value], text=str(value)) for value in (50.0, 51.0))
    assert line(one, other) == "50.0 then, 51.0 now"
    one, other = mean([50.0, 52.0], text="51.0"), mean([50.0, 53.0], text="51.5")
    assert line(one, other) == "51.0 then, 51.5 now (spread of 2 replicates: 1.4)"  # the root of 2
    hidden = mean([50.0, 52.001], text="51.0")
    assert line(one, hidden) == "51.0 then and now, from other values (spread of 2 replicates: 1.4)"


def test_costs_and_texts() -> None:
    assert word(mean([1.0], metric="cost/test_seconds"), mean([2.0], metric="cost/test_seconds")) == COST
    assert word(new_cell(text="not run"), new_cell(text="0.5", value=0.5)) == DIFFERENT
    assert word(new_cell(text="holds"), new_cell(text="fails")) == DIFFERENT


def claim(csp: float, text: str, row: str = "best") -> list[Cell]:
    """The verdict and the interval of a claim on a difference of two variants, with two replicates."""
    values = {"csp": {"0": csp, "1": csp + 2}, "csp-large": {"0": 50.0, "1": 50.0}}
    comparison = {"sides": ["csp", "csp-large"], "verdict": "", "margin": 1.0, "is_kept": False, "price": ""}
    comparison |= {"p": None, "p_margin": None, "needed": None}
    evidence = {"unit": "%", "values": values, "comparisons": [comparison], "family": 1, "margin_family": 1}
    place = {"row": row, "benchmark": "pairs", "metric": METRIC}
    return [
        new_cell(**place, column="pairs verdict", part="verdict", text=text, evidence=evidence),
        new_cell(**place, column="pairs 95 % interval", part="95 % interval", text=f"{csp - 50:+.1f}"),
    ]


def test_a_claim_on_other_values_is_different_and_its_flip_is_named() -> None:
    then = claim(51.0, "undecided (interval spans zero)")
    verdict, interval = compare_cells("msci/claims", then, claim(51.001, "supported here"))
    assert (verdict.word, verdict.is_flip) == (DIFFERENT, True)
    assert (interval.word, interval.is_flip) == (IDENTICAL, False)
    verdict, interval = compare_cells("msci/claims", then, claim(70.0, "undecided (one seed)"))
    assert (verdict.word, verdict.is_flip, interval.word) == (DIFFERENT, False, DIFFERENT)
    verdict, interval = compare_cells("msci/claims", then, claim(51.0, "supported here"))
    assert (verdict.word, verdict.is_flip, interval.word) == (DIFFERENT, True, IDENTICAL)


@pytest.mark.parametrize(("seconds", "expected"), [(51.0, DIFFERENT), (52.0, COST)])
def test_a_corrected_value_rests_on_all_claims_of_the_table(seconds: float, expected: str) -> None:
    """Where costs alone moved among them, it is a cost; where nothing did, it has no reason to differ."""

    def claims(seconds: float, text: str) -> list[Cell]:
        of_cost = [cell.but(metric="cost/test_seconds") for cell in claim(seconds, "supported here", row="other")]
        return [*claim(51.0, text), *of_cost]

    compared = compare_cells("msci/claims", claims(51.0, "undecided (a)"), claims(seconds, "undecided (b)"))
    words = {(each.now.row, each.now.column): each.word for each in compared if each.now}
    assert words["best", "pairs verdict"] == expected
    assert words["other", "pairs 95 % interval"] == (IDENTICAL if seconds == 51.0 else COST)


@pytest.fixture(scope="module")
def committed(chance_project: Project, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The reports in a repository of their own."""
    return commit_files(copy_of(chance_project.root, tmp_path_factory.mktemp("against") / "project"), "reports")


@pytest.fixture
def root(committed: Path) -> Path:
    """The same, as it was committed."""
    return restore_files(committed, "reports")


def compared(root: Path) -> list[ComparedCell]:
    return compare(root / "reports/smoke", PAPERS_LOADED, "HEAD")


def cell(number: int, **values: Any) -> Callable[[dict[str, Any]], None]:
    return lambda lineage: lineage["cells"][number].update(values)


def test_the_same_reports_are_identical_in_every_cell(root: Path) -> None:
    cells = compared(root)
    assert counts_of(cells) == {"identical": CELLS}
    assert all(each.is_same for each in cells)


def test_cells_that_are_missing_on_one_side_are_named(root: Path) -> None:
    edit_artifact(root / REPORTS, TABLE, cell(0, row="other"))
    cells = compared(root)
    assert counts_of(cells) == {"identical": CELLS - 1, "missing then": 1, "missing now": 1}
    assert sorted(str(each) for each in cells if not each.is_same) == [
        "msci/table-2 · chance · shapes-pairs S · exact: missing now",
        "msci/table-2 · other · shapes-pairs S · exact: missing then",
    ]


def test_an_artifact_that_is_missing_has_no_cells(root: Path) -> None:
    edit_provenance(root / REPORTS, lambda document: document["artifacts"].pop(TABLE))
    assert counts_of(compared(root)) == {"identical": CELLS - 8, "missing now": 8}


@pytest.mark.parametrize("text", [None, "", "[]", '{"artifacts": {"msci/table-2": {"cells": 3}}}'])
def test_all_cells_are_missing_where_provenance_is_or_cannot_be_read(root: Path, text: str | None) -> None:
    path = root / REPORTS / "provenance.json"
    path.unlink() if text is None else path.write_text(text)
    assert counts_of(compared(root)) == {"missing now": CELLS}


def test_a_revision_without_provenance_is_an_error(root: Path) -> None:
    elsewhere = root / "reports/other"
    shutil.copytree(root / REPORTS, elsewhere)
    with raises(DiffError, "no-provenance", "HEAD"):
        compare(elsewhere, PAPERS_LOADED, "HEAD")
    shutil.rmtree(elsewhere)


def test_an_unknown_revision_is_an_error(root: Path, tmp_path: Path) -> None:
    with raises(DiffError, "unknown-revision"):
        compare(root / "reports/smoke", PAPERS_LOADED, "--output=stolen")
    with raises(DiffError, "unknown-revision"):
        compare(tmp_path, PAPERS_LOADED, "HEAD")


def test_it_is_shown_and_an_error_where_a_number_is_another(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def shown(*, as_json: bool = False) -> tuple[int, str]:
        work: Any = SimpleNamespace(reports=root / "reports/smoke")
        return show_against(work, PAPERS_LOADED, "HEAD", as_json=as_json), capsys.readouterr().out

    status, output = shown()
    assert (status, output.splitlines()[-1]) == (0, "the same numbers")
    assert f"{CELLS} identical" in output and "msci: " in output
    edit_artifact(root / REPORTS, TABLE, cell(0, value=9.9, text="9.9"))
    status, output = shown()
    line = "different: msci/table-2 · chance · shapes-pairs S · exact: 0.8 ± 1.1 then, 9.9 now"
    assert " ".join(output.split()).startswith(f"{line} (spread of 2 replicates: 1.1) ")
    assert (status, output.splitlines()[-1]) == (1, "different numbers")
    status, output = shown(as_json=True)
    assert (status, json.loads(output)["same"]) == (1, False)
