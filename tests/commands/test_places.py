"""Names of artifacts and places of cells, and the nearest ones where there are none."""

import pytest

from recompose.commands.places import CellPlace, find_artifact, place_text
from recompose.errors import TraceError
from recompose.parts.cells import Cell
from recompose.workspace import Workspace
from tests.errors import raises


@pytest.mark.parametrize("name", ["msci/table-2", "MSCI/Table-2.csv", "reports/demo/msci/table-2.csv"])
def test_an_artifact_is_named_by_paper_and_name_or_by_a_file(printing: Workspace, name: str) -> None:
    assert find_artifact(printing, name) == "msci/table-2"


def test_a_file_is_one_of_the_folder_of_the_call_or_of_the_project(
    printing: Workspace, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(printing.reports / "msci")
    for name in ("table-2.csv", "../msci/table-2.csv", "reports/demo/msci/table-2.csv"):
        assert find_artifact(printing, name) == "msci/table-2"


@pytest.mark.parametrize(
    ("name", "code", "place", "nearest"),
    [
        ("mcsi/table-2", "unknown-paper", "mcsi", "'msci'"),
        ("msci/tabel-2", "unknown-artifact", "tabel-2", "'table-2'"),
        ("msci", "no-artifact", "msci", "table-2"),
        ("reports/study/msci/table-2.csv", "other-profile", "reports/study/msci/table-2.csv", "PROFILE=study"),
        ("reports/demo/index.html", "other-profile", "reports/demo/index.html", "name an artifact"),
        ("", "unknown-paper", "", "msci"),
        (".", "unknown-paper", ".", "msci"),
        ("/", "unknown-paper", "", "msci"),
    ],
)
def test_a_wrong_name_gets_the_nearest(printing: Workspace, name: str, code: str, place: str, nearest: str) -> None:
    with raises(TraceError, code, place) as error:
        find_artifact(printing, name)
    assert nearest in str(error.value)


CELLS = [
    Cell(row="w/o AGT", column="U/S", text="1.0", view="own"),
    Cell(row="w/o AGT", column="U/S", text="2.0", view="validated"),
    Cell(row="CSP #2", column="AUC", text="3.0"),
]


@pytest.mark.parametrize("file", ["msci/table-2", "reports/demo/msci/table-2.csv", "reports/demo/msci/table-2"])
@pytest.mark.parametrize("cell", CELLS, ids=lambda cell: cell.text)
def test_a_place_is_found_again(printing: Workspace, file: str, cell: Cell) -> None:
    place = CellPlace.parse(place_text(file, cell), printing)
    assert place.name == "msci/table-2"
    assert place.find(CELLS) is cell


def test_without_a_view_the_first_one_is_found(printing: Workspace) -> None:
    assert CellPlace.parse("msci/table-2#w/o AGT/U/S", printing).find(CELLS) is CELLS[0]


def test_a_misspelt_place_names_the_nearest(printing: Workspace) -> None:
    with raises(TraceError, "missing-cell", "CPS") as caught:
        CellPlace.parse("msci/table-2#CPS #2/AUC", printing).find(CELLS)
    assert "CSP #2/AUC" in str(caught.value)
