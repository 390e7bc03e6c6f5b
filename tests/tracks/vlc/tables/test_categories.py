"""The table of what methods change."""

from recompose.papers.declaration import load_paper
from recompose.tracks.vlc.tables.categories import MEASURED, categories
from tests.tables.fakes import Fake


def test_each_method_of_the_printed_table_is_said_to_be_measured_or_cited() -> None:
    paper = load_paper("clip-cae")
    cells = list(categories(Fake({}), paper, "table-13"))  # type: ignore[arg-type]
    assert [cell.row for cell in cells] == list(MEASURED)
    assert [cell.row for cell in cells if not cell.text.startswith("cited")] == [
        "NegCLIP",
        "CE-CLIP",
        "CLIP-CAE (Ours)",
    ]
