"""Tables: aggregation, marks, escaping."""

import csv
import io
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from recompose.papers.declaration import Artifact, View
from recompose.parts.cells import Cell, Table
from recompose.tables.artifacts import quoted_cells
from recompose.tables.formats import escape_latex, escape_markdown, ranks, to_csv, to_latex, to_markdown


def cell(row: str, value: float, source: str = "measured", column: str = "d AUC") -> Cell:
    return Cell(row=row, column=column, source=source, text=f"{value:.1f}", value=value, n=1, better=1)


def table(*cells: Cell, **more: list[str]) -> Table:
    return Table("msci", "table-9", "MSCI, Table 9", "A caption.", list(cells), **more)  # type: ignore[arg-type]


def test_best_and_second_best_are_marked_within_each_source() -> None:
    printed = cell("a", 9, "reported"), cell("b", 8, "reported")
    text = to_markdown(table(cell("a", 1), cell("b", 3), cell("c", 2), *printed))
    measured, reported = text.split("## Reported")
    assert "| b | **3.0** (printed: 8.0) |" in measured
    assert "| c | *2.0* |" in measured
    assert "| a | 1.0 (printed: 9.0) |" in measured
    assert "| a | **9.0** |" in reported


def test_values_are_ranked_by_the_digits_that_are_printed() -> None:
    """Shares with three digits are told apart; what is printed alike shares a rank."""
    texts = {"a": "0.711", "b": "0.72", "c": "0.705 ± 0.010", "d": "0.711"}
    cells = [cell(row, float(text[:5])).but(text=text) for row, text in texts.items()]
    assert {each.row: rank for each, rank in ranks(cells).items()} == {"b": 1, "a": 2, "d": 2}
    falling = [each.but(better=-1, value=(each.value or 0) + 1e-6) for each in cells]
    assert {each.row: rank for each, rank in ranks(falling).items()} == {"c": 1, "a": 2, "d": 2}


def test_each_view_is_a_part_of_its_own_with_its_own_marks() -> None:
    ways = [cell("a", 1).but(view="exact"), cell("b", 2).but(view="exact"), cell("a", 5).but(view="field")]
    both = replace(table(*ways, cell("a", 9, "reported")), views={"exact": "All biases", "field": "Some biases"})
    exact, field = to_markdown(both).split("## Reported")[0].split("## Some biases")
    assert "## All biases" in exact
    assert "| b | **2.0** |" in exact
    assert "| a | **5.0** (printed: 9.0) |" in field
    assert "--view exact|field" in to_markdown(both)
    assert to_latex(both).count(r"\begin{tabular}") == 3
    rows = [(row["row"], row["source"], row["view"]) for row in csv.DictReader(io.StringIO(to_csv(both)))]
    assert rows == [*((each.row, "measured", each.view) for each in ways), ("a", "reported", "")]


def test_csv_holds_every_cell_with_its_full_value() -> None:
    cells = [cell("a, b", 1.23456).but(spread=0.5), cell("x", 2, "reported").but(correct="3", flag="wrong")]
    rows = list(csv.DictReader(io.StringIO(to_csv(table(*cells)))))
    assert [row["row"] for row in rows] == ["a, b", "x"]
    assert float(rows[0]["value"]) == pytest.approx(1.23456)
    assert (rows[1]["source"], rows[1]["correct"], rows[1]["flag"]) == ("reported", "3", "wrong")


def test_flagged_values_have_a_footnote_in_both_formats() -> None:
    counted = cell("C-GQA", 1252, "reported", "val").but(text="1252", better=0)
    flagged = counted.but(correct="1040", flag="correct is 1040: swapped")
    for text in (to_markdown(table(cell("a", 1), flagged)), to_latex(table(cell("a", 1), flagged))):
        text = text.replace("\\[", "[").replace("\\]", "]")
        assert "1252 [1]" in text
        assert "printed 1252; correct is 1040: swapped" in text


LATEX = shutil.which("tectonic") or shutil.which("pdflatex")


@pytest.mark.skipif(not LATEX, reason="no LaTeX to compile with")
def test_latex_compiles(tmp_path: Path) -> None:
    cells = [cell("a ± × λ ~^\\", 1, column=f"d {number} %_#&${{}}") for number in range(12)]
    text = to_latex(replace(table(*cells), notes=["A note."]))
    preamble = "\\documentclass{article}\n\\usepackage{booktabs,graphicx}\n\\begin{document}\n"
    (tmp_path / "t.tex").write_text(f"{preamble}{text}\\end{{document}}\n", encoding="utf-8")
    command = [str(LATEX), "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]


HOSTILE = "<script>alert(1)</script> | a_b \\input{x} $x$ [l](javascript:1) # `c`"


def test_what_sources_say_is_a_part_of_words_that_nothing_was_measured_for() -> None:
    says = {"A": {"the text": "x | 1.0", "the code": "50 %"}, "B": {"the text": "y"}}
    views = {"exact": View(heading="Measured"), "said": View(heading="What is said", says=says)}
    artifact = Artifact(kind="metrics", caption="c", rows={"A": "a", "B": "b"}, views=views)
    output = list(quoted_cells(artifact))
    quoted = {(row, column): text for row, texts in says.items() for column, text in texts.items()}
    assert {(each.row, each.column): each.text for each in output} == quoted
    assert all((each.source, each.view, each.value) == ("reported", "said", None) for each in output)
    headings = {view: section.heading for view, section in views.items()}
    whole = table(cell("A", 40.0).but(view="exact"), *output, views=headings)
    assert "x &#124; 1.0" in to_markdown(whole) and r"50 \%" in to_latex(whole)
    assert "A,the code,reported,said,50 %,,,,," in to_csv(whole)


def test_hostile_names_show_as_text() -> None:
    text = to_markdown(table(cell(HOSTILE, 1, column=HOSTILE)))
    assert "<script" not in text
    row = next(line for line in text.splitlines() if "alert" in line and "1.0" in line)
    assert row.count("|") == 3
    assert "[l](" not in text
    assert not re.search(r"(?<!\\)(\$|_|#|\\input)", escape_latex(HOSTILE))
    assert "`c`" not in escape_markdown(HOSTILE).replace("\\`", "")
