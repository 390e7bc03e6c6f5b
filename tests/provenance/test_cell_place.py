"""The place of a cell in one text."""

from pathlib import Path

import pytest

from recompose.commands.make import cell_text
from recompose.errors import TraceError
from recompose.exhibits.cells import Cell
from recompose.provenance.cell_place import CellPlace, place_text
from recompose.workspace import Workspace
from tests.configuration import write_params
from tests.errors import raises

CELLS = [
    Cell(row="w/o AGT", column="U/S", text="1.0", view="own"),
    Cell(row="w/o AGT", column="U/S", text="2.0", view="validated"),
    Cell(row="CSP #2", column="AUC", text="3.0"),
]


@pytest.fixture
def work(tmp_path: Path) -> Workspace:
    write_params(tmp_path, "demo")
    (tmp_path / "reports/demo/msci").mkdir(parents=True)
    return Workspace(tmp_path)


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
