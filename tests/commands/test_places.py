"""Names of artifacts and places of cells, and the nearest ones where there are none."""

from pathlib import Path

import pytest

from recompose.commands.make import cell_text
from recompose.commands.places import CellPlace, find_artifact, place_text
from recompose.errors import TraceError
from recompose.tables.cells import Cell
from recompose.tables.lineage import lineage_path
from recompose.workspace import Workspace
from tests.audit.invented import cell_of, lineage_of
from tests.configuration import write_params
from tests.errors import raises


@pytest.fixture(scope="module")
def work(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    """A project in which a table of MSCI was made."""
    root = tmp_path_factory.mktemp("named")
    write_params(root)
    work = Workspace(root)
    evaluations = work.plan.evaluations("czsl", "csp", "shapes-pairs")
    places = [("CSP", "shapes-pairs AUC"), ("CSP", "shapes-pairs H"), ("MSCI", "shapes-pairs AUC")]
    cells = [cell_of(row, evaluations, names=["csp"], view="", column=column) for row, column in places]
    lineage_of(evaluations, cells).write(lineage_path(work.reports / "msci/table-2"))
    return work


@pytest.mark.parametrize("name", ["msci/table-2", "MSCI/Table-2.csv", "msci/table-2.lineage.json"])
def test_an_artifact_is_named_by_paper_and_name_or_by_a_file(work: Workspace, name: str) -> None:
    path = find_artifact(work, name)
    assert lineage_path(path) == work.reports / "msci/table-2.lineage.json"


def test_a_path_of_any_profile_reads_no_parameters(tmp_path: Path) -> None:
    path = Path("reports/study/msci/table-2.csv")
    assert find_artifact(Workspace(tmp_path / "nowhere"), str(path)) == path


@pytest.mark.parametrize(
    ("name", "code", "place", "nearest"),
    [
        ("mcsi/table-2", "unknown-paper", "mcsi", "'msci'"),
        ("msci/tabel-2", "unknown-artifact", "tabel-2", "'table-2'"),
        ("msci", "no-artifact", "msci", "table-2"),
    ],
)
def test_a_wrong_name_is_answered_with_the_nearest(
    work: Workspace, name: str, code: str, place: str, nearest: str
) -> None:
    with raises(TraceError, code, place) as error:
        find_artifact(work, name)
    assert nearest in str(error.value)


CELLS = [
    Cell(row="w/o AGT", column="U/S", text="1.0", view="own"),
    Cell(row="w/o AGT", column="U/S", text="2.0", view="validated"),
    Cell(row="CSP #2", column="AUC", text="3.0"),
]


@pytest.mark.parametrize("file", ["msci/table-2", "reports/demo/msci/table-2.csv", "reports/demo/msci/table-2"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.text)
def test_a_place_is_found_again(work: Workspace, file: str, cell: Cell) -> None:
    place = CellPlace.parse(place_text(file, cell), work)
    assert place.name == "msci/table-2"
    assert place.find(CELLS) is cell


def test_without_a_view_the_first_one_is_found(work: Workspace) -> None:
    assert CellPlace.parse("msci/table-2#w/o AGT/U/S", work).find(CELLS) is CELLS[0]


def test_a_misspelt_place_names_the_nearest(work: Workspace) -> None:
    with raises(TraceError, "missing-cell", "CPS") as caught:
        CellPlace.parse("msci/table-2#CPS #2/AUC", work).find(CELLS)
    assert "CSP #2/AUC" in str(caught.value)


@pytest.mark.parametrize(("reported", "words"), [(None, "not in"), ("3.0", "as in"), ("3.1", "3.1")])
def test_a_number_is_printed_with_that_of_the_reports(reported: str | None, words: str) -> None:
    text = cell_text("msci/table-2", CELLS[2], reported)
    assert text.startswith("3.0")
    assert words in text.removeprefix("3.0")
