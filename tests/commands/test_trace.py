"""What a trace tells of a number."""

import shutil
from pathlib import Path

import pytest

from recompose.commands.trace import Artifact, TraceResult, measured_beside, trace
from recompose.errors import TraceError
from recompose.workspace import Workspace
from tests.audit.invented import edit_provenance
from tests.configuration import write_params
from tests.errors import raises

pytestmark = pytest.mark.slow


@pytest.fixture
def work(printing: Workspace, tmp_path: Path) -> Workspace:
    """A copy of the project in which a table was made; nothing of it is stored."""
    shutil.copytree(printing.root, tmp_path / "project")
    return Workspace(tmp_path / "project")


def read(work: Workspace, title: str = "msci/table-2") -> Artifact:
    return Artifact.read(work, title)


def traced(work: Workspace) -> TraceResult:
    table = read(work)
    return trace(work, table, table.find(row="CSP", column="shapes-pairs AUC")[0])


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
    assert (result.trust.state, result.trust.why) == ("stale", (reason,))


def test_what_is_not_on_this_disk_is_not_verified_which_is_one_reason(work: Workspace) -> None:
    result = traced(work)
    assert result.trust.state == "unchecked"
    kinds = {"data", "backbones", "pixels", "features", "runs", "evaluations"}
    assert {key.partition("/")[0] for key in result.records} == kinds
    assert len(result.trust.why) >= len(result.absent) == len(result.records) > 1
    assert sum("on this disk" in reason for reason in result.reasons) == 1


def test_a_lineage_that_is_missing_or_cannot_be_relied_on_is_an_error_that_says_so(work: Workspace) -> None:
    with raises(TraceError, "missing-lineage", "reports/demo/provenance.json"):
        read(work, "msci/table-3")
    with raises(TraceError, "unknown-artifact", "msci/table-9"):
        read(work, "msci/table-9")
    edit_provenance(work.reports, lambda document: next(iter(document["recipes"].values())).update(document={}))
    with raises(TraceError, "other-recipe", "reports/demo/provenance.json"):
        traced(work)


def test_values_are_measured_or_printed_or_missing(printing: Workspace) -> None:
    table = read(printing)
    assert [cell.text for cell in table.find(row="CSP", column="shapes-pairs AUC")] == ["AUC exact", "AUC field"]
    assert [cell.text for cell in table.find(view="field")] == ["AUC field"]
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
