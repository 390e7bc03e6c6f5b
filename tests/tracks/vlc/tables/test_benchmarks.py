"""The table of benchmarks, against what the paper says of them and against counts that are summed by hand."""

from typing import Any

import pytest

from recompose.papers.declaration import load_paper
from recompose.tracks.vlc.tables.benchmarks import benchmarks

PAPER = load_paper("fsc-clip")
NOTHING: Any = None  # no results are read
CELLS = {(cell.row, cell.column): cell for cell in benchmarks(NOTHING, PAPER, "table-6")}
TEXTS = {place: cell.text for place, cell in CELLS.items()}
PRINTED = {row["row"]: row for row in PAPER.reported("table-6")}


def test_every_benchmark_of_the_paper_has_all_columns() -> None:
    rows, columns = ({place[number] for place in CELLS} for number in (0, 1))
    assert rows == {*PRINTED}
    assert len(CELLS) == 15 * 6 == len(rows) * len(columns)
    assert all(TEXTS.values())


def test_queries_are_those_that_the_paper_says_but_for_spec_s_whose_mean_is_of_both_ways() -> None:
    differ = {row for row, printed in PRINTED.items() if printed["query"] not in ("-", TEXTS[row, "query"])}
    assert differ == {"SPEC"}
    assert TEXTS["SPEC", "query"] == "image to text, text to image"


def test_licences_are_those_that_the_paper_says_or_say_where_they_are_from() -> None:
    for row, printed in PRINTED.items():
        if printed["licence"] != "-":
            said = printed["licence"].split(":")[0].replace("-BY", " BY").replace("BY-4", "BY 4")
            assert TEXTS[row, "licence"].startswith(said)
    assert {row for (row, column), text in TEXTS.items() if column == "licence" and text == "unknown"} == {
        *("CREPE", "VALSE", "VL-Checklist", "EqBen", "SPEC")
    }


@pytest.mark.parametrize(
    ("row", "subtasks", "items"),
    [
        ("ARO", 4, 23_937 + 28_748 + 5_000 + 25_010),
        ("CREPE", 3, 17_698 + 7_405 + 17_303),
        ("SugarCrepe", 7, 692 + 2_062 + 788 + 1_652 + 1_406 + 666 + 245),
        ("SVO Probes", 3, 22_162),
        ("WhatsUp", 6, 412 + 408 + 2_247 + 440 + 1_160 + 291),
        ("Winoground", 1, 400),
        ("ImageCoDe", 2, 2_302),
        ("VL-Checklist", 56, None),
    ],
)
def test_sub_tasks_and_items_are_the_published_counts(row: str, subtasks: int, items: int | None) -> None:
    assert TEXTS[row, "sub-tasks"] == str(subtasks)
    if items is not None:
        assert TEXTS[row, "items"] == str(items)
        assert CELLS[row, "items"].value == items


def test_nothing_of_it_was_measured() -> None:
    assert not any(cell.made_from or cell.missing or cell.n for cell in CELLS.values())
