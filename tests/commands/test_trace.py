"""What a trace tells of a number."""

import shutil
from pathlib import Path

import pytest

from recompose.commands.trace import MOST, Artifact, measured_beside, traced
from recompose.errors import TraceError
from recompose.files import Document
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


def told(work: Workspace) -> tuple[list[tuple[str, str]], Document]:
    table = read(work)
    facts, document = traced(table, table.find(row="CSP", column="shapes-pairs AUC")[0], MOST)
    return [*facts], document


def edited(work: Workspace, key: str, value: object) -> Workspace:
    write_params(work.root, "demo", {key: value})
    return Workspace(work.root)


@pytest.mark.parametrize(
    ("key", "value", "reason"),
    [
        ("czsl.methods.csp.dropout", 0.4, "settings.dropout was 0.1 and is 0.4 now"),
        ("profiles.demo.czsl.datasets", ["mit-states"], "csp/shapes-pairs/0 is no longer planned"),
    ],
)
def test_an_edit_makes_a_cell_outdated_for_its_own_reason(
    work: Workspace, key: str, value: object, reason: str
) -> None:
    _, document = told(edited(work, key, value))
    assert document["state"]["word"] == "outdated" and reason in document["state"]["why"]


def test_what_is_not_on_this_disk_is_unchecked_which_is_one_reason(work: Workspace) -> None:
    facts, document = told(work)
    kinds = {"data", "backbones", "pixels", "features", "runs", "evaluations"}
    assert {key.partition("/")[0] for key in document["recipes"]} == kinds
    assert len(document["absent"]) == len(document["recipes"]) > 1
    assert sum("on this disk" in text for _, text in facts) == 1
    assert document["state"]["word"] == "unchecked"


def test_an_artifact_that_is_missing_or_cannot_be_relied_on_is_an_error_that_says_so(work: Workspace) -> None:
    with raises(TraceError, "trace", "reports/demo/provenance.json"):
        read(work, "msci/table-3")
    with raises(TraceError, "trace", "msci/table-9"):
        read(work, "msci/table-9")
    edit_provenance(work.reports, lambda document: next(iter(document["recipes"].values())).update(document={}))
    with raises(TraceError, "trace", "reports/demo/provenance.json") as caught:
        read(work)
    assert "was changed" in str(caught.value)


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
    beside = [[each.column for each in measured_beside(table.paper, table.cells, c)] for c in (printed, quoted)]
    assert beside == [["shapes-pairs AUC"] * 2, []]
    with raises(TraceError, "trace", "msci/table-2") as error:
        table.find(row="SCEM", column="mit-states AUC")
    assert "'SCEN'" in str(error.value) and "shapes-pairs AUC" in str(error.value)
